/* How long the shortest question takes beside whatever else is measured.
 *
 * The probe has a session of its own and runs on a worker of its own, so that what it sees is
 * the server's delay, not that of the loop which makes the load. A task of another worker, the
 * commander, tells it: probe_start() and probe_stop() in turn, probe_over() at the end.
 */
#pragma once
#include "bench/report/results.h"
#include "task/runtime.h"

struct target;

#define LATENCIES_MAX 65536 /* five minutes; what comes later is not counted */

/* Microseconds, one for each question; on the heap. */
struct latencies {
    double *us; /* LATENCIES_MAX */
    unsigned count;
};

/* -ENOMEM. */
MUST_CHECK int latencies_init(struct latencies *);
void latencies_done(struct latencies *);
/* Sorts those from `first` on. */
struct bench_latency latencies_of(struct latencies *, unsigned first);

/* What a probe says to a server, as tasks on its worker; `arg` is the benchmark. */
struct probe_talk {
    const char *name;                                    /* of the question: "NOOP" */
    PARKS int (*open)(void *arg, const struct target *); /* a session, logged in */
    PARKS int (*ask)(void *arg);                         /* and be answered */
    void (*close)(void *arg);
    /* "what: " and why the last session failed, if it did with this result. */
    void (*explain)(void *arg, const char *what, int result, size_t cap, char *dst);
};

struct probe;

struct probe_message {
    struct worker_message message;
    struct probe *probe;
};

struct probe {
    /* the owner sets them before the runtime runs */
    struct worker *commander, *worker;
    const struct probe_talk *talk;
    void *arg;

    /* the commander's, of the session that it has started; they outlive that */
    const struct target *target;
    struct latencies *latencies; /* what is measured is added to it */

    /* the commander's: messages set it on its worker */
    struct event answered;
    bool has_begun, has_stopped;

    /* the probe's */
    struct event ordered;

    enum probe_order { PROBE_NONE, PROBE_START, PROBE_STOP, PROBE_OVER } order;

    bool is_running;
    struct scope scope;
    int result; /* how its session ended: 0, or why it failed */

    struct probe_message start, stop, over, begun, stopped;
};

/* Before the runtime runs. */
void probe_init(struct probe *);

/* What the probe's worker runs until probe_over(). */
PARKS void probe_main(struct probe *);

/* The commander has set what is to be probed. Returns when the session is logged in or has
 * failed; probe_stop() then says how. -ECANCELED: it must be stopped all the same. */
PARKS MUST_CHECK int probe_start(struct probe *);
/* Not cancellable. 0, or how its session failed. */
PARKS MUST_CHECK int probe_stop(struct probe *);
void probe_over(struct probe *);
