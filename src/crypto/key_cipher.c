#include "crypto/key_cipher.h"

#include <errno.h>
#include <limits.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/secret.h"
#include "crypto/algorithm.h"

#define POLY_KEY_BYTES 32
#define POLY_TAG_BYTES 16
#define CHACHA_BLOCK   64

static const struct crypto_key_cipher table[] = {
    {"aes256-ctr", "AES-256-CTR", 32, 16, 16, 0},
    {"aes192-ctr", "AES-192-CTR", 24, 16, 16, 0},
    {"aes128-ctr", "AES-128-CTR", 16, 16, 16, 0},
    {"aes256-cbc", "AES-256-CBC", 32, 16, 16, 0},
    {"aes192-cbc", "AES-192-CBC", 24, 16, 16, 0},
    {"aes128-cbc", "AES-128-CBC", 16, 16, 16, 0},
    {"aes256-gcm@openssh.com", "AES-256-GCM", 32, 12, 16, 16},
    {"aes128-gcm@openssh.com", "AES-128-GCM", 16, 12, 16, 16},
    {"chacha20-poly1305@openssh.com", "ChaCha20", 64, 0, 8, POLY_TAG_BYTES},
};

const struct crypto_key_cipher *crypto_key_cipher_find(struct bytes name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (bytes_equal(name, bytes_str(table[i].name)))
            return &table[i];
    return NULL;
}

static bool apply(EVP_CIPHER_CTX *ctx, uint8_t *data, size_t len)
{
    int done;
    return EVP_CipherUpdate(ctx, data, &done, data, (int)len) == 1 && (size_t)done == len;
}

/* AES: with a tag it is GCM, whose result of the last step is the tag's. */
static int open_aes(EVP_CIPHER_CTX *ctx, uint8_t *data, size_t len, struct bytes tag)
{
    uint8_t rest[EVP_MAX_BLOCK_LENGTH], copy[POLY_TAG_BYTES]; /* a call that takes no const */
    int rest_len;
    if (EVP_CIPHER_CTX_set_padding(ctx, 0) != 1)
        return crypto_failure(-EIO);
    if (tag.len > 0) {
        memcpy(copy, tag.data, sizeof(copy));
        if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, sizeof(copy), copy) != 1)
            return crypto_failure(-EIO);
    }
    if (!apply(ctx, data, len))
        return crypto_failure(-EIO);
    return EVP_DecryptFinal_ex(ctx, rest, &rest_len) == 1
               ? 0
               : crypto_failure(tag.len > 0 ? -FERRY_EAUTH : -EIO);
}

static bool make_tag(const uint8_t key[POLY_KEY_BYTES], const uint8_t *data, size_t len,
                     uint8_t ret[POLY_TAG_BYTES])
{
    size_t tag_len;
    EVP_MAC *poly1305 = crypto_poly1305();
    EVP_MAC_CTX *mac = poly1305 != NULL ? EVP_MAC_CTX_new(poly1305) : NULL;
    bool is_made = mac != NULL && EVP_MAC_init(mac, key, POLY_KEY_BYTES, NULL) == 1 &&
                   EVP_MAC_update(mac, data, len) == 1 &&
                   EVP_MAC_final(mac, ret, &tag_len, POLY_TAG_BYTES) == 1;
    EVP_MAC_CTX_free(mac);
    return is_made;
}

/* As a packet with number 0 and without a length (OpenSSH's PROTOCOL.chacha20poly1305): the
 * first block of the stream is the tag's key. */
static int open_chacha(EVP_CIPHER_CTX *ctx, uint8_t *data, size_t len, struct bytes tag)
{
    uint8_t block[CHACHA_BLOCK] = {0}, right[POLY_TAG_BYTES];
    bool has_tag = apply(ctx, block, sizeof(block)) && make_tag(block, data, len, right);
    mem_wipe(block, sizeof(block));
    if (!has_tag)
        return crypto_failure(-ENOMEM);
    if (!secret_equal(bytes_of(right, sizeof(right)), tag))
        return -FERRY_EAUTH;
    return apply(ctx, data, len) ? 0 : crypto_failure(-EIO);
}

int crypto_key_cipher_open(const struct crypto_key_cipher *c, const uint8_t *secret,
                           uint8_t *data, size_t len, struct bytes tag)
{
    static const uint8_t zeros[EVP_MAX_IV_LENGTH];
    if (len == 0 || len > INT_MAX || len % c->block_len != 0 || tag.len != c->tag_len)
        return -EIO;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, c->algorithm, NULL);
    EVP_CIPHER_CTX *ctx = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;
    const uint8_t *nonce = c->nonce_len > 0 ? secret + c->key_len : zeros;
    int r;
    if (ctx == NULL || EVP_DecryptInit_ex(ctx, cipher, NULL, secret, nonce) != 1)
        r = crypto_failure(-ENOMEM); /* whose want OpenSSL does not always report */
    else if (c->nonce_len > 0)
        r = open_aes(ctx, data, len, tag);
    else
        r = open_chacha(ctx, data, len, tag);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return r;
}
