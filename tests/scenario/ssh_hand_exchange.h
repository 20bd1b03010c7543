/* Key exchanges and logins of a client by hand. */
#pragma once
#include "ssh/wire/key.h"
#include "ssh/wire/transport.h"
#include "ssh_by_hand.h"

/* What it offers and does in an exchange. */
struct hand_exchange {
    const char *kex; /* names between commas */
    const char *cipher;
    const char *mac;                              /* NULL: hmac-sha2-256-etm@openssh.com */
    const char *compression[SSH_DIRECTION_COUNT]; /* NULL: none */
    bool guesses;         /* first_kex_packet_follows, with an INIT that is of no use */
    bool waits;           /* for the server's KEXINIT, before it sends its own */
    struct bytes before;  /* sent before KEXINIT, or empty */
    struct bytes between; /* and before INIT */
};

static inline int hand_kexinit(struct by_hand *h, const struct hand_exchange *e,
                               struct ssh_kex *k)
{
    struct ssh_kexinit m = {.first_kex_packet_follows = e->guesses};
    m.lists[SSH_LIST_KEX] = bytes_str(e->kex);
    m.lists[SSH_LIST_HOST_KEY] = BYTES_LIT("ssh-ed25519");
    for (int i = 0; i < SSH_DIRECTION_COUNT; i++) {
        m.lists[SSH_LIST_CIPHER_TO_SERVER + i] = bytes_str(e->cipher);
        m.lists[SSH_LIST_MAC_TO_SERVER + i] =
            bytes_str(e->mac != NULL ? e->mac : "hmac-sha2-256-etm@openssh.com");
        m.lists[SSH_LIST_COMPRESSION_TO_SERVER + i] =
            bytes_str(e->compression[i] != NULL ? e->compression[i] : "none");
    }
    TASK_ASSERT(buf_reserve(&k->own_kexinit, SSH_KEXINIT_OWN_MAX) == 0);
    struct wire_writer w = wire_writer_of(k->own_kexinit.data, SSH_KEXINIT_OWN_MAX);
    ssh_kexinit_write(&w, &m);
    buf_added(&k->own_kexinit, w.len);
    return hand_say(h, buf_bytes(&k->own_kexinit));
}

static inline int hand_kex_init(struct by_hand *h, struct ssh_kex *k)
{
    uint8_t payload[16 + CRYPTO_AGREE_PUBLIC_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    TASK_ASSERT(crypto_agree_new(ssh_kex_agree(k->chosen.kex), &k->agree) == 0);
    wire_put_u8(&w, SSH_MSG_KEXDH_INIT);
    ssh_kex_put_public(&w, k->chosen.kex, crypto_agree_public(k->agree));
    return hand_say(h, bytes_of(payload, w.len));
}

/* The server's KEXINIT; in mid-transfer, what comes before it is nobody's. */
static inline int hand_hear_kexinit(struct by_hand *h, struct ssh_kex *k)
{
    int r = hand_hear(h);
    while (r > SSH_MSG_KEXDH_REPLY)
        r = hand_hear(h);
    if (r != SSH_MSG_KEXINIT)
        return r < 0 ? r : -EIO;
    return buf_append_bytes(&k->peer_kexinit, h->heard);
}

static inline int hand_reply(struct by_hand *h, struct ssh_kex *k)
{
    int r = hand_hear(h);
    if (r != SSH_MSG_KEXDH_REPLY)
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
    k->own_ident = h->ident;
    return ssh_kex_run(k);
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
    if (h->coder != NULL) /* new streams with new keys (RFC 4253 6.2) */
        hand_compress(h, coder_level(h->coder));
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
    static const uint8_t guess[] = {SSH_MSG_KEXDH_INIT, 0, 0, 0, 1, 'x'};
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
        r = hand_kex_init(h, k);
    if (r == 0)
        r = hand_reply(h, k);
    return r == 0 ? hand_newkeys(h, k) : r;
}

static inline int hand_exchange(struct by_hand *h, const struct hand_exchange *e)
{
    struct ssh_kex *k = ssh_kex_new();
    TASK_ASSERT(k != NULL);
    int r = hand_steps(h, e, k);
    ssh_kex_free(k);
    return r;
}

static const struct hand_exchange hand_usual = {
    .kex = "curve25519-sha256,ext-info-c," SSH_STRICT_CLIENT,
    .cipher = "aes128-gcm@openssh.com"};

static inline int hand_request_login(struct by_hand *h)
{
    uint8_t payload[512], blob[128], data[512], signature[128];
    struct ssh_auth_request request = {.user = BYTES_LIT("ann"),
                                       .service = BYTES_LIT("ssh-connection"),
                                       .method = SSH_AUTH_PASSWORD,
                                       .password = BYTES_LIT("right")};
    if (h->key != NULL) {
        struct wire_writer b = wire_writer_of(blob, sizeof(blob));
        struct wire_writer d = wire_writer_of(data, sizeof(data));
        struct wire_writer s = wire_writer_of(signature, sizeof(signature));
        request.method = SSH_AUTH_PUBLICKEY;
        request.has_signature = true;
        request.algorithm = BYTES_LIT("ssh-ed25519");
        ssh_key_write(&b, h->key);
        request.blob = bytes_of(blob, b.len);
        ssh_auth_signed_write(&d, bytes_of(h->session_id.bytes, h->session_id.len), &request);
        TASK_ASSERT(ssh_sign(h->key, request.algorithm, bytes_of(data, d.len), &s) == 0);
        request.signature = bytes_of(signature, s.len);
    }
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_auth_request_write(&w, &request);
    return hand_say(h, bytes_of(payload, w.len));
}

/* Up to the login, whose end is the first message that channels may follow. */
static inline int hand_log_in(struct by_hand *h)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_service_write(&w, SSH_MSG_SERVICE_REQUEST, BYTES_LIT("ssh-userauth"));
    int r = hand_say(h, bytes_of(payload, w.len));
    if (r == 0)
        r = hand_request_login(h);
    while (r >= 0 && r != SSH_MSG_USERAUTH_SUCCESS) {
        r = hand_hear(h);
        if (r > SSH_MSG_USERAUTH_SUCCESS)
            return -EIO;
    }
    return r < 0 ? r : 0;
}
