/* How long a NOOP takes beside whatever else is measured.
 *
 * The probe has a session of its own and runs on a worker of its own, so that what it sees is
 * the server's delay, not that of the loop which makes the load. A task of another worker, the
 * commander, tells it: probe_start() and probe_stop() in turn, probe_over() at the end.
 */
#pragma once
#include "bench/report/results.h"
#include "ftp/client.h"
#include "task/runtime.h"

#define LATENCIES_MAX 65536 /* five minutes; what comes later is not counted */

/* Microseconds, one for each NOOP; on the heap. */
struct latencies {
    double *us; /* LATENCIES_MAX */
    unsigned count;
};

/* -ENOMEM. */
MUST_CHECK int latencies_init(struct latencies *);
void latencies_done(struct latencies *);
/* Sorts those from `first` on. */
struct bench_latency latencies_of(struct latencies *, unsigned first);

struct probe;

struct probe_message {
    struct worker_message message;
    struct probe *probe;
};

struct probe {
    struct worker *commander, *worker; /* the owner sets them before the runtime runs */

    /* the commander's, of the session that it has started; they outlive that */
    const struct ftp_client_settings *settings;
    const struct addr *server;
    struct bytes user, password;
    struct latencies *latencies; /* what is measured is added to it */

    /* the commander's: messages set it on its worker */
    struct event answered;
    bool has_begun, has_stopped;

    /* the probe's */
    struct event ordered;

    enum probe_order { PROBE_NONE, PROBE_START, PROBE_STOP, PROBE_OVER } order;

    bool is_running;
    struct scope scope;
    struct ftp_client client;
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
