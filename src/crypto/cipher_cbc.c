#include <errno.h>
#include <limits.h>

#include <openssl/evp.h>

#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/cipher.h"

struct crypto_cbc {
    EVP_CIPHER_CTX *ctx;
};

static const struct {
    enum crypto_cipher_kind kind;
    size_t key;
} modes[] = {
    [CRYPTO_CBC_AES128] = {CRYPTO_AES128_CBC, 16},
    [CRYPTO_CBC_AES256] = {CRYPTO_AES256_CBC, 32},
    [CRYPTO_CBC_3DES] = {CRYPTO_3DES_CBC, 24},
};

/* Without padding the library holds no block back: what goes in comes out. */
static bool set_up(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, struct bytes key,
                   const uint8_t *iv, bool for_sealing)
{
    return EVP_CipherInit_ex(ctx, cipher, NULL, key.data, iv, for_sealing) == 1 &&
           EVP_CIPHER_CTX_set_padding(ctx, 0) == 1;
}

int crypto_cbc_new(enum crypto_cbc_kind kind, struct bytes key, const uint8_t *iv,
                   bool for_sealing, struct crypto_cbc **ret)
{
    if (key.len != modes[kind].key)
        return -EIO;
    struct crypto_cbc *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    const EVP_CIPHER *cipher = crypto_cipher(modes[kind].kind);
    c->ctx = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;
    if (c->ctx == NULL || !set_up(c->ctx, cipher, key, iv, for_sealing)) {
        crypto_cbc_free(c);
        return crypto_failure(-ENOMEM);
    }
    *ret = c;
    return 0;
}

int crypto_cbc_apply(struct crypto_cbc *c, uint8_t *data, size_t len)
{
    int done;
    if (len == 0)
        return 0;
    if (len > INT_MAX || EVP_CipherUpdate(c->ctx, data, &done, data, (int)len) != 1 ||
        (size_t)done != len)
        return crypto_failure(-EIO);
    return 0;
}

struct crypto_cbc *crypto_cbc_free(struct crypto_cbc *c)
{
    if (c != NULL)
        EVP_CIPHER_CTX_free(c->ctx); /* wipes */
    mem_free(c);
    return NULL;
}
