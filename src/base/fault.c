#include "base/fault.h"

#ifdef FERRY_FAULTS
#include <stdatomic.h>

/* Atomic although counting is meant for one thread: every thread passes here, armed or not. */
static struct {
    _Atomic uint64_t count;
    _Atomic uint64_t nth;
} faults[FAULT_KIND_COUNT];

bool fault_hits(enum fault_kind kind)
{
    uint64_t call = atomic_fetch_add_explicit(&faults[kind].count, 1, memory_order_relaxed) + 1;
    return call == atomic_load_explicit(&faults[kind].nth, memory_order_relaxed);
}

void fault_arm(enum fault_kind kind, uint64_t nth)
{
    atomic_store(&faults[kind].nth, nth);
    atomic_store(&faults[kind].count, 0);
}

uint64_t fault_count(enum fault_kind kind)
{
    return atomic_load(&faults[kind].count);
}
#endif
