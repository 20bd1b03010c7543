/* A client's channels: opened, asked for a service, closed. */
#include <errno.h>

#include "base/err.h"
#include "ssh/connection_internal.h"

#define OPEN_MAX 64 /* bytes of CHANNEL_OPEN for a session */

/* Waits until the answer that `is_there` looks at has come. */
static int wait_answer(struct ssh_channel *ch, bool (*is_there)(const struct ssh_channel *),
                       usec_t deadline)
{
    while (!is_there(ch)) {
        if (ch->connection->is_broken || ch->has_peer_close)
            return -FERRY_ECLOSED;
        event_clear(&ch->answered);
        int r = event_wait(&ch->answered, deadline);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_open_answered(const struct ssh_channel *ch)
{
    return ch->is_open || ch->is_refused;
}

static bool is_request_answered(const struct ssh_channel *ch)
{
    return ch->is_answered;
}

static bool has_status(const struct ssh_channel *ch)
{
    return ch->status >= 0;
}

static int open_channel(struct ssh_channel *ch, usec_t deadline)
{
    uint8_t payload[OPEN_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_open open = {
        .type = BYTES_LIT("session"),
        .sender = ch->id,
        .window = ch->window,
        .packet_max = SSH_DATA_MAX,
    };
    ssh_channel_open_write(&w, &open);
    int r = ssh_transport_say_written(ch->connection->transport, &w);
    ch->has_asked = r == 0;
    if (r == 0)
        r = wait_answer(ch, is_open_answered, deadline);
    return r == 0 && ch->is_refused ? -FERRY_EREFUSED : r;
}

static int ask(struct ssh_channel *ch, bool is_subsystem, struct bytes text, usec_t deadline)
{
    struct ssh_transport *t = ch->connection->transport;
    const struct ssh_channel_request request = {
        .recipient = ch->peer_id,
        .kind = is_subsystem ? SSH_REQUEST_SUBSYSTEM : SSH_REQUEST_EXEC,
        .wants_reply = true,
        .text = text,
    };
    struct buf payload;
    if (text.len > SSH_COMMAND_MAX)
        return -FERRY_ELIMIT;
    buf_init(&payload, SSH_COMMAND_MAX + OPEN_MAX);
    int r = buf_reserve(&payload, text.len + OPEN_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(payload.data, text.len + OPEN_MAX);
    ssh_channel_request_write(&w, &request);
    r = ssh_transport_gate(t, deadline); /* new keys may be on their way */
    if (r == 0)
        r = ssh_transport_say_written(t, &w);
    buf_done(&payload);
    if (r == 0)
        r = wait_answer(ch, is_request_answered, deadline);
    return r == 0 && ch->is_refused ? -FERRY_EREFUSED : r;
}

int ssh_channel_open_session(struct ssh_connection *c, bool is_subsystem, struct bytes text,
                             usec_t deadline, struct ssh_channel **ret)
{
    struct ssh_channel *ch;
    int r = ssh_transport_gate(c->transport, deadline);
    if (r == 0)
        r = ssh_channel_new(c, &ch);
    if (r < 0)
        return r;
    ch->is_held = true;
    r = open_channel(ch, deadline);
    if (r == 0)
        r = ask(ch, is_subsystem, text, deadline);
    if (r < 0) {
        (void)ssh_channel_close(ch);
        return r;
    }
    *ret = ch;
    return 0;
}

struct bytes ssh_channel_errors(const struct ssh_channel *ch)
{
    return buf_bytes(&ch->errors);
}

int ssh_channel_status(struct ssh_channel *ch, usec_t deadline)
{
    int r = wait_answer(ch, has_status, deadline);
    return r == 0 ? ch->status : r;
}

/* It stays in the table until the peer has closed it too, since what is under way to it still
 * comes; what does is dropped. */
struct ssh_channel *ssh_channel_close(struct ssh_channel *ch)
{
    if (ch == NULL)
        return NULL;
    struct ssh_connection *c = ch->connection;
    ch->is_held = false;
    ch->has_finished = true;
    ssh_channel_drop_input(ch);
    if (!ch->has_asked)
        ch->has_sent_close = ch->has_peer_close = true; /* the peer knows nothing of it */
    else if (ch->is_open)
        ch->owes_close = !ch->has_sent_close;
    (void)(ssh_connection_settle(c) < 0); /* the session task sees the transport's failure */
    if (c->settings->wake != NULL)
        event_set(c->settings->wake);
    return NULL;
}
