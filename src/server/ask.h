/* A question of worker 0 to a worker about its sessions: there and back by messages.
 *
 * The asking task waits for the answer; when it gives up (deadline, cancel) the question goes
 * on without it and is freed when it comes back, or by control_done().
 */
#pragma once
#include "server/server.h"
#include "session/session.h"

#define ASK_LINES 32

enum ask_kind { ASK_SESSIONS, ASK_KICK, ASK_STATS };

struct ask {
    struct worker_message message;
    struct list node; /* server->asks while it is under way */
    struct event answered;
    bool is_abandoned;
    enum ask_kind kind;
    uint64_t id; /* SESSIONS: those behind this one; KICK: this one */

    unsigned count; /* SESSIONS: lines; KICK: 1 if it was here; STATS: sessions */
    struct session_line lines[ASK_LINES];
    struct worker_stats stats;
    struct server *server;
};

MUST_CHECK int ask_new(struct server *, enum ask_kind, uint64_t id, struct ask **ret);
/* 0: answered, still the caller's. Else it is no longer: -ETIMEDOUT, -ECANCELED. */
PARKS MUST_CHECK int ask_worker(struct ask *, unsigned worker, usec_t deadline);
void ask_free(struct ask *);
