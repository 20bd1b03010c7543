#include "base/err.h"
#include "base/secret.h"
#include "base/wire.h"
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

/* -- AES-CTR, then a MAC over the sequence number and what is sent (etm) -- */

static int ctr_set_up(struct ssh_cipher *c, bool for_sealing, struct bytes iv, struct bytes key)
{
    (void)for_sealing;
    return crypto_ctr_new(key, iv.data, &c->ctr);
}

static int compute_mac(struct ssh_cipher *c, uint32_t sequence, const uint8_t *packet,
                       size_t len, uint8_t ret[CRYPTO_DIGEST_MAX])
{
    uint8_t number[4];
    wire_set_u32(number, sequence);
    const struct bytes parts[] = {bytes_of(number, sizeof(number)), bytes_of(packet, len)};
    return crypto_hmac(c->mac, parts, ARRAY_LEN(parts), ret);
}

static int check_mac(struct ssh_cipher *c, uint32_t sequence, const uint8_t *packet, size_t len,
                     const uint8_t *mac)
{
    uint8_t right[CRYPTO_DIGEST_MAX];
    int rc = compute_mac(c, sequence, packet, len, right);
    if (rc < 0)
        return rc;
    return secret_equal(bytes_of(right, c->tag_len), bytes_of(mac, c->tag_len)) ? 0
                                                                                : -FERRY_EPROTO;
}

static int ctr_seal(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    uint8_t mac[CRYPTO_DIGEST_MAX];
    int rc = crypto_ctr_apply(c->ctr, packet + SSH_LENGTH_BYTES, len - SSH_LENGTH_BYTES);
    if (rc == 0)
        rc = compute_mac(c, sequence, packet, len, mac);
    if (rc == 0)
        memcpy(packet + len, mac, c->tag_len);
    return rc;
}

static int ctr_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    int rc = check_mac(c, sequence, packet, len, packet + len);
    return rc < 0 ? rc
                  : crypto_ctr_apply(c->ctr, packet + SSH_LENGTH_BYTES, len - SSH_LENGTH_BYTES);
}

static void ctr_free(struct ssh_cipher *c)
{
    crypto_ctr_free(c->ctr);
}

const struct ssh_family ssh_family_ctr = {
    .block = SSH_AES_BLOCK,
    .head = SSH_LENGTH_BYTES,
    .has_mac = true,
    .bytes_max = UINT64_C(1) << 36,
    .set_up = ctr_set_up,
    .seal = ctr_seal,
    .open = ctr_open,
    .free = ctr_free,
};

/* -- AES-CTR over all of a packet, and a MAC over it in clear (RFC 4253 6.4) -- */

static int decrypt_first(struct ssh_cipher *c, const uint8_t *packet)
{
    if (c->has_first)
        return 0;
    memcpy(c->first, packet, SSH_AES_BLOCK);
    c->has_first = true;
    return crypto_ctr_apply(c->ctr, c->first, SSH_AES_BLOCK);
}

static int clear_mac_read_length(struct ssh_cipher *c, uint32_t sequence, const uint8_t *head,
                                 uint8_t ret[SSH_LENGTH_BYTES])
{
    (void)sequence;
    int rc = decrypt_first(c, head);
    if (rc == 0)
        memcpy(ret, c->first, SSH_LENGTH_BYTES);
    return rc;
}

static int clear_mac_seal(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    uint8_t mac[CRYPTO_DIGEST_MAX];
    int rc = compute_mac(c, sequence, packet, len, mac);
    if (rc == 0)
        rc = crypto_ctr_apply(c->ctr, packet, len);
    if (rc == 0)
        memcpy(packet + len, mac, c->tag_len);
    return rc;
}

static int clear_mac_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    int rc = decrypt_first(c, packet);
    memcpy(packet, c->first, SSH_AES_BLOCK);
    if (rc == 0)
        rc = crypto_ctr_apply(c->ctr, packet + SSH_AES_BLOCK, len - SSH_AES_BLOCK);
    if (rc == 0)
        rc = check_mac(c, sequence, packet, len, packet + len);
    if (rc < 0)
        memset(packet, 0, len); /* nobody shall see what no MAC speaks for */
    c->has_first = false;
    return rc;
}

const struct ssh_family ssh_family_ctr_clear_mac = {
    .block = SSH_AES_BLOCK,
    .head = SSH_AES_BLOCK,
    .is_length_padded = true,
    .has_mac = true,
    .bytes_max = UINT64_C(1) << 36,
    .set_up = ctr_set_up,
    .read_length = clear_mac_read_length,
    .seal = clear_mac_seal,
    .open = clear_mac_open,
    .free = ctr_free,
};
