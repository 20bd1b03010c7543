#include "client/remote/meter.h"

#include "xfer/pace.h"

void meter_init(struct meter *m, struct xfer_bucket *bucket, struct xfer_progress *progress)
{
    *m = (struct meter){.buckets = {bucket}, .progress = progress};
}

int meter_budget(struct meter *m, uint64_t max, uint64_t *ret)
{
    for (;;) {
        if (task_is_cancelled()) /* who never waits must hear of it, too */
            return -ECANCELED;
        usec_t when;
        uint64_t n = pace_take(m->buckets, max, clock_now(), &when);
        if (n > 0) {
            *ret = n;
            return 0;
        }
        int r = task_sleep_until(when);
        if (r < 0)
            return r;
    }
}

int meter_wait(struct meter *m, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t n;
        int r = meter_budget(m, bytes, &n);
        if (r < 0)
            return r;
        bytes -= n;
    }
    return 0;
}

void meter_give_back(struct meter *m, uint64_t bytes)
{
    pace_give_back(m->buckets, bytes);
}

void meter_moved(struct meter *m, uint64_t bytes)
{
    struct xfer_progress *p = m->progress;
    m->bytes += bytes;
    if (p == NULL || bytes == 0)
        return;
    atomic_store_explicit(&p->file_bytes, m->bytes, memory_order_relaxed);
    atomic_store_explicit(&p->wire_bytes, m->bytes, memory_order_relaxed);
    atomic_store_explicit(&p->moved_at, clock_now(), memory_order_relaxed);
}
