#include "base/err.h"
#include "base/secret.h"
#include "base/wire.h"
#include "ssh/wire/packet_internal.h"

/* -- the ciphers: AES-CTR, and CBC for old peers -- */

static int ctr_set_up(struct ssh_cipher *c, bool for_sealing, struct bytes iv, struct bytes key)
{
    (void)for_sealing;
    return crypto_ctr_new(key, iv.data, &c->ctr);
}

static int ctr_apply(struct ssh_cipher *c, uint8_t *data, size_t len)
{
    return crypto_ctr_apply(c->ctr, data, len);
}

static void ctr_free(struct ssh_cipher *c)
{
    crypto_ctr_free(c->ctr);
}

static int cbc_set_up(struct ssh_cipher *c, bool for_sealing, struct bytes iv, struct bytes key)
{
    static const enum crypto_cbc_kind kinds[SSH_CIPHER_COUNT] = {
        [SSH_CIPHER_AES128_CBC] = CRYPTO_CBC_AES128,
        [SSH_CIPHER_AES256_CBC] = CRYPTO_CBC_AES256,
        [SSH_CIPHER_3DES_CBC] = CRYPTO_CBC_3DES,
    };

    return crypto_cbc_new(kinds[c->kind], key, iv.data, for_sealing, &c->cbc);
}

static int cbc_apply(struct ssh_cipher *c, uint8_t *data, size_t len)
{
    return crypto_cbc_apply(c->cbc, data, len);
}

static void cbc_free(struct ssh_cipher *c)
{
    crypto_cbc_free(c->cbc);
}

/* -- the MAC, over the sequence number and the packet -- */

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

/* -- etm: all but the length is encrypted, and the MAC is over what is sent -- */

static int etm_seal(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    uint8_t mac[CRYPTO_DIGEST_MAX];
    int rc = c->family->apply(c, packet + SSH_LENGTH_BYTES, len - SSH_LENGTH_BYTES);
    if (rc == 0)
        rc = compute_mac(c, sequence, packet, len, mac);
    if (rc == 0)
        memcpy(packet + len, mac, c->tag_len);
    return rc;
}

static int etm_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    int rc = check_mac(c, sequence, packet, len, packet + len);
    return rc < 0 ? rc : c->family->apply(c, packet + SSH_LENGTH_BYTES, len - SSH_LENGTH_BYTES);
}

/* -- of the packet in clear: all of it is encrypted (RFC 4253 6.4) -- */

static int decrypt_first(struct ssh_cipher *c, const uint8_t *packet)
{
    if (c->has_first)
        return 0;
    memcpy(c->first, packet, c->family->block);
    c->has_first = true;
    return c->family->apply(c, c->first, c->family->block);
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
        rc = c->family->apply(c, packet, len);
    if (rc == 0)
        memcpy(packet + len, mac, c->tag_len);
    return rc;
}

static int clear_mac_open(struct ssh_cipher *c, uint32_t sequence, uint8_t *packet, size_t len)
{
    size_t block = c->family->block;
    int rc = decrypt_first(c, packet);
    memcpy(packet, c->first, block);
    if (rc == 0)
        rc = c->family->apply(c, packet + block, len - block);
    if (rc == 0)
        rc = check_mac(c, sequence, packet, len, packet + len);
    if (rc < 0) {
        memset(packet, 0, len); /* nobody shall see what no MAC speaks for */
        c->worked_on = len;
    }
    c->has_first = false;
    return rc;
}

void ssh_packet_discard(struct ssh_cipher *c, uint8_t *packet, size_t len)
{
    uint8_t mac[CRYPTO_DIGEST_MAX];
    if (!c->family->is_veiled || len < c->worked_on + c->tag_len)
        return;
    packet += c->worked_on;
    len -= c->worked_on + c->tag_len;
    len -= len % c->family->block;
    (void)(c->family->apply(c, packet, len) < 0); /* it has failed already */
    (void)(compute_mac(c, 0, packet, len, mac) < 0);
    memset(packet, 0, len);
}

/* -- the ways to use them -- */

#define ETM .head = SSH_LENGTH_BYTES, .has_mac = true, .seal = etm_seal, .open = etm_open
#define OF_CLEAR                                                                               \
    .has_mac = true, .is_length_padded = true, .read_length = clear_mac_read_length,           \
    .seal = clear_mac_seal, .open = clear_mac_open
#define CTR .set_up = ctr_set_up, .apply = ctr_apply, .free = ctr_free
#define CBC .set_up = cbc_set_up, .apply = cbc_apply, .free = cbc_free

#define AES  .block = SSH_AES_BLOCK, .bytes_max = UINT64_C(1) << 36 /* 2^32 blocks */
#define DES3 .block = SSH_3DES_BLOCK, .bytes_max = UINT64_C(1) << 30

const struct ssh_family ssh_family_ctr = {AES, CTR, ETM};
const struct ssh_family ssh_family_ctr_clear_mac = {AES, CTR, OF_CLEAR, .head = SSH_AES_BLOCK};
const struct ssh_family ssh_family_cbc = {AES, CBC, ETM};
const struct ssh_family ssh_family_cbc_clear_mac = {AES, CBC, OF_CLEAR, .head = SSH_AES_BLOCK,
                                                    .is_veiled = true};
const struct ssh_family ssh_family_3des = {DES3, CBC, ETM};
const struct ssh_family ssh_family_3des_clear_mac = {DES3, CBC, OF_CLEAR,
                                                     .head = SSH_3DES_BLOCK, .is_veiled = true};
