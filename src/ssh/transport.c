#include "ssh/transport.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "ssh/kex_job.h"
#include "ssh/transport_internal.h"
#include "ssh/wire/key.h"
#include "ssh/wire/transport.h"

#define IN_BYTES_FIRST   (4 * 1024) /* grows while what comes fills it */
#define IN_BYTES_MAX     (256 * 1024)
#define UNSENT_EARLY_MAX (16 * 1024)
#define PONGS_MAX        (SSH_PING_MAX + 4)
#define LAST_WORDS_MAX   256

/* -- life -- */

int ssh_transport_new(struct stream *lower, struct scope *scope,
                      const struct ssh_transport_settings *settings, struct event *wake,
                      struct ssh_transport **ret)
{
    struct ssh_transport *t = mem_new(sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->settings = settings;
    t->lower = lower;
    t->wake = wake;
    t->in_bytes = IN_BYTES_FIRST;
    event_init(&t->opened);
    event_init(&t->packed);
    buf_init(&t->host_key, SSH_KEY_BLOB_MAX);
    buf_init(&t->signature_algorithms, SSH_NAME_LIST_MAX);
    buf_init(&t->pongs, PONGS_MAX);
    buf_init(&t->last_words, LAST_WORDS_MAX);
    out_queue_init(&t->out, lower, scope, wake);
    t->out.total = ssh_transport_worker_output();
    int r = ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, true, BYTES_NONE, BYTES_NONE,
                           BYTES_NONE, &t->sealing);
    if (r == 0)
        r = ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, false, BYTES_NONE, BYTES_NONE,
                           BYTES_NONE, &t->opening);
    if (r < 0) {
        (void)ssh_transport_free(t);
        return r;
    }
    *ret = t;
    return 0;
}

struct ssh_transport *ssh_transport_free(struct ssh_transport *t)
{
    if (t == NULL)
        return NULL;
    out_queue_done(&t->out);
    ssh_transport_free_packing(t);
    ssh_kex_free(t->kex);
    ssh_cipher_free(t->sealing);
    ssh_cipher_free(t->opening);
    ssh_cipher_free(t->next_opening);
    chunk_unref(t->in);
    buf_done(&t->host_key);
    buf_done(&t->signature_algorithms);
    buf_done(&t->pongs);
    mem_free(t->peer_ident);
    mem_wipe_free(t, sizeof(*t));
    return NULL;
}

void ssh_transport_set_share(struct ssh_transport *t, struct pool_share *share)
{
    t->share = share;
}

int ssh_transport_fail(struct ssh_transport *t, int result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(t->why, sizeof(t->why), format, args);
    va_end(args);
    return result;
}

/* -- receiving -- */

/* There is room for the packet in progress, and enough of it to be worth a read. */
static bool has_room(const struct ssh_transport *t)
{
    return t->in != NULL && t->need <= t->in->size - t->start &&
           t->in->size - t->end >= t->in->size / 8;
}

/* Room behind what is there: at the front of the chunk, if nobody else looks at it, or in a new
 * one. */
static int make_room(struct ssh_transport *t)
{
    size_t have = t->end - t->start;
    size_t want = t->need > t->in_bytes ? t->need : t->in_bytes;
    bool is_alone = t->in != NULL && atomic_load(&t->in->refs) == 1;
    if (has_room(t) && (have > 0 || !is_alone))
        return 0;
    if (is_alone && t->in->size >= want) {
        memmove(t->in->data, t->in->data + t->start, have);
        t->in->used = 0; /* what was lent has come back */
    } else {
        struct chunk *c = chunk_new(want);
        if (c == NULL)
            return -ENOMEM;
        if (have > 0)
            memcpy(c->data, t->in->data + t->start, have);
        chunk_unref(t->in);
        t->in = c;
    }
    t->start = 0;
    t->end = have;
    return 0;
}

/* Before the login nobody else looks at how much a peer makes us answer: one that asks and does
 * not read is not read. */
static int wait_for_answers(struct ssh_transport *t)
{
    if (t->phase >= SSH_PHASE_RUNNING || t->out.bytes <= UNSENT_EARLY_MAX)
        return 0;
    int r = out_queue_wait(&t->out, UNSENT_EARLY_MAX, clock_after(t->lower->stall_us));
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

int ssh_transport_fill(struct ssh_transport *t)
{
    int r = wait_for_answers(t);
    if (r == 0)
        r = make_room(t);
    if (r < 0)
        return ssh_transport_fail(t, r, "%s", err_text(r));
    size_t room = t->in->size - t->end;
    ssize_t n = stream_read(t->lower, t->in->data + t->end, room);
    if (n <= 0)
        return n < 0 ? ssh_transport_fail(t, (int)n, "%s", err_text((int)n))
                     : ssh_transport_fail(t, -FERRY_ECLOSED, "the peer closed the connection");
    t->end += (size_t)n;
    t->traffic.received_bytes += (uint64_t)n;
    if ((size_t)n == room && t->in_bytes < IN_BYTES_MAX)
        t->in_bytes *= 2;
    return 0;
}

bool ssh_transport_shrink(struct ssh_transport *t)
{
    if (t->end != t->start || t->out.bytes > 0 || t->kex != NULL || t->is_packing)
        return false;
    ssh_transport_trim_packing(t);
    chunk_unref(t->in);
    t->in = NULL;
    t->start = t->end = 0;
    t->in_bytes = IN_BYTES_FIRST;
    return true;
}

static int fail_when_due(struct ssh_transport *t)
{
    if (t->end - t->start < t->need)
        return 0;
    ssh_packet_discard(t->opening, t->in->data + t->start, t->need);
    return t->failure;
}

/* What is wrong with a packet: told at once, or when it tells nobody where. */
static int refuse_packet(struct ssh_transport *t, int result, size_t max, const char *why)
{
    t->failure = ssh_transport_fail(t, result, "%s", why);
    t->need = ssh_packet_veil(t->opening, max);
    return fail_when_due(t);
}

/* 1: the next packet is whole: *ret is its payload; 0: more bytes are needed. */
static int open_packet(struct ssh_transport *t, struct bytes *ret)
{
    if (t->failure < 0)
        return fail_when_due(t);
    size_t have = t->end - t->start;
    size_t max = t->phase >= SSH_PHASE_RUNNING ? SSH_PACKET_MAX : SSH_PACKET_MAX_EARLY;
    if (t->need == 0) {
        if (have < ssh_packet_head(t->opening))
            return 0;
        int r = ssh_packet_length(t->opening, t->receive_sequence, t->in->data + t->start, max,
                                  &t->need);
        if (r < 0)
            return refuse_packet(t, r, max, "a packet of an impossible length");
    }
    if (have < t->need)
        return 0;
    int r =
        ssh_packet_open(t->opening, t->receive_sequence, t->in->data + t->start, t->need, ret);
    if (r < 0)
        return refuse_packet(t, r, max, "a packet whose tag or padding is wrong");
    t->start += t->need;
    t->received_bytes += t->need;
    t->received_packets++;
    t->receive_sequence++;
    t->need = 0;
    if (t->unpacker != NULL)
        r = ssh_transport_unpack(t, *ret, ret);
    return r < 0 ? r : 1;
}

/* -- messages of the transport itself -- */

static int on_disconnect(struct ssh_transport *t, struct bytes payload)
{
    uint32_t reason;
    struct bytes text;
    char shown[64];
    t->phase = SSH_PHASE_ENDED;
    if (ssh_disconnect_parse(payload, &reason, &text) < 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed DISCONNECT");
    (void)text_copy_printable(shown, sizeof(shown), text);
    return ssh_transport_fail(t, -FERRY_ECLOSED, "the peer ended it (%u): %s", reason, shown);
}

static int on_ext_info(struct ssh_transport *t, struct bytes payload)
{
    struct bytes value;
    if (ssh_ext_info_parse(payload, BYTES_LIT("server-sig-algs"), &value) < 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed EXT_INFO");
    buf_clear(&t->signature_algorithms);
    int r = buf_append_bytes(&t->signature_algorithms, value);
    return r == -FERRY_ELIMIT ? 0 : r; /* of no use to us then */
}

static int say_pong(struct ssh_transport *t, struct bytes data)
{
    uint8_t pong[1 + 4 + SSH_PING_MAX];
    struct wire_writer w = wire_writer_of(pong, sizeof(pong));
    wire_put_u8(&w, SSH_MSG_PONG);
    wire_put_string(&w, data);
    return ssh_transport_say(t, bytes_of(pong, w.len));
}

/* A peer that has not seen our KEXINIT yet may ask: it is answered when the gate is open again.
 * What it asks beyond the buffer is not. */
static int owe_pong(struct ssh_transport *t, struct bytes data)
{
    uint8_t len[4];
    if (4 + data.len > PONGS_MAX - t->pongs.len)
        return 0;
    wire_set_u32(len, (uint32_t)data.len);
    int r = buf_append(&t->pongs, len, sizeof(len));
    return r == 0 ? buf_append_bytes(&t->pongs, data) : r;
}

int ssh_transport_say_owed_pongs(struct ssh_transport *t)
{
    struct wire_reader owed = wire_reader_of(buf_bytes(&t->pongs));
    int r = 0;
    while (r == 0 && owed.left > 0)
        r = say_pong(t, wire_get_string(&owed, SSH_PING_MAX));
    buf_done(&t->pongs);
    return r;
}

static int on_ping(struct ssh_transport *t, struct bytes payload)
{
    struct bytes data;
    if (ssh_ping_parse(payload, &data) < 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed PING");
    return ssh_transport_is_open(t) ? say_pong(t, data) : owe_pong(t, data);
}

static int say_unimplemented(struct ssh_transport *t)
{
    uint8_t message[5] = {SSH_MSG_UNIMPLEMENTED};
    wire_set_u32(message + 1, t->receive_sequence - 1);
    int r = ssh_transport_claim(t);
    return r < 0 ? r : ssh_transport_say(t, bytes_of(message, sizeof(message)));
}

/* 1: it is for the caller. */
static int handle(struct ssh_transport *t, struct bytes payload)
{
    switch (payload.data[0]) {
    case SSH_MSG_DISCONNECT:
        return on_disconnect(t, payload);
    case SSH_MSG_EXT_INFO:
        return on_ext_info(t, payload);
    case SSH_MSG_KEXINIT:
        return ssh_kex_on_kexinit(t, payload);
    case SSH_MSG_KEXDH_INIT:
        return ssh_kex_on_dh_init(t, payload);
    case SSH_MSG_KEXDH_REPLY:
        return ssh_kex_on_dh_reply(t, payload);
    case SSH_MSG_NEWKEYS:
        return ssh_kex_on_newkeys(t, payload);
    case SSH_MSG_PING:
        return on_ping(t, payload);
    case SSH_MSG_PONG:
        return 0;
    default:
        return 1;
    }
}

/* Every message passes the table first. 1: it is for the caller. */
static int dispatch(struct ssh_transport *t, struct bytes payload)
{
    uint8_t message = payload.data[0];
    if (t->drops_next && message >= 30 && message < 50) {
        t->drops_next = false; /* the wrong guess (RFC 4253 7) */
        return 0;
    }
    switch (ssh_state_verdict(t->settings->role, t->phase, t->is_strict, message)) {
    case SSH_ACCEPT:
        return handle(t, payload);
    case SSH_IGNORE:
        return 0;
    case SSH_UNIMPLEMENTED:
        return say_unimplemented(t);
    case SSH_REFUSE:
        break;
    }
    return ssh_transport_fail(t, -FERRY_EPROTO, "message %u (%s) during %s", message,
                              ssh_message_name(message), ssh_phase_name(t->phase));
}

/* It may be closed again: a room is compressed, and what is owed is said behind it. */
static int tell_opened(struct ssh_transport *t)
{
    t->has_opened = false;
    int r = ssh_transport_is_open(t) ? ssh_transport_say_owed_pongs(t) : 0;
    return r < 0 ? r : SSH_NEXT_OPENED;
}

int ssh_transport_next(struct ssh_transport *t, struct ssh_packet *ret)
{
    for (;;) {
        if (t->out.error < 0)
            return ssh_transport_fail(t, t->out.error, "%s", err_text(t->out.error));
        if (t->has_opened)
            return tell_opened(t);
        struct bytes payload;
        int r = open_packet(t, &payload);
        if (r <= 0)
            return r < 0 ? r : SSH_NEXT_MORE;
        enum ssh_phase before = t->phase;
        r = dispatch(t, payload);
        int due = r >= 0 ? ssh_transport_rekey_if_due(t) : r;
        if (due < 0)
            return due;
        if (before < SSH_PHASE_SERVICE && t->phase == SSH_PHASE_SERVICE)
            return SSH_NEXT_OPENED; /* what came with NEWKEYS is for who comes after the start
                                     */
        if (r == 1) {
            *ret = (struct ssh_packet){payload, t->unpacker != NULL ? t->unpacked : t->in};
            return SSH_NEXT_PACKET;
        }
        if (task_turn_is_over()) /* thousands of packets without effect may be here */
            task_yield();
    }
}

/* -- what is known -- */

struct bytes ssh_transport_session_id(const struct ssh_transport *t)
{
    return bytes_of(t->session_id.bytes, t->session_id.len);
}

const struct ssh_chosen *ssh_transport_chosen(const struct ssh_transport *t)
{
    return &t->chosen;
}

const struct ssh_ident *ssh_transport_peer_ident(const struct ssh_transport *t)
{
    return t->peer_ident;
}

unsigned ssh_transport_quirks(const struct ssh_transport *t)
{
    return t->peer_ident != NULL ? ssh_ident_quirks(t->peer_ident) : 0;
}

struct bytes ssh_transport_signature_algorithms(const struct ssh_transport *t)
{
    return buf_bytes(&t->signature_algorithms);
}

struct ssh_traffic ssh_transport_traffic(const struct ssh_transport *t)
{
    return t->traffic;
}

void ssh_transport_stream_info(const struct ssh_transport *t, struct stream_info *ret)
{
    stream_info(t->lower, ret);
}

const char *ssh_transport_why(const struct ssh_transport *t)
{
    return t->why;
}

enum ssh_phase ssh_transport_phase(const struct ssh_transport *t)
{
    return t->phase;
}
