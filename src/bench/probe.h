/* How long a NOOP takes beside whatever else is measured.
 *
 * The probe has a session of its own and runs on a worker of its own, so that what it sees is
 * the server's delay, not that of the loop which makes the load. A task of another worker, the
 * commander, tells it: probe_start() and probe_stop() in turn, probe_over() at the end.
 */
#pragma once
#include "bench/row.h"
#include "ftp/client.h"
#include "task/runtime.h"

struct probe;

struct probe_message {
    struct worker_message message;
    struct probe *probe;
};

struct probe {
    /* the owner sets it before the runtime runs; outlives the probe */
    const struct ftp_client_settings *settings;
    const struct addr *server;
    struct bytes user, password;
    struct worker *commander, *worker;

    /* the commander's: messages set it on its worker */
    struct event answered;
    bool has_begun, has_stopped;

    /* the probe's */
    struct event ordered;

    enum probe_order { PROBE_NONE, PROBE_START, PROBE_STOP, PROBE_OVER } order;

    bool is_running;
    struct scope scope;
    struct ftp_client client;
    double *latencies_us; /* the commander reads it when the probe has stopped */
    unsigned count;
    int result; /* how its session ended: 0, or why it failed */

    struct probe_message start, stop, over, begun, stopped;
};

/* -ENOMEM. Before the runtime runs. */
MUST_CHECK int probe_init(struct probe *);
void probe_done(struct probe *);

/* What the probe's worker runs until probe_over(). */
PARKS void probe_main(struct probe *);

/* Returns when its session is logged in or has failed; probe_stop() then says how. -ECANCELED:
 * it must be stopped all the same. */
PARKS MUST_CHECK int probe_start(struct probe *);
/* Not cancellable. 0, or how its session failed; *ret is what was measured until then. */
PARKS MUST_CHECK int probe_stop(struct probe *, struct bench_latency *ret);
void probe_over(struct probe *);
