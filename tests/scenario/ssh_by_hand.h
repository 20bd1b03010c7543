/* A client written by hand, packet by packet, which does what no client of ours would do. It
 * shares with the code under test the ciphers, the hash and the messages, whose tests have
 * published answers, and nothing of the transport. */
#pragma once
#include "base/buf.h"
#include "codec/codec.h"
#include "ssh/kex_job.h"
#include "ssh/wire/packet.h"
#include "ssh_test_server.h"

struct by_hand {
    struct stream *stream;
    struct crypto_key *key; /* logs in with it; NULL: with a password */
    struct ssh_cipher *sealing, *opening;
    struct coder *coder; /* of what is said and heard from now on; NULL: as it is */
    struct decoder *decoder;
    struct buf packed;
    uint32_t sent, received; /* sequence numbers */
    bool is_strict;
    uint8_t out[SSH_PACKET_HEAD + SSH_PAYLOAD_MAX + SSH_PACKET_TAIL_MAX];
    uint8_t in[300 * 1000];
    size_t held;
    struct bytes ident; /* without CR LF; empty: "SSH-2.0-hand" */
    struct ssh_ident server_ident;
    struct ssh_hash session_id;
    uint8_t message[300 * 1000]; /* the last that was heard */
    struct bytes heard;
};

static inline void hand_init(struct by_hand *h)
{
    h->key = NULL;
    h->held = 0;
    h->sent = h->received = 0;
    h->is_strict = false;
    h->session_id.len = 0;
    h->coder = NULL;
    h->decoder = NULL;
    buf_init(&h->packed, SSH_PAYLOAD_MAX);
    TASK_ASSERT(ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, true, BYTES_NONE, BYTES_NONE,
                               BYTES_NONE, &h->sealing) == 0);
    TASK_ASSERT(ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, false, BYTES_NONE, BYTES_NONE,
                               BYTES_NONE, &h->opening) == 0);
}

static inline void hand_done(struct by_hand *h)
{
    h->stream = stream_free(h->stream);
    h->sealing = ssh_cipher_free(h->sealing);
    h->opening = ssh_cipher_free(h->opening);
    h->coder = coder_free(h->coder);
    h->decoder = decoder_free(h->decoder);
    buf_done(&h->packed);
}

static inline int hand_write(struct by_hand *h, struct bytes data)
{
    return stream_write_bytes(h->stream, data);
}

/* From now on, both ways. */
static inline void hand_compress(struct by_hand *h, int level)
{
    const struct decoder_limits limits = {0};
    h->coder = coder_free(h->coder);
    h->decoder = decoder_free(h->decoder);
    TASK_ASSERT(coder_new(CODEC_ZLIB, level, &h->coder) == 0);
    TASK_ASSERT(decoder_new(CODEC_ZLIB, &limits, &h->decoder) == 0);
}

static inline void hand_pack(struct by_hand *h, struct bytes payload)
{
    while (payload.len > 0) {
        struct bytes part = bytes_first(payload, CODEC_STEP_BYTES);
        payload = bytes_skip(payload, part.len);
        TASK_ASSERT(coder_step(h->coder, part, payload.len > 0 ? CODER_MORE : CODER_SYNC,
                               &h->packed) == 0);
    }
}

static inline struct bytes hand_unpack(struct by_hand *h, struct bytes packed)
{
    size_t len;
    TASK_ASSERT(decoder_step(h->decoder, &packed, h->message, sizeof(h->message), &len) == 0);
    TASK_ASSERT(packed.len == 0 && len < sizeof(h->message));
    return bytes_of(h->message, len);
}

/* As it is. */
static inline int hand_say_raw(struct by_hand *h, struct bytes payload)
{
    uint8_t *packet = h->out;
    size_t len;
    memset(packet, 0, SSH_PACKET_HEAD + payload.len + SSH_PACKET_TAIL_MAX);
    memcpy(packet + SSH_PACKET_HEAD, payload.data, payload.len);
    TASK_ASSERT(ssh_packet_seal(h->sealing, h->sent++, packet, payload.len, &len) == 0);
    return hand_write(h, bytes_of(packet, len));
}

static inline int hand_say(struct by_hand *h, struct bytes payload)
{
    if (h->coder == NULL)
        return hand_say_raw(h, payload);
    buf_clear(&h->packed);
    hand_pack(h, payload);
    return hand_say_raw(h, buf_bytes(&h->packed));
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
        if (h->held >= ssh_packet_head(h->opening)) {
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
    if (h->decoder != NULL) {
        h->heard = hand_unpack(h, payload);
    } else {
        memcpy(h->message, payload.data, payload.len);
        h->heard = bytes_of(h->message, payload.len);
    }
    memmove(h->in, h->in + len, h->held - len);
    h->held -= len;
    return h->heard.len > 0 ? h->message[0] : -EIO;
}

static inline int hand_hear(struct by_hand *h)
{
    return hand_hear_for(h, STALL_US);
}

static inline int hand_ident(struct by_hand *h)
{
    size_t used;
    if (h->ident.len == 0)
        h->ident = BYTES_LIT("SSH-2.0-hand");
    int r = hand_write(h, h->ident);
    if (r == 0)
        r = hand_write(h, BYTES_LIT("\r\n"));
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
