#include "ssh/wire/packet_internal.h"

/* -- none -- */

static int none_set_up(struct ssh_cipher *c, bool for_sealing, struct bytes iv,
                       struct bytes key)
{
    (void)c;
    (void)for_sealing;
    (void)iv;
    (void)key;
    return 0;
}

static int none_apply(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    (void)c;
    (void)sequence;
    (void)packet;
    (void)len;
    return 0;
}

static void none_free(struct ssh_cipher *c)
{
    (void)c;
}

const struct ssh_family ssh_family_none = {
    .block = 8,
    .head = SSH_LENGTH_BYTES,
    .is_length_padded = true,
    .bytes_max = UINT64_MAX,
    .set_up = none_set_up,
    .seal = none_apply,
    .open = none_apply,
    .free = none_free,
};

/* -- AES-GCM: the length in clear is its additional data (RFC 5647 7.2) -- */

static int gcm_set_up(struct ssh_cipher *c, bool for_sealing, struct bytes iv, struct bytes key)
{
    memcpy(c->nonce, iv.data, sizeof(c->nonce));
    return crypto_gcm_new(key, for_sealing, &c->gcm);
}

/* Four fixed bytes, then a counter of eight (RFC 5647 7.1). */
static void count_invocation(uint8_t nonce[CRYPTO_NONCE_BYTES])
{
    size_t i = CRYPTO_NONCE_BYTES;
    while (i > 4 && ++nonce[--i] == 0)
        ;
}

static int gcm_seal(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    (void)sequence;
    int rc = crypto_gcm_seal(c->gcm, c->nonce, bytes_of(packet, SSH_LENGTH_BYTES),
                             packet + SSH_LENGTH_BYTES, len - SSH_LENGTH_BYTES, packet + len);
    count_invocation(c->nonce);
    return rc;
}

static int gcm_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    (void)sequence;
    int rc = crypto_gcm_open(c->gcm, c->nonce, bytes_of(packet, SSH_LENGTH_BYTES),
                             packet + SSH_LENGTH_BYTES, len - SSH_LENGTH_BYTES, packet + len);
    count_invocation(c->nonce);
    return rc;
}

static void gcm_free(struct ssh_cipher *c)
{
    crypto_gcm_free(c->gcm);
}

const struct ssh_family ssh_family_gcm = {
    .block = SSH_AES_BLOCK,
    .head = SSH_LENGTH_BYTES,
    .tag_len = CRYPTO_TAG_BYTES,
    .bytes_max = UINT64_C(1) << 36, /* 2^32 blocks */
    .set_up = gcm_set_up,
    .seal = gcm_seal,
    .open = gcm_open,
    .free = gcm_free,
};

/* -- chacha20-poly1305@openssh.com: the sequence number is its nonce -- */

static int chacha_set_up(struct ssh_cipher *c, bool for_sealing, struct bytes iv,
                         struct bytes key)
{
    (void)for_sealing;
    (void)iv;
    return crypto_chacha_new(key, &c->chacha);
}

static int chacha_read_length(struct ssh_cipher *c, uint32_t sequence, const uint8_t *head,
                              uint8_t ret[SSH_LENGTH_BYTES])
{
    return crypto_chacha_length(c->chacha, sequence, head, ret);
}

static int chacha_seal(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    return crypto_chacha_seal(c->chacha, sequence, packet, len, packet + len);
}

static int chacha_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    return crypto_chacha_open(c->chacha, sequence, packet, len, packet + len);
}

static void chacha_free(struct ssh_cipher *c)
{
    crypto_chacha_free(c->chacha);
}

const struct ssh_family ssh_family_chacha = {
    .block = 8,
    .head = SSH_LENGTH_BYTES,
    .tag_len = CRYPTO_TAG_BYTES,
    .bytes_max = UINT64_C(1) << 30,
    .set_up = chacha_set_up,
    .read_length = chacha_read_length,
    .seal = chacha_seal,
    .open = chacha_open,
    .free = chacha_free,
};
