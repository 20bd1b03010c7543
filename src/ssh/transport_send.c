#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "ssh/transport_internal.h"
#include "ssh/wire/transport.h"

#define SMALL_PAYLOAD 1024 /* sealed on the stack */
/* One key and one sequence number are never used twice: 2^31 packets leave time for an exchange
 * before 2^32 (RFC 4344 3.1). */
#define PACKETS_MAX (UINT64_C(1) << 31)
#define PACKETS_END (UINT64_C(1) << 32)
#define LEAVE_TEXT  128

static _Thread_local size_t worker_output;

size_t *ssh_transport_worker_output(void)
{
    return &worker_output;
}

/* -- sealing -- */

int ssh_transport_seal(struct ssh_transport *t, uint8_t *packet, size_t payload_len,
                       size_t *ret_len)
{
    if (t->sent_packets >= PACKETS_END - 1)
        return ssh_transport_fail(t, -FERRY_EPROTO, "the peer does not want new keys");
    int r = ssh_packet_seal(t->sealing, t->send_sequence, packet, payload_len, ret_len);
    if (r < 0) { /* the peer would miss its number */
        out_queue_break(&t->out, r);
        return ssh_transport_fail(t, r, "a packet could not be sealed");
    }
    t->send_sequence++;
    t->sent_packets++;
    t->sent_bytes += *ret_len;
    t->traffic.sent_bytes += *ret_len;
    return 0;
}

static bool may_pass(const struct ssh_transport *t, uint8_t message)
{
    if (ssh_transport_is_open(t))
        return true;
    return !t->is_packing && message < 50 && message != SSH_MSG_SERVICE_REQUEST &&
           message != SSH_MSG_SERVICE_ACCEPT && message != SSH_MSG_EXT_INFO;
}

/* A mistake of ours. What would go is sealed with keys that are over, or is not part of the
 * stream that is being compressed: the connection ends before it. */
static int fail_out_of_turn(struct ssh_transport *t)
{
    out_queue_break(&t->out, -EINVAL);
    return ssh_transport_fail(t, -EINVAL, "a message out of its turn");
}

static int say_small(struct ssh_transport *t, struct bytes payload)
{
    uint8_t packet[SSH_PACKET_HEAD + SMALL_PAYLOAD + SSH_PACKET_TAIL_MAX];
    size_t tail = ssh_packet_tail(t->sealing, payload.len), len = 0;
    memcpy(packet + SSH_PACKET_HEAD, payload.data, payload.len);
    memset(packet + SSH_PACKET_HEAD + payload.len, 0, tail);
    int r = ssh_transport_seal(t, packet, payload.len, &len);
    return r == 0 ? out_queue_add_bytes(&t->out, bytes_of(packet, len)) : r;
}

static int say_large(struct ssh_transport *t, struct bytes payload)
{
    size_t tail = ssh_packet_tail(t->sealing, payload.len);
    struct chunk *c = chunk_new(SSH_PACKET_HEAD + payload.len + tail);
    if (c == NULL)
        return -ENOMEM;
    assert(c->size >= SSH_PACKET_HEAD + payload.len + tail);
    memcpy(c->data + SSH_PACKET_HEAD, payload.data, payload.len);
    memset(c->data + SSH_PACKET_HEAD + payload.len, 0, tail);
    int r = ssh_transport_seal(t, c->data, payload.len, &c->pieces[0].iov_len);
    if (r < 0) {
        chunk_unref(c);
        return r;
    }
    c->pieces[0].iov_base = c->data;
    return out_queue_add(&t->out, c, c->pieces, 1);
}

int ssh_transport_say(struct ssh_transport *t, struct bytes payload)
{
    if (!may_pass(t, payload.data[0]))
        return fail_out_of_turn(t);
    int r = t->packer != NULL ? ssh_transport_pack(t, payload, &payload) : 0;
    if (r == 0)
        r = payload.len <= SMALL_PAYLOAD ? say_small(t, payload) : say_large(t, payload);
    if (r == 0)
        r = out_queue_push(&t->out);
    return r == 0 ? ssh_transport_rekey_if_due(t) : r;
}

int ssh_transport_say_written(struct ssh_transport *t, const struct wire_writer *w)
{
    int r = wire_write_end(w);
    return r == 0 ? ssh_transport_say(t, bytes_of(w->data, w->len)) : r;
}

int ssh_transport_send(struct ssh_transport *t, struct chunk *c, struct iovec *pieces,
                       unsigned count)
{
    if (!ssh_transport_is_open(t)) {
        chunk_unref(c);
        return fail_out_of_turn(t);
    }
    if (t->packer != NULL)
        return ssh_transport_send_packed(t, c, pieces, count);
    int r = 0;
    for (unsigned i = 0; i < count && r == 0; i++) {
        uint8_t *packet = (uint8_t *)pieces[i].iov_base - SSH_PACKET_HEAD;
        size_t len = pieces[i].iov_len;
        memset(packet + SSH_PACKET_HEAD + len, 0, ssh_packet_tail(t->sealing, len));
        r = ssh_transport_seal(t, packet, len, &pieces[i].iov_len);
        pieces[i].iov_base = packet;
    }
    if (r < 0) {
        chunk_unref(c);
        return r;
    }
    r = out_queue_add(&t->out, c, pieces, count);
    if (r == 0)
        r = out_queue_push(&t->out);
    return r == 0 ? ssh_transport_rekey_if_due(t) : r;
}

/* -- waiting -- */

bool ssh_transport_is_open(const struct ssh_transport *t)
{
    return t->is_open && !t->is_packing && !t->is_claimed;
}

void ssh_transport_set_settle(struct ssh_transport *t, int (*settle)(void *), void *arg)
{
    t->settle = settle;
    t->settle_arg = arg;
}

bool ssh_transport_is_awaited(const struct ssh_transport *t)
{
    return t->waiting > 0 && !t->is_open;
}

void ssh_transport_read_on(struct ssh_transport *t)
{
    if (ssh_transport_is_awaited(t) && t->wake != NULL)
        event_set(t->wake);
}

static int wait_for_gate(struct ssh_transport *t, usec_t deadline)
{
    t->waiting++;
    ssh_transport_read_on(t);
    event_clear(&t->opened);
    int r = event_wait(&t->opened, deadline);
    t->waiting--;
    return r;
}

int ssh_transport_gate(struct ssh_transport *t, usec_t deadline)
{
    for (;;) {
        if (t->out.error < 0)
            return t->out.error;
        if (t->has_ended || t->phase == SSH_PHASE_ENDED)
            return -FERRY_ECLOSED;
        if (ssh_transport_is_open(t))
            return 0;
        int r = wait_for_gate(t, deadline);
        if (r < 0)
            return r;
    }
}

void ssh_transport_end_waits(struct ssh_transport *t)
{
    t->has_ended = true;
    event_set(&t->opened);
}

size_t ssh_transport_unsent(const struct ssh_transport *t)
{
    return out_queue_bytes(&t->out);
}

int ssh_transport_drain(struct ssh_transport *t, size_t at_most, usec_t deadline)
{
    while (t->is_packing && t->out.error == 0) {
        event_clear(&t->packed);
        int r = event_wait(&t->packed, deadline);
        if (r < 0)
            return r;
    }
    return out_queue_wait(&t->out, at_most, deadline);
}

/* -- new keys -- */

static uint64_t bytes_max(const struct ssh_transport *t)
{
    uint64_t by_cipher = ssh_cipher_bytes_max(t->sealing);
    if (ssh_cipher_bytes_max(t->opening) < by_cipher)
        by_cipher = ssh_cipher_bytes_max(t->opening);
    uint64_t wanted = t->settings->rekey_bytes;
    return wanted != 0 && wanted < by_cipher ? wanted : by_cipher;
}

static bool is_due(const struct ssh_transport *t)
{
    uint64_t bytes = bytes_max(t);
    uint64_t packets = PACKETS_MAX;
    if (t->settings->rekey_packets != 0 && t->settings->rekey_packets < packets)
        packets = t->settings->rekey_packets;
    if (t->wants_keys || t->sent_bytes >= bytes || t->received_bytes >= bytes ||
        t->sent_packets >= packets || t->received_packets >= packets)
        return true;
    return t->settings->rekey_us != 0 && clock_now() - t->keys_at >= t->settings->rekey_us;
}

int ssh_transport_rekey(struct ssh_transport *t)
{
    if (t->phase != SSH_PHASE_RUNNING || t->kex != NULL)
        return 0;
    t->wants_keys = t->is_packing; /* then behind that room */
    if (t->is_packing)
        return 0;
    int r = ssh_kex_begin(t, NULL);
    if (r < 0) /* whoever sealed last hears of it, and all others: the gate may stay closed */
        out_queue_break(&t->out, r);
    return r;
}

int ssh_transport_rekey_if_due(struct ssh_transport *t)
{
    return is_due(t) ? ssh_transport_rekey(t) : 0;
}

/* -- phases, and the end -- */

void ssh_transport_service_accepted(struct ssh_transport *t)
{
    assert(t->phase == SSH_PHASE_SERVICE);
    t->phase = SSH_PHASE_AUTH;
}

int ssh_transport_auth_succeeded(struct ssh_transport *t)
{
    assert(t->phase == SSH_PHASE_AUTH);
    t->phase = SSH_PHASE_RUNNING;
    int r = ssh_transport_start_packing(t, &t->chosen);
    return r == 0 ? ssh_transport_start_unpacking(t, &t->chosen) : r;
}

void ssh_transport_leave(struct ssh_transport *t, enum ssh_disconnect reason, const char *text)
{
    uint8_t payload[64 + LEAVE_TEXT];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_disconnect_write(&w, reason, bytes_first(bytes_str(text), LEAVE_TEXT));
    bool is_over = t->phase == SSH_PHASE_ENDED;
    t->phase = SSH_PHASE_ENDED; /* first: no new keys after the last word */
    if (!is_over)               /* it ends, whether this goes or not */
        (void)((t->is_packing ? buf_append(&t->last_words, payload, w.len)
                              : ssh_transport_say_written(t, &w)) < 0);
    ssh_transport_end_waits(t);
}
