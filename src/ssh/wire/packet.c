#include "ssh/wire/packet.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/wire.h"
#include "ssh/wire/packet_internal.h"

#define PADDING_MIN 4

/* -- kinds -- */

static const struct {
    const struct ssh_family *family,
        *clear_mac; /* the second with a MAC of the packet in clear */
    size_t iv, key;
} ciphers[SSH_CIPHER_COUNT] = {
    [SSH_CIPHER_NONE] = {&ssh_family_none, NULL, 0, 0},
    [SSH_CIPHER_AES128_GCM] = {&ssh_family_gcm, NULL, CRYPTO_NONCE_BYTES, 16},
    [SSH_CIPHER_AES256_GCM] = {&ssh_family_gcm, NULL, CRYPTO_NONCE_BYTES, 32},
    [SSH_CIPHER_CHACHA20] = {&ssh_family_chacha, NULL, 0, CRYPTO_CHACHA_KEY_BYTES},
    [SSH_CIPHER_AES128_CTR] = {&ssh_family_ctr, &ssh_family_ctr_clear_mac, SSH_AES_BLOCK, 16},
    [SSH_CIPHER_AES192_CTR] = {&ssh_family_ctr, &ssh_family_ctr_clear_mac, SSH_AES_BLOCK, 24},
    [SSH_CIPHER_AES256_CTR] = {&ssh_family_ctr, &ssh_family_ctr_clear_mac, SSH_AES_BLOCK, 32},
    [SSH_CIPHER_AES128_CBC] = {&ssh_family_cbc, &ssh_family_cbc_clear_mac, SSH_AES_BLOCK, 16},
    [SSH_CIPHER_AES256_CBC] = {&ssh_family_cbc, &ssh_family_cbc_clear_mac, SSH_AES_BLOCK, 32},
    [SSH_CIPHER_3DES_CBC] = {&ssh_family_3des, &ssh_family_3des_clear_mac, SSH_3DES_BLOCK, 24},
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
    [SSH_MAC_SHA1] = {20, CRYPTO_SHA1, true}, /* RFC 4253 6.4 */
};

static const struct ssh_family *family_of(enum ssh_cipher_kind kind, enum ssh_mac_kind mac)
{
    const struct ssh_family *family = ciphers[kind].family;
    return family->has_mac && macs[mac].is_of_clear ? ciphers[kind].clear_mac : family;
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
    const struct ssh_family *family = family_of(kind, mac_kind);
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

static size_t padding_of(const struct ssh_family *f, size_t payload_len)
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
    wire_set_u32(packet, (uint32_t)(len - SSH_LENGTH_BYTES));
    packet[SSH_LENGTH_BYTES] = (uint8_t)padding;
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
static size_t length_min(const struct ssh_family *f)
{
    return 1 + 1 + padding_of(f, 1);
}

int ssh_packet_length(struct ssh_cipher *c, uint32_t sequence, const uint8_t *data, size_t max,
                      size_t *ret_len)
{
    const struct ssh_family *f = c->family;
    uint8_t field[SSH_LENGTH_BYTES];
    memcpy(field, data, sizeof(field));
    int rc = f->read_length != NULL ? f->read_length(c, sequence, data, field) : 0;
    if (rc < 0)
        return rc;
    size_t length = wire_u32(field);
    if (length < length_min(f) || length > max || length > SSH_PACKET_MAX)
        return -FERRY_EPROTO;
    size_t padded = length + (f->is_length_padded ? SSH_LENGTH_BYTES : 0);
    if (padded % f->block != 0)
        return -FERRY_EPROTO;
    *ret_len = SSH_LENGTH_BYTES + length + c->tag_len;
    return 0;
}

size_t ssh_packet_veil(const struct ssh_cipher *c, size_t max)
{
    return c->family->is_veiled ? SSH_LENGTH_BYTES + max + c->tag_len : 0;
}

int ssh_packet_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len,
                    struct bytes *ret_payload)
{
    size_t least = SSH_LENGTH_BYTES + length_min(c->family);
    if (len < c->tag_len || len - c->tag_len < least)
        return -FERRY_EPROTO;
    len -= c->tag_len;
    if ((len - (c->family->is_length_padded ? 0 : SSH_LENGTH_BYTES)) % c->family->block != 0)
        return -FERRY_EPROTO;
    int rc = c->family->open(c, sequence, packet, len);
    if (rc < 0)
        return rc;
    size_t body = len - SSH_PACKET_HEAD, padding = packet[SSH_LENGTH_BYTES];
    if (padding < PADDING_MIN || padding >= body)
        return -FERRY_EPROTO;
    *ret_payload = bytes_of(packet + SSH_PACKET_HEAD, body - padding);
    return 0;
}
