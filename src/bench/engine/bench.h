/* The benchmark under way, and its servers. */
#pragma once
#include "bench/engine/probe.h"
#include "bench/options/options.h"
#include "bench/peers/peer.h"
#include "bench/report/results.h"
#include "bench/suite.h"
#include "io/addr.h"

/* Told from the loop while it runs; each may be NULL. */
struct bench_watcher {
    void (*began)(void *arg, const struct bench_results *); /* the servers are known */
    void (*ended)(void *arg, const struct bench_row *);     /* the row is complete */
    void (*tick)(void *arg, const char *label); /* now and then: what is under way */
    void *arg;
};

/* A server under measurement. */
struct target {
    struct bench_server *record; /* in the results; an error there: it takes no part */
    const struct recipe *recipe; /* NULL: it runs already, somewhere */
    struct peer peer;
    unsigned pid;     /* 0: not known */
    struct addr addr; /* while it runs */
    const char *user, *password;
    void *load; /* the suite's: sessions that we have open on it */
};

struct bench {
    const struct bench_options *options;
    const struct bench_suite *suite;
    const struct bench_watcher *watcher;
    struct bench_results *results;
    struct target targets[BENCH_TARGETS_MAX];
    unsigned target_count;
    void *loads;         /* the suite's: what the loads share */
    struct stage *stage; /* NULL: the server runs already */
    bool has_variant;
    enum recipe_variant variant; /* of the servers that run */
    struct probe probe;
    struct pool *pool; /* for what blocks: /proc, starting servers, making files */
    const char *label; /* of what is under way */
    char progress[BENCH_LABEL_MAX + 96];
    usec_t until;        /* of a quick run */
    bool has_left_out;   /* of which the notice tells */
    unsigned rows_left;  /* this one, and those that are to come */
    usec_t idle_wait_us; /* before memory is read: buffers of what was before are given back */
};
