/* What a row costs: time, processor time of both sides, the server's memory, and the delay of a
 * NOOP beside it. From meter_begin() to meter_end() on one task. */
#pragma once
#include "bench/probe.h"
#include "bench/row.h"
#include "task/pool.h"

struct meter {
    struct pool *pool;
    unsigned pid;        /* 0: nothing is known of the server */
    struct probe *probe; /* NULL: not for this row */
    bool watches_memory; /* the peak while it runs */

    /* how the probe's session ended: 0, or why it failed, which fails no row */
    int probe_result;

    /* its own */
    bool is_probing, has_peak;
    usec_t began_at, own_cpu_us, server_cpu_us; /* at the beginning; pauses move them */
    usec_t paused_at, paused_cpu_us;
    uint64_t peak_bytes;
    struct scope watch;
};

/* The caller sets the first group. -ECANCELED, or how the server's process was not found; then
 * meter_end() is called too. */
PARKS MUST_CHECK int meter_begin(struct meter *);

/* What lies between these two does not belong to the row: the server is idle, and we read what
 * it holds. */
void meter_pause(struct meter *);
void meter_resume(struct meter *);

/* Writes what it measured into the row; a cancelled task too gets as far as closing down.
 * -ECANCELED, or how the server's process went away. */
PARKS MUST_CHECK int meter_end(struct meter *, struct bench_row *);
