/* A client written by hand, packet by packet, which does what no client of ours would do. It
 * shares with the code under test the ciphers, the hash and the messages, whose tests have
 * published answers, and nothing of the transport. */
#pragma once
#include "base/buf.h"
#include "ssh/kex_job.h"
#include "ssh_harness.h"

struct by_hand {
    struct stream *stream;
    struct ssh_cipher *sealing, *opening;
    uint32_t sent, received; /* sequence numbers */
    bool is_strict;
    uint8_t in[300 * 1000];
    size_t held;
    struct ssh_ident server_ident;
    struct ssh_hash session_id;
    uint8_t message[300 * 1000]; /* the last that was heard */
    struct bytes heard;
};

/* What it offers and does in an exchange. */
struct hand_exchange {
    const char *kex; /* names between commas */
    const char *cipher;
    bool guesses;         /* first_kex_packet_follows, with an INIT that is of no use */
    bool waits;           /* for the server's KEXINIT, before it sends its own */
    struct bytes before;  /* sent before KEXINIT, or empty */
    struct bytes between; /* and before INIT */
};

static inline int hand_write(struct by_hand *h, struct bytes data)
{
    return stream_write_bytes(h->stream, data);
}

static inline int hand_say(struct by_hand *h, struct bytes payload)
{
    static uint8_t packet[SSH_PACKET_HEAD + SSH_PAYLOAD_MAX + SSH_PACKET_TAIL_MAX];
    size_t len;
    memset(packet, 0, SSH_PACKET_HEAD + payload.len + SSH_PACKET_TAIL_MAX);
    memcpy(packet + SSH_PACKET_HEAD, payload.data, payload.len);
    TASK_ASSERT(ssh_packet_seal(h->sealing, h->sent++, packet, payload.len, &len) == 0);
    return hand_write(h, bytes_of(packet, len));
}

static inline int hand_say_u8(struct by_hand *h, uint8_t message)
{
    return hand_say(h, bytes_of(&message, 1));
}

static inline int hand_fill(struct by_hand *h, usec_t wait_us)
{
    int r = stream_wait(h->stream, NULL, clock_after(wait_us));
    if (r < 0)
        return r;
    ssize_t n = stream_read(h->stream, h->in + h->held, sizeof(h->in) - h->held);
    if (n <= 0)
        return n < 0 ? (int)n : -FERRY_ECLOSED;
    h->held += (size_t)n;
    return 0;
}

/* The next message, in h->heard. */
static inline int hand_hear_for(struct by_hand *h, usec_t wait_us)
{
    size_t len;
    struct bytes payload;
    for (;;) {
        if (h->held >= 4) {
            TASK_ASSERT(
                ssh_packet_length(h->opening, h->received, h->in, SSH_PACKET_MAX, &len) == 0);
            if (h->held >= len)
                break;
        }
        int r = hand_fill(h, wait_us);
        if (r < 0)
            return r;
    }
    TASK_ASSERT(ssh_packet_open(h->opening, h->received++, h->in, len, &payload) == 0);
    for (size_t i = 0; i < h->in[4]; i++) /* its padding has nothing of what was in memory */
        TASK_ASSERT(payload.data[payload.len + i] == 0);
    memcpy(h->message, payload.data, payload.len);
    h->heard = bytes_of(h->message, payload.len);
    memmove(h->in, h->in + len, h->held - len);
    h->held -= len;
    return payload.len > 0 ? h->message[0] : -EIO;
}

static inline int hand_hear(struct by_hand *h)
{
    return hand_hear_for(h, STALL_US);
}

static inline int hand_ident(struct by_hand *h)
{
    size_t used;
    int r = hand_write(h, BYTES_LIT("SSH-2.0-hand\r\n"));
    while (r == 0) {
        r = ssh_ident_parse(bytes_of(h->in, h->held), &used, &h->server_ident);
        if (r != SSH_IDENT_MORE)
            break;
        r = hand_fill(h, STALL_US);
    }
    if (r != SSH_IDENT_FOUND)
        return r < 0 ? r : -EIO;
    memmove(h->in, h->in + used, h->held - used);
    h->held -= used;
    return 0;
}

static inline int hand_kexinit(struct by_hand *h, const struct hand_exchange *e,
                               struct ssh_kex *k)
{
    struct ssh_kexinit m = {.first_kex_packet_follows = e->guesses};
    m.lists[SSH_LIST_KEX] = bytes_str(e->kex);
    m.lists[SSH_LIST_HOST_KEY] = BYTES_LIT("ssh-ed25519");
    for (int i = 0; i < SSH_DIRECTION_COUNT; i++) {
        m.lists[SSH_LIST_CIPHER_TO_SERVER + i] = bytes_str(e->cipher);
        m.lists[SSH_LIST_MAC_TO_SERVER + i] = BYTES_LIT("hmac-sha2-256-etm@openssh.com");
        m.lists[SSH_LIST_COMPRESSION_TO_SERVER + i] = BYTES_LIT("none");
    }
    TASK_ASSERT(buf_reserve(&k->own_kexinit, SSH_KEXINIT_OWN_MAX) == 0);
    struct wire_writer w = wire_writer_of(k->own_kexinit.data, SSH_KEXINIT_OWN_MAX);
    ssh_kexinit_write(&w, &m);
    buf_added(&k->own_kexinit, w.len);
    return hand_say(h, buf_bytes(&k->own_kexinit));
}

static inline int hand_init(struct by_hand *h, struct ssh_kex *k)
{
    uint8_t payload[600];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    TASK_ASSERT(crypto_agree_new(ssh_kex_agree(k->chosen.kex), &k->agree) == 0);
    wire_put_u8(&w, SSH_MSG_KEX_INIT);
    ssh_kex_put_public(&w, k->chosen.kex, crypto_agree_public(k->agree));
    return hand_say(h, bytes_of(payload, w.len));
}

/* The server's KEXINIT; in mid-transfer, what comes before it is nobody's. */
static inline int hand_hear_kexinit(struct by_hand *h, struct ssh_kex *k)
{
    int r = hand_hear(h);
    while (r > SSH_MSG_KEX_REPLY)
        r = hand_hear(h);
    if (r != SSH_MSG_KEXINIT)
        return r < 0 ? r : -EIO;
    return buf_append_bytes(&k->peer_kexinit, h->heard);
}

static inline int hand_reply(struct by_hand *h, struct ssh_kex *k)
{
    int r = hand_hear(h);
    if (r != SSH_MSG_KEX_REPLY)
        return r < 0 ? r : -EIO;
    struct wire_reader in = wire_reader_of(bytes_skip(h->heard, 1));
    struct bytes key = wire_get_string(&in, SSH_KEY_BLOB_MAX);
    struct bytes public = ssh_kex_get_public(&in, k->chosen.kex);
    struct bytes signature = wire_get_string(&in, SSH_SIGNATURE_BLOB_MAX);
    TASK_ASSERT(wire_read_end(&in) == 0);
    TASK_ASSERT(buf_append_bytes(&k->host_key, key) == 0);
    TASK_ASSERT(buf_append_bytes(&k->peer_public, public) == 0);
    TASK_ASSERT(buf_append_bytes(&k->signature, signature) == 0);
    k->step = SSH_KEX_CHECK;
    k->role = SSH_CLIENT;
    k->peer_ident = h->server_ident;
    k->session_id = h->session_id;
    k->own_ident = BYTES_LIT("SSH-2.0-hand");
    ssh_kex_job_run(&k->job);
    return k->result;
}

static inline int hand_newkeys(struct by_hand *h, struct ssh_kex *k)
{
    int r = hand_say_u8(h, SSH_MSG_NEWKEYS);
    if (r == 0)
        r = hand_hear(h);
    if (r != SSH_MSG_NEWKEYS)
        return r < 0 ? r : -EIO;
    ssh_cipher_free(h->sealing);
    ssh_cipher_free(h->opening);
    h->sealing = k->sealing;
    h->opening = k->opening;
    k->sealing = k->opening = NULL;
    if (h->session_id.len == 0)
        h->session_id = k->hash;
    if (h->is_strict)
        h->sent = h->received = 0;
    return 0;
}

static inline int hand_choose(struct by_hand *h, struct ssh_kex *k)
{
    struct ssh_kexinit own, peer;
    enum ssh_list missing;
    TASK_ASSERT(ssh_kexinit_parse(buf_bytes(&k->own_kexinit), &own) == 0);
    TASK_ASSERT(ssh_kexinit_parse(buf_bytes(&k->peer_kexinit), &peer) == 0);
    if (h->session_id.len == 0)
        h->is_strict = ssh_list_has(own.lists[SSH_LIST_KEX], BYTES_LIT(SSH_STRICT_CLIENT));
    return ssh_choose(&own, &peer, SSH_SERVER, &k->chosen, &missing);
}

static inline int hand_steps(struct by_hand *h, const struct hand_exchange *e,
                             struct ssh_kex *k)
{
    static const uint8_t guess[] = {SSH_MSG_KEX_INIT, 0, 0, 0, 1, 'x'};
    int r = e->waits ? hand_hear_kexinit(h, k) : 0;
    if (r == 0 && e->before.len > 0)
        r = hand_say(h, e->before);
    if (r == 0)
        r = hand_kexinit(h, e, k);
    if (r == 0 && e->guesses)
        r = hand_say(h, bytes_of(guess, sizeof(guess)));
    if (r == 0 && !e->waits)
        r = hand_hear_kexinit(h, k);
    if (r == 0)
        r = hand_choose(h, k);
    if (r == 0 && e->between.len > 0)
        r = hand_say(h, e->between);
    if (r == 0)
        r = hand_init(h, k);
    if (r == 0)
        r = hand_reply(h, k);
    return r == 0 ? hand_newkeys(h, k) : r;
}

static inline int hand_exchange(struct by_hand *h, const struct hand_exchange *e)
{
    struct ssh_kex *k = ssh_kex_job_new();
    TASK_ASSERT(k != NULL);
    int r = hand_steps(h, e, k);
    ssh_kex_free(k);
    return r;
}

static const struct hand_exchange hand_usual = {
    .kex = "curve25519-sha256,ext-info-c," SSH_STRICT_CLIENT,
    .cipher = "aes128-gcm@openssh.com"};

/* Up to the login, whose end is the first message that channels may follow. */
static inline int hand_log_in(struct by_hand *h)
{
    uint8_t payload[128];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_service_write(&w, SSH_MSG_SERVICE_REQUEST, BYTES_LIT("ssh-userauth"));
    int r = hand_say(h, bytes_of(payload, w.len));
    const struct ssh_auth_request request = {.user = BYTES_LIT("ann"),
                                             .service = BYTES_LIT("ssh-connection"),
                                             .method = SSH_AUTH_NONE};
    w = wire_writer_of(payload, sizeof(payload));
    ssh_auth_request_write(&w, &request);
    if (r == 0)
        r = hand_say(h, bytes_of(payload, w.len));
    while (r >= 0 && r != SSH_MSG_USERAUTH_SUCCESS) {
        r = hand_hear(h);
        if (r > SSH_MSG_USERAUTH_SUCCESS)
            return -EIO;
    }
    return r < 0 ? r : 0;
}

/* -- the whole: a server of ours, and a function that is the client -- */

struct hand_link {
    int (*client)(struct by_hand *);
    uint64_t seed, rekey_bytes;
    struct ssh_offer_settings offers;
    struct test_server server;
    int result;
};

static inline void hand_main(void *arg)
{
    struct hand_link *l = arg;
    static struct by_hand h;
    struct ssh_offer *offer = NULL;
    struct scope scope;
    struct stream *server_end_of = NULL;
    h.held = 0;
    h.sent = h.received = 0;
    h.is_strict = false;
    h.session_id.len = 0;
    scope_init(&scope);
    TASK_ASSERT(memory_pair_new(LINK_BYTES, l->seed, &h.stream, &server_end_of) == 0);
    h.stream->stall_us = 2 * STALL_US;
    TASK_ASSERT(ssh_offer_new(SSH_SERVER, &l->offers, &offer) == 0);
    TASK_ASSERT(ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, true, BYTES_NONE, BYTES_NONE,
                               BYTES_NONE, &h.sealing) == 0);
    TASK_ASSERT(ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, false, BYTES_NONE, BYTES_NONE,
                               BYTES_NONE, &h.opening) == 0);
    l->server.stream = server_end_of;
    l->server.transport_settings = (struct ssh_transport_settings){
        .role = SSH_SERVER,
        .offer = offer,
        .host_keys = test_host_keys(),
        .rekey_bytes = l->rekey_bytes,
    };
    TASK_ASSERT(scope_start(&scope, "server", TASK_NORMAL, server_main, &l->server, NULL) == 0);
    l->result = l->client(&h);
    h.stream = stream_free(h.stream);
    (void)(scope_wait(&scope, USEC_NEVER) < 0);
    scope_leave(&scope);
    h.sealing = ssh_cipher_free(h.sealing);
    h.opening = ssh_cipher_free(h.opening);
    ssh_offer_free(offer);
}

static inline struct hand_link hand_run(int (*client)(struct by_hand *), uint64_t rekey_bytes)
{
    static struct hand_link l;
    l = (struct hand_link){.client = client, .rekey_bytes = rekey_bytes};
    run_deterministic(1, hand_main, &l);
    return l;
}
