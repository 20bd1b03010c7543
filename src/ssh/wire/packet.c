#include "ssh/wire/packet.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/wire.h"
#include "crypto/cipher.h"
#include "crypto/digest.h"

#define LENGTH_BYTES  4
#define PADDING_MIN   4
#define COUNTER_BYTES 16
#define AES_BLOCK     16

struct ssh_cipher {
    enum ssh_cipher_kind kind;
    const struct family *family;
    size_t tag_len;

    union {
        struct crypto_gcm *gcm;
        struct crypto_chacha *chacha;
        struct crypto_ctr *ctr;
    };

    uint8_t nonce[CRYPTO_NONCE_BYTES]; /* GCM's next */
    struct crypto_hmac *mac;           /* of CTR */

    /* Where the length is encrypted with the packet: its first block in clear, from when the
     * length is asked for until the packet is opened. A running key stream decrypts it once. */
    uint8_t first[AES_BLOCK];
    bool has_first;
};

/* What ciphers that are used in one way have in common. `packet` begins with the length field,
 * and len counts it, but not the tag, which follows. */
struct family {
    size_t block; /* what is padded is a multiple of it */
    size_t head;  /* bytes that tell the length */
    size_t tag_len;
    bool is_length_padded; /* the length field counts in that */
    bool has_mac;          /* a MAC of its own choosing, instead of a tag */
    uint64_t bytes_max;
    int (*set_up)(struct ssh_cipher *, bool for_sealing, struct bytes iv, struct bytes key);
    /* The length field in clear; NULL: it is not encrypted. */
    int (*read_length)(struct ssh_cipher *, uint32_t sequence, const uint8_t *head,
                       uint8_t ret[LENGTH_BYTES]);
    int (*seal)(struct ssh_cipher *, uint32_t sequence, uint8_t *packet, size_t len);
    int (*open)(struct ssh_cipher *, uint32_t sequence, uint8_t *packet, size_t len);
    void (*free)(struct ssh_cipher *);
};

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

static const struct family family_none = {
    .block = 8,
    .head = LENGTH_BYTES,
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
    int rc = crypto_gcm_seal(c->gcm, c->nonce, bytes_of(packet, LENGTH_BYTES),
                             packet + LENGTH_BYTES, len - LENGTH_BYTES, packet + len);
    count_invocation(c->nonce);
    return rc;
}

static int gcm_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    (void)sequence;
    int rc = crypto_gcm_open(c->gcm, c->nonce, bytes_of(packet, LENGTH_BYTES),
                             packet + LENGTH_BYTES, len - LENGTH_BYTES, packet + len);
    count_invocation(c->nonce);
    return rc;
}

static void gcm_free(struct ssh_cipher *c)
{
    crypto_gcm_free(c->gcm);
}

static const struct family family_gcm = {
    .block = AES_BLOCK,
    .head = LENGTH_BYTES,
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
                              uint8_t ret[LENGTH_BYTES])
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

static const struct family family_chacha = {
    .block = 8,
    .head = LENGTH_BYTES,
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
    int rc = crypto_ctr_apply(c->ctr, packet + LENGTH_BYTES, len - LENGTH_BYTES);
    if (rc == 0)
        rc = compute_mac(c, sequence, packet, len, mac);
    if (rc == 0)
        memcpy(packet + len, mac, c->tag_len);
    return rc;
}

static int ctr_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    int rc = check_mac(c, sequence, packet, len, packet + len);
    return rc < 0 ? rc : crypto_ctr_apply(c->ctr, packet + LENGTH_BYTES, len - LENGTH_BYTES);
}

static void ctr_free(struct ssh_cipher *c)
{
    crypto_ctr_free(c->ctr);
}

static const struct family family_ctr = {
    .block = AES_BLOCK,
    .head = LENGTH_BYTES,
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
    memcpy(c->first, packet, AES_BLOCK);
    c->has_first = true;
    return crypto_ctr_apply(c->ctr, c->first, AES_BLOCK);
}

static int clear_mac_read_length(struct ssh_cipher *c, uint32_t sequence, const uint8_t *head,
                                 uint8_t ret[LENGTH_BYTES])
{
    (void)sequence;
    int rc = decrypt_first(c, head);
    if (rc == 0)
        memcpy(ret, c->first, LENGTH_BYTES);
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
    memcpy(packet, c->first, AES_BLOCK);
    if (rc == 0)
        rc = crypto_ctr_apply(c->ctr, packet + AES_BLOCK, len - AES_BLOCK);
    if (rc == 0)
        rc = check_mac(c, sequence, packet, len, packet + len);
    if (rc < 0)
        memset(packet, 0, len); /* nobody shall see what no MAC speaks for */
    c->has_first = false;
    return rc;
}

static const struct family family_ctr_clear_mac = {
    .block = AES_BLOCK,
    .head = AES_BLOCK,
    .is_length_padded = true,
    .has_mac = true,
    .bytes_max = UINT64_C(1) << 36,
    .set_up = ctr_set_up,
    .read_length = clear_mac_read_length,
    .seal = clear_mac_seal,
    .open = clear_mac_open,
    .free = ctr_free,
};

/* -- kinds -- */

static const struct {
    const struct family *family;
    size_t iv, key;
} ciphers[SSH_CIPHER_COUNT] = {
    [SSH_CIPHER_NONE] = {&family_none, 0, 0},
    [SSH_CIPHER_AES128_GCM] = {&family_gcm, CRYPTO_NONCE_BYTES, 16},
    [SSH_CIPHER_AES256_GCM] = {&family_gcm, CRYPTO_NONCE_BYTES, 32},
    [SSH_CIPHER_CHACHA20] = {&family_chacha, 0, CRYPTO_CHACHA_KEY_BYTES},
    [SSH_CIPHER_AES128_CTR] = {&family_ctr, COUNTER_BYTES, 16},
    [SSH_CIPHER_AES192_CTR] = {&family_ctr, COUNTER_BYTES, 24},
    [SSH_CIPHER_AES256_CTR] = {&family_ctr, COUNTER_BYTES, 32},
};

static const struct {
    size_t len; /* of the key and of what it makes (RFC 6668 2) */
    enum crypto_digest_kind digest;
    bool is_of_clear;
} macs[SSH_MAC_COUNT] = {
    [SSH_MAC_SHA256_ETM] = {32, CRYPTO_SHA256, false},
    [SSH_MAC_SHA512_ETM] = {64, CRYPTO_SHA512, false},
    [SSH_MAC_SHA256] = {32, CRYPTO_SHA256, true},
    [SSH_MAC_SHA512] = {64, CRYPTO_SHA512, true},
};

static const struct family *family_of(enum ssh_cipher_kind kind, enum ssh_mac_kind mac)
{
    const struct family *family = ciphers[kind].family;
    return family->has_mac && macs[mac].is_of_clear ? &family_ctr_clear_mac : family;
}

struct ssh_key_sizes ssh_key_sizes(enum ssh_cipher_kind kind, enum ssh_mac_kind mac)
{
    return (struct ssh_key_sizes){
        .iv = ciphers[kind].iv,
        .key = ciphers[kind].key,
        .mac = ciphers[kind].family->has_mac ? macs[mac].len : 0,
    };
}

int ssh_cipher_new(enum ssh_cipher_kind kind, enum ssh_mac_kind mac_kind, bool for_sealing,
                   struct bytes iv, struct bytes key, struct bytes mac, struct ssh_cipher **ret)
{
    const struct family *family = family_of(kind, mac_kind);
    struct ssh_key_sizes sizes = ssh_key_sizes(kind, mac_kind);
    if (iv.len != sizes.iv || key.len != sizes.key || mac.len != sizes.mac ||
        (family->has_mac && mac_kind == SSH_MAC_NONE))
        return -EINVAL;
    struct ssh_cipher *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->kind = kind;
    c->family = family;
    c->tag_len = family->has_mac ? macs[mac_kind].len : family->tag_len;
    int rc = family->set_up(c, for_sealing, iv, key);
    if (rc == 0 && family->has_mac)
        rc = crypto_hmac_new(macs[mac_kind].digest, mac, &c->mac);
    if (rc < 0) {
        ssh_cipher_free(c);
        return rc;
    }
    *ret = c;
    return 0;
}

struct ssh_cipher *ssh_cipher_free(struct ssh_cipher *c)
{
    if (c != NULL) {
        c->family->free(c);
        crypto_hmac_free(c->mac);
        mem_wipe_free(c, sizeof(*c));
    }
    return NULL;
}

enum ssh_cipher_kind ssh_cipher_kind(const struct ssh_cipher *c)
{
    return c->kind;
}

uint64_t ssh_cipher_bytes_max(const struct ssh_cipher *c)
{
    return c->family->bytes_max;
}

/* -- sealing -- */

static size_t padding_of(const struct family *f, size_t payload_len)
{
    size_t padded = payload_len + (f->is_length_padded ? SSH_PACKET_HEAD : 1);
    size_t padding = f->block - padded % f->block;
    return padding < PADDING_MIN ? padding + f->block : padding;
}

size_t ssh_packet_tail(const struct ssh_cipher *c, size_t payload_len)
{
    return padding_of(c->family, payload_len) + c->tag_len;
}

int ssh_packet_seal(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet,
                    size_t payload_len, size_t *ret_len)
{
    if (payload_len == 0 || payload_len > SSH_PAYLOAD_MAX)
        return -FERRY_ELIMIT;
    size_t padding = padding_of(c->family, payload_len);
    size_t len = SSH_PACKET_HEAD + payload_len + padding;
    wire_set_u32(packet, (uint32_t)(len - LENGTH_BYTES));
    packet[LENGTH_BYTES] = (uint8_t)padding;
    int rc = c->family->seal(c, sequence, packet, len);
    if (rc == 0)
        *ret_len = len + c->tag_len;
    return rc;
}

/* -- opening -- */

size_t ssh_packet_head(const struct ssh_cipher *c)
{
    return c->family->head;
}

/* The least packet_length: of one byte of payload, and of a whole block. */
static size_t length_min(const struct family *f)
{
    return 1 + 1 + padding_of(f, 1);
}

int ssh_packet_length(struct ssh_cipher *c, uint32_t sequence, const uint8_t *data, size_t max,
                      size_t *ret_len)
{
    const struct family *f = c->family;
    uint8_t field[LENGTH_BYTES];
    memcpy(field, data, sizeof(field));
    int rc = f->read_length != NULL ? f->read_length(c, sequence, data, field) : 0;
    if (rc < 0)
        return rc;
    size_t length = wire_u32(field);
    if (length < length_min(f) || length > max || length > SSH_PACKET_MAX)
        return -FERRY_EPROTO;
    size_t padded = length + (f->is_length_padded ? LENGTH_BYTES : 0);
    if (padded % f->block != 0)
        return -FERRY_EPROTO;
    *ret_len = LENGTH_BYTES + length + c->tag_len;
    return 0;
}

int ssh_packet_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len,
                    struct bytes *ret_payload)
{
    size_t least = LENGTH_BYTES + length_min(c->family);
    if (len < c->tag_len || len - c->tag_len < least)
        return -FERRY_EPROTO;
    len -= c->tag_len;
    int rc = c->family->open(c, sequence, packet, len);
    if (rc < 0)
        return rc;
    size_t body = len - SSH_PACKET_HEAD, padding = packet[LENGTH_BYTES];
    if (padding < PADDING_MIN || padding >= body)
        return -FERRY_EPROTO;
    *ret_payload = bytes_of(packet + SSH_PACKET_HEAD, body - padding);
    return 0;
}
