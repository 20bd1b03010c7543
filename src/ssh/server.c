#include "ssh/server.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/tcp.h"
#include "ssh/session.h"

#define SESSION_DOZES 1
#define LINGER_US     (2 * USEC_PER_S) /* the peer may take so long to read the last words */
/* A peer that says nothing while a service of ours runs is asked whether it lives. */
#define KEEPALIVE_US  (60 * USEC_PER_S)
#define KEEPALIVE_MAX 3

/* -- the end -- */

static void session_free(struct ssh_session *s)
{
    ssh_connection_free(s->connection);
    ssh_transport_free(s->transport);
    pool_share_unref(s->host_share);
    session_done(&s->base);
    stream_free(s->base.control);
    mem_free(s);
}

/* What the peer is told when the session ends not by its own wish. */
static const struct {
    int result;
    enum ssh_disconnect reason;
    const char *text;
} last_words[] = {
    {-ETIMEDOUT, SSH_DISCONNECT_BY_APPLICATION, "Nothing was heard from you for too long."},
    {-FERRY_ESTALLED, SSH_DISCONNECT_BY_APPLICATION, "Nothing moved for too long."},
    {-FERRY_EAUTH, SSH_DISCONNECT_NO_MORE_AUTH_METHODS, "Too many wrong passwords or keys."},
    {-FERRY_EPROTO, SSH_DISCONNECT_PROTOCOL_ERROR, "That was no ssh that we understand."},
    {-FERRY_EREFUSED, SSH_DISCONNECT_KEY_EXCHANGE_FAILED, "We have nothing in common."},
    {-FERRY_ELIMIT, SSH_DISCONNECT_TOO_MANY_CONNECTIONS, "Too many connections."},
    {-FERRY_EBANNED, SSH_DISCONNECT_TOO_MANY_CONNECTIONS,
     "Too many failures from your address; try again later."},
    {-FERRY_EKICKED, SSH_DISCONNECT_BY_APPLICATION, "The administrator ended this session."},
    {-FERRY_ESHUTDOWN, SSH_DISCONNECT_BY_APPLICATION, "The server is stopping."},
    {-ECANCELED, SSH_DISCONNECT_BY_APPLICATION, "The server is stopping."},
    {-EBUSY, SSH_DISCONNECT_BY_APPLICATION, "The server is busy; try again later."},
    {-ENOMEM, SSH_DISCONNECT_BY_APPLICATION, "The server is out of memory."},
};

static void say_last_words(struct ssh_session *s, int result)
{
    for (unsigned i = 0; i < ARRAY_LEN(last_words); i++)
        if (last_words[i].result == result)
            ssh_transport_leave(s->transport, last_words[i].reason, last_words[i].text);
}

static void log_end_of(const struct ssh_session *s, int result)
{
    struct log_record record;
    session_log_begin(&s->base, &record, LOG_INFO, "session-end");
    log_us(&record, "seconds", clock_now() - s->base.started_at);
    const char *why = ssh_transport_why(s->transport);
    if (result < 0 && result != -FERRY_ECLOSED) {
        log_err(&record, result);
        if (why[0] != '\0')
            log_text(&record, "why", why);
    }
    log_end(&record);
}

static void end_session(struct ssh_session *s, int result)
{
    if (s->base.end == SESSION_KICKED) /* whatever it broke off */
        result = -FERRY_EKICKED;
    task_shield_begin(clock_after(LINGER_US));
    say_last_words(s, result);
    if (s->connection != NULL)
        ssh_connection_break(s->connection);
    if (result != -FERRY_ECLOSED &&
        ssh_transport_drain(s->transport, 0, clock_after(LINGER_US)) == 0)
        (void)(stream_end(s->base.control, clock_after(LINGER_US)) < 0); /* closed either way */
    task_shield_end();
    scope_leave(&s->children);
    log_end_of(s, result);
    session_free(s);
}

/* -- waiting -- */

static int ending_of(const struct ssh_session *s)
{
    if (s->base.end == SESSION_KICKED)
        return -FERRY_EKICKED;
    bool is_busy = s->connection != NULL && !ssh_connection_is_idle(s->connection);
    return s->base.end == SESSION_SHUTDOWN && !is_busy ? -FERRY_ESHUTDOWN : 0;
}

static usec_t earlier(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

static int fill(struct ssh_session *s)
{
    int r = ssh_transport_fill(s->transport);
    s->quiet_at = clock_now();
    s->pings = 0;
    return r;
}

/* Waits for bytes, the wake event or the deadline, and reads. A peer whose packets never become
 * whole is not kept alive by them: the deadline is looked at each time. */
static int wait_and_fill(struct ssh_session *s, usec_t deadline)
{
    usec_t exchange = ssh_transport_deadline(s->transport);
    if (clock_now() >= earlier(deadline, exchange))
        return -ETIMEDOUT;
    int r = stream_wait(s->base.control, &s->wake, earlier(deadline, exchange));
    if (r == 0)
        return fill(s);
    return r == 1 ? 0 : r;
}

int ssh_session_next(struct ssh_session *s, usec_t deadline, struct ssh_packet *ret)
{
    for (;;) {
        event_clear(&s->wake);
        int r = ending_of(s);
        if (r < 0)
            return r;
        r = ssh_transport_next(s->transport, ret);
        if (r == SSH_NEXT_PACKET || r < 0)
            return r;
        if (r == SSH_NEXT_MORE)
            r = wait_and_fill(s, deadline);
        if (r < 0)
            return r;
        if (task_turn_is_over())
            task_yield();
    }
}

/* -- the connection -- */

static usec_t idle_deadline(const struct ssh_session *s)
{
    usec_t idle_us = session_timeouts(s->base.shared)->idle_us;
    bool is_busy = !ssh_connection_is_idle(s->connection); /* services have their deadlines */
    return idle_us != 0 && !is_busy ? s->base.active_at + idle_us : USEC_NEVER;
}

/* Then it has given back what it does not need meanwhile. */
static bool may_doze(struct ssh_session *s)
{
    return ssh_connection_is_idle(s->connection) && s->children.count == 0 &&
           ssh_transport_shrink(s->transport);
}

/* A session that dozes has the idle timeout; of another the client is asked now and then, and
 * must say something. */
static int wait_for_a_sign(struct ssh_session *s, usec_t deadline)
{
    usec_t ping_at = s->quiet_at + KEEPALIVE_US;
    if (clock_now() >= ping_at) {
        if (s->pings == KEEPALIVE_MAX)
            return -ETIMEDOUT;
        s->pings++;
        s->quiet_at = clock_now();
        return ssh_connection_ping(s->connection);
    }
    int r = wait_and_fill(s, earlier(deadline, ping_at));
    return r == -ETIMEDOUT && clock_now() >= ping_at ? 0 : r; /* the next turn asks */
}

/* Nothing to read is here. */
static int wait_for_more(struct ssh_session *s)
{
    usec_t deadline = idle_deadline(s);
    if (clock_now() >= deadline)
        return -ETIMEDOUT;
    if (!may_doze(s))
        return wait_for_a_sign(s, deadline);
    int r = stream_wait(s->base.control, &s->wake, clock_now()); /* it only looks */
    if (r == 0)
        return fill(s);
    if (r == 1)
        return 0;
    return r == -ETIMEDOUT ? SESSION_DOZES : r;
}

/* Reads, dispatches, seals what is owed, until the client goes or there is nothing to do. */
static int connection_run(struct ssh_session *s)
{
    int r = 0;
    while (r == 0) {
        event_clear(&s->wake);
        r = ending_of(s);
        if (r == 0)
            r = ssh_connection_turn(s->connection);
        if (r == SSH_TURN_NEEDS_MORE) {
            r = wait_for_more(s);
        } else if (r == SSH_TURN_DISPATCHED) {
            s->base.active_at = clock_now();
            r = 0;
        }
        if (task_turn_is_over())
            task_yield();
    }
    return r;
}

static int open_connection(struct ssh_session *s)
{
    s->channels = (struct ssh_connection_settings){
        .services = s->server->services,
        .arg = &s->base,
        .channels_max = SSH_CHANNELS_SESSION,
        .wake = &s->wake,
    };
    const struct ssh_chosen *chosen = ssh_transport_chosen(s->transport);
    s->base.cipher = ssh_cipher_name(chosen->cipher[SSH_TO_CLIENT]);
    s->base.sends_zlib = chosen->compression[SSH_TO_CLIENT] != SSH_COMPRESSION_NONE;
    s->base.receives_zlib = chosen->compression[SSH_TO_SERVER] != SSH_COMPRESSION_NONE;
    s->base.doing = "idle";
    s->base.active_at = s->quiet_at = clock_now();
    return ssh_connection_new(s->transport, &s->children, &s->channels, &s->connection);
}

/* -- from one doze to the next, or to the end -- */

static void session_main(void *arg);

/* Who speaks while there is no stack waits for one, but not past his deadline. */
static void wait_without_stack(void *arg)
{
    struct ssh_session *s = arg;
    usec_t deadline = s->connection != NULL ? idle_deadline(s) : s->base.login_deadline;
    int r = s->base.end != SESSION_RUNS ? -FERRY_ESHUTDOWN : 0;
    if (r == 0 && clock_now() >= deadline)
        r = -ETIMEDOUT;
    if (r == 0)
        return;
    log_end_of(s, r);
    session_free(s);
}

static void doze(struct ssh_session *s)
{
    s->base.wake = NULL;
    s->base.task = NULL;
    usec_t deadline = s->connection != NULL ? idle_deadline(s) : s->base.login_deadline;
    io_fd_doze(stream_fd(s->base.control), s->sessions, "ssh session", session_main,
               wait_without_stack, s, deadline);
}

static void session_main(void *arg)
{
    struct ssh_session *s = arg;
    s->base.wake = &s->wake;
    s->base.task = task_self();
    int r = ending_of(s);
    if (r == 0 && s->connection == NULL) {
        r = ssh_transport_start(s->transport, s->base.login_deadline);
        if (r == 0)
            r = ssh_auth_serve(s);
        if (r == 0)
            r = open_connection(s);
    }
    if (r == 0)
        r = connection_run(s);
    if (r == SESSION_DOZES)
        doze(s);
    else
        end_session(s, r);
}

/* -- the start -- */

int ssh_session_start(const struct ssh_server *server, struct scope *sessions, int fd,
                      const struct addr *peer, const struct addr *local)
{
    struct stream *control;
    int r = tcp_stream_accepted(fd, session_timeouts(server->shared)->stall_us, &control);
    if (r < 0)
        return r;
    struct ssh_session *s = mem_new(sizeof(*s));
    if (s == NULL) {
        stream_free(control);
        return -ENOMEM;
    }
    r = session_init(&s->base, server->shared, "ssh", peer, local);
    s->base.control = control;
    s->server = server;
    s->sessions = sessions;
    scope_init(&s->children);
    event_init(&s->wake);
    if (r == 0)
        r = ssh_transport_new(control, &s->children, &server->transport, &s->wake,
                              &s->transport);
    if (r == 0) {
        s->host_share = session_host_share(&s->base);
        ssh_transport_set_share(s->transport, s->host_share);
        r = ssh_transport_greet(s->transport);
    }
    if (r < 0) {
        scope_leave(&s->children);
        session_free(s);
        return r;
    }
    doze(s);
    if (s->base.end != SESSION_RUNS)    /* while it was greeted */
        io_fd_wake(stream_fd(control)); /* s may be gone after it */
    return 0;
}
