#include "ssh/client.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/tcp.h"
#include "ssh/client_auth.h"

#define GOODBYE_US (2 * USEC_PER_S)

struct ssh_client {
    struct stream *stream;
    struct ssh_transport *transport;
    struct ssh_connection *connection;
    struct ssh_connection_settings channels;
    struct scope flushers;
    struct event wake;  /* for the session task */
    struct event ended; /* it has returned */
    struct task *task;
    int result;
};

/* -- the session task -- */

static int wait_for_more(struct ssh_client *c)
{
    usec_t exchange = ssh_transport_deadline(c->transport);
    if (clock_now() >= exchange)
        return -ETIMEDOUT;
    int r = stream_wait(c->stream, &c->wake, exchange);
    if (r == 0)
        return ssh_transport_fill(c->transport);
    return r == 1 ? 0 : r;
}

static int read_and_dispatch(struct ssh_client *c)
{
    int r = 0;
    while (r >= 0) {
        event_clear(&c->wake);
        if (task_is_cancelled())
            return -ECANCELED;
        r = ssh_connection_turn(c->connection);
        if (r == SSH_TURN_NEEDS_MORE)
            r = wait_for_more(c);
        if (task_turn_is_over())
            task_yield();
    }
    return r;
}

static void say_goodbye(struct ssh_client *c, int result)
{
    static const struct {
        int result;
        enum ssh_disconnect reason;
        const char *text;
    } words[] = {
        {-ECANCELED, SSH_DISCONNECT_BY_APPLICATION, "done"},
        {-FERRY_EPROTO, SSH_DISCONNECT_PROTOCOL_ERROR, "that was no ssh that we understand"},
        {-FERRY_EREFUSED, SSH_DISCONNECT_KEY_EXCHANGE_FAILED, "nothing in common"},
        {-FERRY_EAUTH, SSH_DISCONNECT_AUTH_CANCELLED_BY_USER, "no way to log in"},
    };

    task_shield_begin(clock_after(GOODBYE_US));
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].result == result)
            ssh_transport_leave(c->transport, words[i].reason, words[i].text);
    if (result != -FERRY_ECLOSED &&
        ssh_transport_drain(c->transport, 0, clock_after(GOODBYE_US)) == 0)
        (void)(stream_end(c->stream, 0) < 0); /* closed either way */
    task_shield_end();
    scope_leave(&c->flushers);
}

static void session_main(void *arg)
{
    struct ssh_client *c = arg;
    c->result = read_and_dispatch(c);
    ssh_connection_break(c->connection);
    say_goodbye(c, c->result);
    event_set(&c->ended);
}

/* -- life -- */

static void client_free(struct ssh_client *c)
{
    ssh_connection_free(c->connection);
    ssh_transport_free(c->transport);
    stream_free(c->stream);
    mem_free(c);
}

static int log_in(struct ssh_client *c, const struct ssh_client_settings *settings)
{
    int r = ssh_transport_start(c->transport, settings->deadline);
    if (r == 0)
        r = ssh_client_authenticate(c->transport, c->stream, settings);
    if (r < 0)
        return r;
    c->channels =
        (struct ssh_connection_settings){.channels_max = SSH_CHANNELS_MAX, .wake = &c->wake};
    return ssh_connection_new(c->transport, &c->flushers, &c->channels, &c->connection);
}

int ssh_client_start(const struct ssh_client_settings *settings, struct stream *stream,
                     struct scope *scope, char ret_why[SSH_CLIENT_WHY_MAX],
                     struct ssh_client **ret)
{
    struct ssh_client *c = mem_new(sizeof(*c));
    ret_why[0] = '\0';
    if (c == NULL) {
        stream_free(stream);
        return -ENOMEM;
    }
    c->stream = stream;
    scope_init(&c->flushers);
    event_init(&c->wake);
    event_init(&c->ended);
    int r =
        ssh_transport_new(stream, &c->flushers, &settings->transport, &c->wake, &c->transport);
    if (r < 0) {
        client_free(c);
        return r;
    }
    r = log_in(c, settings);
    if (r == 0)
        r = scope_start(scope, "ssh client", TASK_NORMAL, session_main, c, &c->task);
    if (r < 0) {
        const char *why = ssh_transport_why(c->transport);
        (void)text_copy(ret_why, SSH_CLIENT_WHY_MAX,
                        bytes_str(why[0] != '\0' ? why : err_text(r)));
        say_goodbye(c, r);
        client_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

int ssh_client_connect(const struct ssh_client_settings *settings, struct scope *scope,
                       char ret_why[SSH_CLIENT_WHY_MAX], struct ssh_client **ret)
{
    struct io_fd *io;
    struct stream *stream;
    int r = tcp_connect(&settings->to, settings->from, settings->deadline, &io);
    if (r == 0) {
        (void)(tcp_set_nodelay(io) < 0); /* without it, it is slower and no more */
        r = tcp_stream_new(io, settings->stall_us, &stream);
    }
    if (r < 0) {
        (void)text_copy(ret_why, SSH_CLIENT_WHY_MAX, bytes_str(err_text(r)));
        return r;
    }
    return ssh_client_start(settings, stream, scope, ret_why, ret);
}

struct ssh_connection *ssh_client_connection(struct ssh_client *c)
{
    return c->connection;
}

struct ssh_transport *ssh_client_transport(struct ssh_client *c)
{
    return c->transport;
}

int ssh_client_result(const struct ssh_client *c)
{
    return c->result;
}

struct ssh_client *ssh_client_free(struct ssh_client *c)
{
    if (c == NULL)
        return NULL;
    if (!c->ended.is_set)
        task_cancel(c->task);
    task_shield_begin(USEC_NEVER);
    (void)(event_wait(&c->ended, USEC_NEVER) < 0); /* a shield without an end: it comes */
    task_shield_end();
    client_free(c);
    return NULL;
}
