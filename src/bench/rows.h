/* The rows of ftpbench, in its order, and one more. */
#pragma once
#include "bench/load.h"
#include "bench/probe.h"
#include "bench/run.h"

struct bench {
    const struct bench_options *options;
    const struct bench_watcher *watcher;
    struct bench_results *results;
    struct load load;
    struct probe probe;
    struct pool *pool;   /* for reading /proc */
    const char *label;   /* of what is under way */
    usec_t idle_wait_us; /* before memory is read: buffers of what was before are given back */
};

/* Checks that files can be written, then runs each row that the kind of benchmark has. 0: all
 * are complete; else results->error or the last row's says why, or -ECANCELED. */
PARKS MUST_CHECK int rows_run(struct bench *);
