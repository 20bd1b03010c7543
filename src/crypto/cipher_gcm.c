#include <errno.h>
#include <limits.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/cipher.h"

struct crypto_gcm {
    EVP_CIPHER_CTX *ctx; /* has the key; each packet brings its nonce */
};

int crypto_gcm_new(struct bytes key, bool for_sealing, struct crypto_gcm **ret)
{
    if (key.len != 16 && key.len != 32)
        return -EIO;
    struct crypto_gcm *g = mem_new(sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    const EVP_CIPHER *cipher =
        crypto_cipher(key.len == 16 ? CRYPTO_AES128_GCM : CRYPTO_AES256_GCM);
    g->ctx = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;
    if (g->ctx == NULL ||
        EVP_CipherInit_ex(g->ctx, cipher, NULL, key.data, NULL, for_sealing) != 1) {
        crypto_gcm_free(g);
        return crypto_failure(-ENOMEM); /* whose want OpenSSL does not always report */
    }
    *ret = g;
    return 0;
}

struct crypto_gcm *crypto_gcm_free(struct crypto_gcm *g)
{
    if (g != NULL)
        EVP_CIPHER_CTX_free(g->ctx); /* wipes */
    mem_free(g);
    return NULL;
}

/* Everything but the tag. The direction is the context's. */
static bool begin(EVP_CIPHER_CTX *ctx, const uint8_t *nonce, struct bytes extra)
{
    int len;
    return extra.len <= INT_MAX && EVP_CipherInit_ex(ctx, NULL, NULL, NULL, nonce, -1) == 1 &&
           (extra.len == 0 ||
            EVP_CipherUpdate(ctx, NULL, &len, extra.data, (int)extra.len) == 1);
}

static bool apply(EVP_CIPHER_CTX *ctx, uint8_t *data, size_t len)
{
    int done;
    return len == 0 ||
           (len <= INT_MAX && EVP_CipherUpdate(ctx, data, &done, data, (int)len) == 1 &&
            (size_t)done == len);
}

int crypto_gcm_seal(struct crypto_gcm *g, const uint8_t nonce[CRYPTO_NONCE_BYTES],
                    struct bytes extra, uint8_t *data, size_t len,
                    uint8_t ret_tag[CRYPTO_TAG_BYTES])
{
    uint8_t rest[16]; /* GCM keeps nothing back, but the call wants a place */
    int rest_len;
    bool is_done =
        begin(g->ctx, nonce, extra) && apply(g->ctx, data, len) &&
        EVP_EncryptFinal_ex(g->ctx, rest, &rest_len) == 1 &&
        EVP_CIPHER_CTX_ctrl(g->ctx, EVP_CTRL_AEAD_GET_TAG, CRYPTO_TAG_BYTES, ret_tag) == 1;
    return is_done ? 0 : crypto_failure(-EIO);
}

/* The whole tag is set, all 16 bytes: a library that is told of a shorter one compares less. */
static bool set_tag(EVP_CIPHER_CTX *ctx, const uint8_t tag[CRYPTO_TAG_BYTES])
{
    uint8_t copy[CRYPTO_TAG_BYTES]; /* the call takes no const */
    memcpy(copy, tag, sizeof(copy));
    return EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CRYPTO_TAG_BYTES, copy) == 1;
}

int crypto_gcm_open(struct crypto_gcm *g, const uint8_t nonce[CRYPTO_NONCE_BYTES],
                    struct bytes extra, uint8_t *data, size_t len,
                    const uint8_t tag[CRYPTO_TAG_BYTES])
{
    uint8_t rest[16];
    int rest_len;
    int r = 0;
    if (!begin(g->ctx, nonce, extra) || !set_tag(g->ctx, tag) || !apply(g->ctx, data, len))
        r = crypto_failure(-EIO);
    /* 1 and nothing else is a right tag: 0 and what is negative are not. */
    else if (EVP_DecryptFinal_ex(g->ctx, rest, &rest_len) != 1)
        r = crypto_failure(-FERRY_EPROTO);
    if (r != 0)
        mem_wipe(data, len);
    return r;
}
