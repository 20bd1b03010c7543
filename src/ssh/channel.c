/* A channel's life: made, served by a task, ended. */
#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "ssh/connection_internal.h"

/* -- life -- */

int ssh_channel_new(struct ssh_connection *c, struct ssh_channel **ret)
{
    unsigned id = 0;
    unsigned max = c->settings->channels_max;
    while (id < max && c->slots[id] != NULL)
        id++;
    if (id == max)
        return -FERRY_ELIMIT;
    struct ssh_channel *ch = mem_new(sizeof(*ch));
    if (ch == NULL)
        return -ENOMEM;
    ch->stream = (struct stream){&ssh_channel_ops, c->transport->lower->stall_us};
    ch->connection = c;
    ch->id = id;
    ch->status = -1;
    list_init(&ch->input);
    event_init(&ch->writable);
    event_init(&ch->readable);
    event_init(&ch->answered);
    buf_init(&ch->errors, SSH_ERRORS_MAX);
    c->slots[id] = ch;
    c->count++;
    ssh_channel_window_init(ch);
    list_append(&c->channels, &ch->node);
    *ret = ch;
    return 0;
}

void ssh_channel_free(struct ssh_channel *ch)
{
    struct ssh_connection *c = ch->connection;
    assert(ch->task == NULL);
    if (ch->service != NULL)
        ch->service->close(ch->service_state);
    ssh_channel_drop_input(ch);
    buf_done(&ch->errors);
    c->slots[ch->id] = NULL;
    c->count--;
    list_remove(&ch->node);
    mem_free(ch);
}

void ssh_channel_end(struct ssh_channel *ch)
{
    event_set(&ch->readable);
    event_set(&ch->writable);
    event_set(&ch->answered);
}

struct stream *ssh_channel_stream(struct ssh_channel *ch)
{
    return &ch->stream;
}

/* -- the service's task -- */

static void finish(struct ssh_channel *ch, int result)
{
    ch->has_finished = true;
    ssh_channel_drop_input(ch);
    ch->status = result >= 0 && result <= 255 ? result : 255;
    ch->owes_eof = !ch->has_sent_eof;
    ch->owes_status = ch->owes_close = !ch->has_sent_close;
    if (ch->has_peer_close) /* it waits for ours and for nothing else */
        ch->owes_eof = ch->owes_status = false;
}

static void serve(void *arg)
{
    struct ssh_channel *ch = arg;
    struct ssh_connection *c = ch->connection;
    bool knew_eof;
    int r;
    do {
        knew_eof = ch->has_peer_eof;
        r = ch->service->run(ch->service_state);
    } while (r == SSH_SERVICE_DOZES && !task_is_cancelled() &&
             (!list_empty(&ch->input) || ch->has_peer_eof != knew_eof));
    if (r == SSH_SERVICE_DOZES && knew_eof && !task_is_cancelled())
        r = 255; /* nothing could wake it */
    ch->task = NULL;
    if (r != SSH_SERVICE_DOZES)
        finish(ch, r);
    (void)(ssh_connection_settle(c) < 0); /* the session task sees the transport's failure */
    if (c->settings->wake != NULL)
        event_set(c->settings->wake);
}

int ssh_channel_wake_service(struct ssh_channel *ch)
{
    if (ch->service == NULL || ch->task != NULL || ch->has_finished)
        return 0;
    return scope_start(ch->connection->scope, ch->service->name, TASK_NORMAL, serve, ch,
                       &ch->task);
}

/* -- requests -- */

/* A command's first word is its name; the row without one takes every other. */
static const struct ssh_service *find_service(const struct ssh_service *services,
                                              bool is_subsystem, struct bytes text)
{
    struct bytes name = text;
    if (!is_subsystem)
        name = bytes_take_until(&text, ' ');
    for (; services != NULL && services->open != NULL; services++) {
        if (services->is_subsystem != is_subsystem)
            continue;
        if (bytes_equal(bytes_str(services->name), name) || services->name[0] == '\0')
            return services;
    }
    return NULL;
}

/* 0: refused; 1: it runs. One for each channel (RFC 4254 6.5). */
static int start_service(struct ssh_channel *ch, bool is_subsystem, struct bytes text)
{
    const struct ssh_connection_settings *settings = ch->connection->settings;
    const struct ssh_service *service = find_service(settings->services, is_subsystem, text);
    if (ch->service != NULL || service == NULL)
        return 0;
    int r = service->open(settings->arg, ch, text, &ch->service_state);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    ch->service = service;
    r = ssh_channel_wake_service(ch);
    return r < 0 ? r : 1;
}

static int owe_reply(struct ssh_channel *ch, bool success)
{
    if (ch->reply_count == SSH_PENDING_MAX)
        return ssh_transport_fail(ch->connection->transport, -FERRY_EPROTO,
                                  "too many unanswered requests");
    ch->replies |= (uint16_t)(success << ch->reply_count++);
    return 0;
}

/* Of the peer's command, to a client. */
static void on_status(struct ssh_channel *ch, const struct ssh_channel_request *m)
{
    if (m->kind == SSH_REQUEST_EXIT_STATUS && ch->status < 0)
        ch->status = m->number <= 255 ? (int)m->number : 255;
    if (m->kind == SSH_REQUEST_EXIT_SIGNAL && ch->status < 0)
        ch->status = 255;
    event_set(&ch->answered);
}

/* No terminal, no environment, no signals. */
static int serve_request(struct ssh_channel *ch, const struct ssh_channel_request *m)
{
    bool is_subsystem = m->kind == SSH_REQUEST_SUBSYSTEM;
    bool is_shell = m->kind == SSH_REQUEST_SHELL; /* a command without words */
    if (is_subsystem || is_shell || m->kind == SSH_REQUEST_EXEC)
        return start_service(ch, is_subsystem, is_shell ? BYTES_NONE : m->text);
    return 0;
}

int ssh_channel_on_request(struct ssh_channel *ch, struct bytes payload)
{
    struct ssh_connection *c = ch->connection;
    struct ssh_channel_request m;
    if (ssh_channel_request_parse(payload, &m) < 0)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "a malformed CHANNEL_REQUEST");
    int r = 0;
    if (ssh_connection_role(c) == SSH_CLIENT)
        on_status(ch, &m);
    else if (!ch->has_peer_close && !ch->has_finished)
        r = serve_request(ch, &m);
    if (r >= 0 && m.wants_reply && !ch->has_peer_close)
        r = owe_reply(ch, r == 1);
    return r < 0 ? r : ssh_connection_settle(c);
}
