/* What the connection owes the peer, sealed when the gate is open. Everything here is a counter
 * or a flag: a peer that asks and never reads makes nothing longer. */
#include <errno.h>

#include "base/err.h"
#include "ssh/connection_internal.h"

#define MESSAGE_MAX 128

/* Room for what is owed: beyond that the session task reads nothing, and settles again when
 * bytes went. */
static bool has_room(const struct ssh_connection *c)
{
    return ssh_connection_may_seal(c) && ssh_transport_unsent(c->transport) <= SSH_UNSENT_MAX;
}

static int say_plain(struct ssh_channel *ch, enum ssh_message message)
{
    uint8_t payload[MESSAGE_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_channel_plain_write(&w, message, ch->peer_id);
    return ssh_transport_say_written(ch->connection->transport, &w);
}

static int say_refusals(struct ssh_connection *c)
{
    int r = 0;
    while (r == 0 && c->refusal_count > 0 && has_room(c)) {
        struct ssh_refusal *first = &c->refusals[0];
        uint8_t payload[MESSAGE_MAX];
        struct wire_writer w = wire_writer_of(payload, sizeof(payload));
        ssh_channel_open_failure_write(&w, first->recipient++, first->reason,
                                       BYTES_LIT("not served here"));
        if (--first->count == 0) {
            c->refusal_count--;
            memmove(first, first + 1, c->refusal_count * sizeof(*first));
        }
        r = ssh_transport_say_written(c->transport, &w);
    }
    return r;
}

static int say_global_failures(struct ssh_connection *c)
{
    const uint8_t failure = SSH_MSG_REQUEST_FAILURE;
    int r = 0;
    while (r == 0 && c->global_failures > 0 && has_room(c)) {
        c->global_failures--;
        r = ssh_transport_say(c->transport, bytes_of(&failure, 1));
    }
    return r;
}

static int say_confirmation(struct ssh_channel *ch)
{
    uint8_t payload[MESSAGE_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_confirmation m = {
        .recipient = ch->peer_id,
        .sender = ch->id,
        .window = ch->window,
        .packet_max = SSH_DATA_MAX,
    };
    ssh_channel_confirmation_write(&w, &m);
    ch->owes_confirmation = false;
    ch->is_open = true;
    return ssh_transport_say_written(ch->connection->transport, &w);
}

static int say_replies(struct ssh_channel *ch)
{
    int r = 0;
    while (r == 0 && ch->reply_count > 0 && has_room(ch->connection)) {
        bool is_success = (ch->replies & 1) != 0;
        ch->replies >>= 1;
        ch->reply_count--;
        r = say_plain(ch, is_success ? SSH_MSG_CHANNEL_SUCCESS : SSH_MSG_CHANNEL_FAILURE);
    }
    return r;
}

static int say_status(struct ssh_channel *ch)
{
    uint8_t payload[MESSAGE_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_request m = {.recipient = ch->peer_id,
                                          .kind = SSH_REQUEST_EXIT_STATUS,
                                          .number = (uint32_t)ch->status};
    ssh_channel_request_write(&w, &m);
    ch->owes_status = false;
    return ssh_transport_say_written(ch->connection->transport, &w);
}

/* In this order: what was asked is answered before the end is told. */
static int settle_channel(struct ssh_channel *ch)
{
    struct ssh_connection *c = ch->connection;
    int r = 0;
    if (ch->owes_confirmation && has_room(c))
        r = say_confirmation(ch);
    if (r == 0)
        r = say_replies(ch);
    if (r == 0)
        r = ssh_channel_adjust(ch);
    if (r == 0 && ch->owes_eof && !ch->has_sent_close && has_room(c)) {
        ch->owes_eof = false;
        ch->has_sent_eof = true;
        r = say_plain(ch, SSH_MSG_CHANNEL_EOF);
    }
    if (r == 0 && ch->owes_status && !ch->has_sent_close && has_room(c))
        r = say_status(ch);
    if (r == 0 && ch->owes_close && !ch->owes_status && ch->reply_count == 0 && has_room(c)) {
        ch->owes_close = ch->owes_eof = false;
        ch->has_sent_close = ch->has_sent_eof = true;
        r = say_plain(ch, SSH_MSG_CHANNEL_CLOSE);
    }
    return r;
}

static bool is_over(const struct ssh_channel *ch)
{
    return ch->has_sent_close && ch->has_peer_close && ch->task == NULL && !ch->is_held &&
           (ch->service == NULL || ch->has_finished);
}

int ssh_connection_settle(struct ssh_connection *c)
{
    int r = has_room(c) ? say_global_failures(c) : 0;
    if (r == 0)
        r = say_refusals(c);
    LIST_EACH(it, &c->channels)
    {
        if (r == 0)
            r = settle_channel(LIST_ENTRY(it, struct ssh_channel, node));
    }
    return r;
}

void ssh_connection_sweep(struct ssh_connection *c)
{
    LIST_EACH_SAFE(it, &c->channels)
    {
        struct ssh_channel *ch = LIST_ENTRY(it, struct ssh_channel, node);
        if (is_over(ch))
            ssh_channel_free(ch);
    }
}

static bool owes(const struct ssh_channel *ch)
{
    return ch->owes_confirmation || ch->reply_count > 0 || ch->owes_eof || ch->owes_status ||
           ch->owes_close;
}

bool ssh_connection_is_idle(const struct ssh_connection *c)
{
    if (c->refusal_count > 0 || c->global_failures > 0 || c->held_bytes > 0)
        return false;
    LIST_EACH(it, &c->channels)
    {
        const struct ssh_channel *ch = LIST_ENTRY(it, struct ssh_channel, node);
        if (ch->task != NULL || owes(ch) || is_over(ch))
            return false;
    }
    return true;
}
