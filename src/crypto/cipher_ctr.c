#include <errno.h>
#include <limits.h>

#include <openssl/evp.h>

#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/cipher.h"

struct crypto_ctr {
    EVP_CIPHER_CTX *ctx;
};

static const EVP_CIPHER *cipher_of(struct bytes key)
{
    return crypto_cipher(key.len == 16   ? CRYPTO_AES128_CTR
                         : key.len == 24 ? CRYPTO_AES192_CTR
                                         : CRYPTO_AES256_CTR);
}

int crypto_ctr_new(struct bytes key, const uint8_t counter[16], struct crypto_ctr **ret)
{
    if (key.len != 16 && key.len != 24 && key.len != 32)
        return -EIO;
    struct crypto_ctr *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    const EVP_CIPHER *cipher = cipher_of(key);
    c->ctx = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;
    /* Both directions add the same key stream. */
    if (c->ctx == NULL || EVP_EncryptInit_ex(c->ctx, cipher, NULL, key.data, counter) != 1) {
        crypto_ctr_free(c);
        return crypto_failure(-ENOMEM);
    }
    *ret = c;
    return 0;
}

int crypto_ctr_apply(struct crypto_ctr *c, uint8_t *data, size_t len)
{
    int done;
    if (len == 0)
        return 0;
    if (len > INT_MAX || EVP_EncryptUpdate(c->ctx, data, &done, data, (int)len) != 1)
        return crypto_failure(-EIO);
    return 0;
}

struct crypto_ctr *crypto_ctr_free(struct crypto_ctr *c)
{
    if (c != NULL)
        EVP_CIPHER_CTX_free(c->ctx); /* wipes */
    mem_free(c);
    return NULL;
}
