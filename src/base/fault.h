/* Faults on purpose: "the n-th allocation fails", "the n-th system call fails".
 *
 * A test arms a kind with n (1: the very next call); that call fails once, later ones succeed.
 * Counting is per process and meant for the deterministic runtime (one thread). In a release
 * build (FERRY_FAULTS undefined) fault_hits() is the constant false and costs nothing.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum fault_kind { FAULT_ALLOC, FAULT_SYSCALL, FAULT_KIND_COUNT };

#ifdef FERRY_FAULTS
bool fault_hits(enum fault_kind);              /* counts a call; true: fail it */
void fault_arm(enum fault_kind, uint64_t nth); /* 0 disarms; the counter starts again */
uint64_t fault_count(enum fault_kind);         /* calls since fault_arm() */
#else
static inline bool fault_hits(enum fault_kind kind)
{
    (void)kind;
    return false;
}
#endif
