/* What a running server costs, read from /proc: memory and processor time of a process and all
 * that descend from it.
 *
 * Memory is Private_Dirty: what would be given back if the processes were not there. Processor
 * time is that of the threads that live, and of the children that were waited for; the time of
 * children that ended unobserved (SIGCHLD ignored) or of ended threads is lost.
 */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "task/pool.h"

struct usage {
    unsigned processes;
    usec_t cpu_us;
    usec_t user_us, system_us; /* the same told apart, but by clock ticks alone */
    uint64_t dirty_bytes;
    int dirty_result; /* why dirty_bytes is not known: -EACCES, of a process of somebody else */
};

/* Of the process `pid` beneath the folder `proc` ("/proc"). Reads files: not on the loop.
 * -ENOENT: there is no such process; -ENOMEM, -FERRY_EPROTO (a file that reads as no such file
 * should). Processes that end meanwhile are left out. */
MUST_CHECK int usage_read_tree(const char *proc, unsigned pid, bool with_memory,
                               struct usage *ret);

/* The same of "/proc", on a thread of the pool. Or what aside_run() returns. */
PARKS MUST_CHECK int usage_read(struct pool *, unsigned pid, bool with_memory,
                                struct usage *ret);

/* -- the formats; -FERRY_EPROTO if it is none -- */

/* /proc/PID/stat: clock ticks of the process, and of the children it has waited for. */
enum usage_ticks {
    USAGE_USER,
    USAGE_SYSTEM,
    USAGE_CHILD_USER,
    USAGE_CHILD_SYSTEM,
    USAGE_TICKS
};

MUST_CHECK int usage_parse_ticks(struct bytes, uint64_t ret[USAGE_TICKS]);
/* User and system in one. */
MUST_CHECK int usage_parse_stat(struct bytes, uint64_t *ret_own, uint64_t *ret_children);
/* /proc/PID/smaps_rollup: the bytes of its line "Private_Dirty". */
MUST_CHECK int usage_parse_dirty(struct bytes, uint64_t *ret_bytes);
