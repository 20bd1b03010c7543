/* What a sample costs: time, processor time of both sides, the server's memory, and the delay
 * of a NOOP beside it. From meter_begin() to meter_end() on one task. */
#pragma once
#include "bench/engine/probe.h"
#include "bench/report/results.h"
#include "task/pool.h"

struct meter {
    struct pool *pool;
    unsigned pid;        /* 0: nothing is known of the server */
    unsigned root_pid;   /* whose descendants' processor time it is: beside the server those
                            that it did not wait for, which somebody else has taken in */
    struct probe *probe; /* NULL: not for this row; else it is set up */
    bool watches_memory; /* the peak while it runs */

    /* results; those of the server are 0 when it is not known */
    usec_t wall_us, own_cpu_us, server_cpu_us;
    bool has_memory;
    uint64_t memory_before, memory_peak;
    int probe_result; /* how the probe's session ended: 0, or why, which fails no row */

    /* its own */
    bool is_probing;
    usec_t began_at, own_cpu_before, server_cpu_before;
    struct scope watch;
};

/* The caller sets the first group. -ECANCELED, or how the server's process was not found; then
 * meter_end() is called too. */
PARKS MUST_CHECK int meter_begin(struct meter *);

/* A cancelled task too gets as far as closing down. -ECANCELED, or how the server's process
 * went away. */
PARKS MUST_CHECK int meter_end(struct meter *);
