/* A suite, from the options to the results. */
#pragma once
#include "bench/engine/bench.h"
#include "io/addr.h"

/* Runs what the options ask for in a runtime of its own; not from a task. `server` is the one
 * that runs already; NULL: ferryd and the peers are started, for which one must be root. All
 * that is to be said stands in *ret, which holds the rows so far when something failed or a
 * signal came. All signals must be blocked (runtime_signals_setup()). 0, or a failure: *ret is
 * empty. bench_results_done() in any case. */
MUST_CHECK int bench_run(const struct bench_options *, const struct addr *server,
                         const struct bench_watcher *, struct bench_results *ret);
void bench_results_done(struct bench_results *);
