#include "server/ask.h"

#include <errno.h>

#include "base/mem.h"

int ask_new(struct server *server, enum ask_kind kind, uint64_t id, struct ask **ret)
{
    struct ask *ask = mem_new(sizeof(*ask));
    if (ask == NULL)
        return -ENOMEM;
    ask->kind = kind;
    ask->id = id;
    ask->server = server;
    list_init(&ask->node);
    event_init(&ask->answered);
    *ret = ask;
    return 0;
}

/* Back on worker 0. */
static void on_answer(struct worker_message *message)
{
    struct ask *ask = LIST_ENTRY(message, struct ask, message);
    list_remove(&ask->node);
    if (ask->is_abandoned)
        ask_free(ask);
    else
        event_set(&ask->answered);
}

/* On the worker that is asked. */
static void on_question(struct worker_message *message)
{
    struct ask *ask = LIST_ENTRY(message, struct ask, message);
    switch (ask->kind) {
    case ASK_SESSIONS:
        ask->count = session_list_here(ask->id, ask->lines, ASK_LINES);
        break;
    case ASK_KICK:
        ask->count = session_end_one(ask->id, SESSION_KICKED);
        break;
    case ASK_STATS:
        ask->count = session_count_here();
        worker_stats(worker_self(), &ask->stats);
        break;
    }
    ask->message.fn = on_answer;
    worker_post(runtime_worker(ask->server->runtime, 0), &ask->message);
}

int ask_worker(struct ask *ask, unsigned worker, usec_t deadline)
{
    list_append(&ask->server->asks, &ask->node);
    ask->message.fn = on_question;
    worker_post(runtime_worker(ask->server->runtime, worker), &ask->message);
    int r = event_wait(&ask->answered, deadline);
    if (ask->answered.is_set)
        return 0;
    ask->is_abandoned = true;
    return r;
}

void ask_free(struct ask *ask)
{
    mem_free(ask);
}
