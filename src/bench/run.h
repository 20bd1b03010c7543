/* `ferry bench ftp`: rows one after the other, against a server that is running. */
#pragma once
#include "bench/options.h"
#include "bench/row.h"
#include "io/addr.h"

/* Told from the loop while it runs; each may be NULL. */
struct bench_watcher {
    void (*began)(void *arg, const struct bench_results *); /* memory at the start is known */
    void (*ended)(void *arg, const struct bench_row *);     /* the row is complete, or failed */
    void (*tick)(void *arg, const char *label); /* now and then: what is under way */
    void *arg;
};

/* Runs what the options ask for in a runtime of its own; not from a task. All that is to be
 * said stands in *ret, which holds the rows so far when something failed or a signal came. All
 * signals must be blocked (runtime_signals_setup()). 0 or a failure: *ret is not written. */
MUST_CHECK int bench_run(const struct bench_options *, const struct addr *server,
                         const struct bench_watcher *, struct bench_results *ret);
