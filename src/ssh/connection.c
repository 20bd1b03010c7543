#include "ssh/connection.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "ssh/connection_internal.h"

/* -- life -- */

static int settle(void *arg)
{
    return ssh_connection_settle(arg);
}

int ssh_connection_new(struct ssh_transport *t, struct scope *scope,
                       const struct ssh_connection_settings *settings,
                       struct ssh_connection **ret)
{
    struct ssh_connection *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->transport = t;
    c->scope = scope;
    c->settings = settings;
    list_init(&c->channels);
    t->out.mark = SSH_UNSENT_MAX;
    ssh_transport_set_settle(t, settle, c);
    *ret = c;
    return 0;
}

void ssh_connection_break(struct ssh_connection *c)
{
    c->is_broken = true;
    ssh_transport_end_waits(c->transport);
    LIST_EACH(it, &c->channels)
    ssh_channel_end(LIST_ENTRY(it, struct ssh_channel, node));
}

struct ssh_connection *ssh_connection_free(struct ssh_connection *c)
{
    if (c == NULL)
        return NULL;
    LIST_EACH_SAFE(it, &c->channels)
    ssh_channel_free(LIST_ENTRY(it, struct ssh_channel, node));
    mem_free(c);
    return NULL;
}

enum ssh_role ssh_connection_role(const struct ssh_connection *c)
{
    return c->transport->settings->role;
}

bool ssh_connection_may_seal(const struct ssh_connection *c)
{
    return !c->is_broken && ssh_transport_is_open(c->transport) &&
           ssh_transport_phase(c->transport) != SSH_PHASE_ENDED;
}

bool ssh_connection_is_full(const struct ssh_connection *c)
{
    return c->held_bytes > SSH_INPUT_CAP && c->waiting == 0 &&
           !ssh_transport_is_awaited(c->transport);
}

usec_t ssh_connection_window_wait_us(const struct ssh_connection *c)
{
    return c->window_wait_us;
}

void ssh_connection_wait_begin(struct ssh_connection *c)
{
    bool was_full = ssh_connection_is_full(c);
    c->waiting++;
    if (was_full && c->settings->wake != NULL)
        event_set(c->settings->wake);
}

void ssh_connection_wait_end(struct ssh_connection *c)
{
    c->waiting--;
}

unsigned ssh_connection_channels(const struct ssh_connection *c)
{
    return c->count;
}

/* -- global requests -- */

/* Nothing of it is served, keepalives neither: the failure is the answer that they want. */
static int on_global_request(struct ssh_connection *c, struct bytes payload)
{
    struct bytes type;
    bool wants_reply;
    if (ssh_global_request_parse(payload, &type, &wants_reply) < 0)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "a malformed GLOBAL_REQUEST");
    if (bytes_equal(type, BYTES_LIT("no-more-sessions@openssh.com")))
        c->no_more_sessions = true;
    if (!wants_reply)
        return 0;
    c->global_failures++; /* one exchange is too short for 2^32 */
    return ssh_connection_settle(c);
}

static int on_global_answer(struct ssh_connection *c)
{
    if (c->unanswered == 0)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "an answer to no request");
    c->unanswered = 0; /* whichever it is for, the peer lives */
    return 0;
}

int ssh_connection_ping(struct ssh_connection *c)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    if (!ssh_connection_may_seal(c))
        return 0;
    c->unanswered++;
    ssh_global_request_write(&w, BYTES_LIT("keepalive@openssh.com"), true);
    return ssh_transport_say_written(c->transport, &w);
}

/* -- opening -- */

/* While new keys are made any number of opens may be under way, from a peer that does not know
 * of it yet. Peers count their channels, so that a few runs hold them. */
static int refuse_open(struct ssh_connection *c, uint32_t recipient, enum ssh_open_failure why)
{
    struct ssh_refusal *last = c->refusal_count > 0 ? &c->refusals[c->refusal_count - 1] : NULL;
    if (last != NULL && last->reason == why && last->recipient + last->count == recipient) {
        last->count++;
        return ssh_connection_settle(c);
    }
    if (c->refusal_count == SSH_PENDING_MAX)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "too many channel opens");
    c->refusals[c->refusal_count++] = (struct ssh_refusal){recipient, 1, why};
    return ssh_connection_settle(c);
}

static int on_open(struct ssh_connection *c, struct bytes payload)
{
    struct ssh_channel_open open;
    if (ssh_channel_open_parse(payload, &open) < 0)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "a malformed CHANNEL_OPEN");
    if (ssh_connection_role(c) == SSH_CLIENT || c->no_more_sessions)
        return refuse_open(c, open.sender, SSH_OPEN_ADMINISTRATIVELY_PROHIBITED);
    if (!bytes_equal(open.type, BYTES_LIT("session")))
        return refuse_open(c, open.sender, SSH_OPEN_UNKNOWN_CHANNEL_TYPE);
    if (open.packet_max < SSH_PACKET_MIN_DATA)
        return refuse_open(c, open.sender, SSH_OPEN_RESOURCE_SHORTAGE);
    struct ssh_channel *ch;
    int r = ssh_channel_new(c, &ch);
    if (r == -FERRY_ELIMIT)
        return refuse_open(c, open.sender, SSH_OPEN_RESOURCE_SHORTAGE);
    if (r < 0)
        return r;
    ch->peer_id = open.sender;
    ch->peer_window = open.window;
    ch->peer_packet_max = open.packet_max;
    ch->owes_confirmation = true;
    return ssh_connection_settle(c);
}

static int on_confirmation(struct ssh_connection *c, struct ssh_channel *ch,
                           struct bytes payload)
{
    struct ssh_channel_confirmation m;
    if (ssh_channel_confirmation_parse(payload, &m) < 0 || ch->is_open || ch->is_refused)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "an unexpected confirmation");
    if (m.packet_max < SSH_PACKET_MIN_DATA)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "packets of %u bytes",
                                  m.packet_max);
    ch->peer_id = m.sender;
    ch->peer_window = m.window;
    ch->peer_packet_max = m.packet_max;
    ch->is_open = true;
    ch->owes_close = !ch->is_held; /* nobody waited for it so long */
    event_set(&ch->answered);
    return 0;
}

static int on_open_failure(struct ssh_connection *c, struct ssh_channel *ch,
                           struct bytes payload)
{
    uint32_t recipient, reason;
    struct bytes text;
    if (ssh_channel_open_failure_parse(payload, &recipient, &reason, &text) < 0 || ch->is_open)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "an unexpected open failure");
    ch->is_refused = ch->has_sent_close = ch->has_peer_close = true;
    ssh_channel_end(ch);
    return 0;
}

/* -- data -- */

static int on_adjust(struct ssh_connection *c, struct ssh_channel *ch, struct bytes payload)
{
    uint32_t recipient, bytes;
    if (ssh_channel_adjust_parse(payload, &recipient, &bytes) < 0 ||
        bytes > UINT32_MAX - ch->peer_window - ch->lent)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "a window beyond 2^32");
    ch->peer_window += bytes;
    event_set(&ch->writable);
    return 0;
}

/* stderr of a command: the client keeps the beginning; to a server nobody sends any. */
static int on_extended(struct ssh_channel *ch, struct bytes data)
{
    if (ssh_connection_role(ch->connection) == SSH_CLIENT) {
        size_t room = SSH_ERRORS_MAX - ch->errors.len;
        int r = buf_append_bytes(&ch->errors, bytes_first(data, room));
        if (r < 0)
            return r;
    }
    ch->dropped += (uint32_t)data.len;
    return ssh_channel_adjust(ch);
}

/* To a server, what comes before a service was asked for is for nobody, and would stay. */
static bool has_reader(const struct ssh_channel *ch)
{
    bool has_user = ssh_connection_role(ch->connection) == SSH_CLIENT || ch->service != NULL;
    return has_user && !ch->has_peer_eof && !ch->has_peer_close && !ch->has_finished;
}

static int on_data(struct ssh_connection *c, struct ssh_channel *ch,
                   const struct ssh_packet *packet)
{
    struct ssh_channel_data m;
    if (ssh_channel_data_parse(packet->payload, &m) < 0 || m.data.len > SSH_DATA_MAX)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "malformed CHANNEL_DATA");
    if (m.data.len > ch->window)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "data beyond the window");
    ssh_channel_window_take(ch, (uint32_t)m.data.len);
    if (m.data.len == 0 || !has_reader(ch))
        return 0; /* a credit for it would invite more */
    if (m.code != 0)
        return on_extended(ch, m.data);
    int r = ssh_channel_receive(ch, m.data, packet->chunk);
    return r == 0 ? ssh_channel_wake_service(ch) : r;
}

/* -- the end of a channel -- */

static int on_eof(struct ssh_channel *ch)
{
    ch->has_peer_eof = true;
    event_set(&ch->readable);
    return ssh_channel_wake_service(ch);
}

static int on_close(struct ssh_connection *c, struct ssh_channel *ch)
{
    ch->has_peer_close = ch->has_peer_eof = true;
    ssh_channel_end(ch);
    if (ch->service == NULL || ch->has_finished)
        ch->owes_close = !ch->has_sent_close;
    int r = ssh_channel_wake_service(ch);
    return r == 0 ? ssh_connection_settle(c) : r;
}

/* -- dispatch -- */

/* The channel that a message is for. Clients answer with a channel that we have forgotten only
 * if they are wrong: both CLOSEs have passed then. */
static struct ssh_channel *find(struct ssh_connection *c, struct bytes payload)
{
    if (payload.len < 5)
        return NULL;
    uint32_t id = wire_u32(payload.data + 1);
    return id < SSH_CHANNELS_MAX ? c->slots[id] : NULL;
}

static int on_plain(struct ssh_connection *c, struct ssh_channel *ch, struct bytes payload)
{
    uint32_t recipient;
    if (ssh_channel_plain_parse(payload, &recipient) < 0)
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "a malformed %s",
                                  ssh_message_name(payload.data[0]));
    switch (payload.data[0]) {
    case SSH_MSG_CHANNEL_EOF:
        return on_eof(ch);
    case SSH_MSG_CHANNEL_CLOSE:
        return on_close(c, ch);
    case SSH_MSG_CHANNEL_FAILURE:
        ch->is_refused = true;
        break;
    default: /* CHANNEL_SUCCESS */
        break;
    }
    ch->is_answered = true;
    event_set(&ch->answered);
    return 0;
}

int ssh_connection_dispatch(struct ssh_connection *c, const struct ssh_packet *packet)
{
    struct bytes payload = packet->payload;
    uint8_t message = payload.data[0];
    switch (message) {
    case SSH_MSG_GLOBAL_REQUEST:
        return on_global_request(c, payload);
    case SSH_MSG_REQUEST_SUCCESS:
    case SSH_MSG_REQUEST_FAILURE:
        return on_global_answer(c);
    case SSH_MSG_CHANNEL_OPEN:
        return on_open(c, payload);
    default:
        break;
    }
    struct ssh_channel *ch = find(c, payload);
    bool is_reply =
        message == SSH_MSG_CHANNEL_OPEN_CONFIRMATION || message == SSH_MSG_CHANNEL_OPEN_FAILURE;
    if (ch == NULL || (!ch->is_open && !ch->owes_confirmation && !is_reply))
        return ssh_transport_fail(c->transport, -FERRY_EPROTO, "%s for no channel",
                                  ssh_message_name(message));
    switch (message) {
    case SSH_MSG_CHANNEL_OPEN_CONFIRMATION:
        return on_confirmation(c, ch, payload);
    case SSH_MSG_CHANNEL_OPEN_FAILURE:
        return on_open_failure(c, ch, payload);
    case SSH_MSG_CHANNEL_WINDOW_ADJUST:
        return on_adjust(c, ch, payload);
    case SSH_MSG_CHANNEL_DATA:
    case SSH_MSG_CHANNEL_EXTENDED_DATA:
        return on_data(c, ch, packet);
    case SSH_MSG_CHANNEL_REQUEST:
        return ssh_channel_on_request(ch, payload);
    default:
        return on_plain(c, ch, payload);
    }
}

/* -- the session task -- */

/* So much was received and not yet dropped, or is to be sent, that what was not dealt with yet
 * stays as it is: each message may have an answer. */
static bool must_stop(const struct ssh_connection *c)
{
    return ssh_connection_is_full(c) || ssh_transport_unsent(c->transport) > SSH_UNSENT_MAX;
}

static int wait_until_it_goes_on(struct ssh_connection *c)
{
    int r = event_wait(c->settings->wake, clock_after(c->transport->lower->stall_us));
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

int ssh_connection_turn(struct ssh_connection *c)
{
    struct ssh_packet packet;
    int r = ssh_connection_settle(c);
    if (r < 0)
        return r;
    ssh_connection_sweep(c); /* it may have sent the last CLOSE */
    if (must_stop(c)) {
        r = wait_until_it_goes_on(c);
        return r < 0 ? r : SSH_TURN_AGAIN;
    }
    r = ssh_transport_next(c->transport, &packet);
    if (r == SSH_NEXT_MORE)
        return SSH_TURN_NEEDS_MORE;
    if (r == SSH_NEXT_PACKET) {
        r = ssh_connection_dispatch(c, &packet);
        return r < 0 ? r : SSH_TURN_DISPATCHED;
    }
    return r < 0 ? r : SSH_TURN_AGAIN; /* the gate has opened */
}
