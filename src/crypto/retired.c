#include "crypto/retired.h"

#include <errno.h>
#include <limits.h>

#include <openssl/evp.h>
#include <openssl/provider.h>

#include "base/mem.h"

#define BYTES_MAX 64 /* of a key, of an initialisation vector */

struct crypto_retired {
    OSSL_LIB_CTX *library;
    OSSL_PROVIDER *today, *legacy; /* legacy NULL: it is not installed */
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *context;
};

struct crypto_retired *crypto_retired_free(struct crypto_retired *c)
{
    if (c == NULL)
        return NULL;
    EVP_CIPHER_CTX_free(c->context);
    EVP_CIPHER_free(c->cipher);
    if (c->legacy != NULL)
        (void)OSSL_PROVIDER_unload(c->legacy);
    if (c->today != NULL)
        (void)OSSL_PROVIDER_unload(c->today);
    OSSL_LIB_CTX_free(c->library);
    mem_free(c);
    return NULL;
}

static int start(struct crypto_retired *c, const char *name)
{
    static const uint8_t fixed[BYTES_MAX] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    c->cipher = EVP_CIPHER_fetch(c->library, name, NULL);
    if (c->cipher == NULL)
        return -ENOENT;
    c->context = EVP_CIPHER_CTX_new();
    if (c->context == NULL)
        return -ENOMEM;
    return EVP_EncryptInit_ex2(c->context, c->cipher, fixed, fixed + 16, NULL) == 1 &&
                   EVP_CIPHER_CTX_set_padding(c->context, 0) == 1
               ? 0
               : -ENOENT;
}

int crypto_retired_new(const char *name, struct crypto_retired **ret)
{
    struct crypto_retired *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->library = OSSL_LIB_CTX_new();
    if (c->library != NULL) {
        c->today = OSSL_PROVIDER_load(c->library, "default");
        c->legacy = OSSL_PROVIDER_load(c->library, "legacy");
    }
    int r = c->today == NULL ? -ENOMEM : start(c, name);
    if (r == 0)
        *ret = c;
    else
        (void)crypto_retired_free(c);
    return r;
}

int crypto_retired_apply(struct crypto_retired *c, uint8_t *data, size_t len)
{
    int done = 0;
    if (len > INT_MAX || EVP_EncryptUpdate(c->context, data, &done, data, (int)len) != 1)
        return -EIO;
    return (size_t)done == len ? 0 : -EIO;
}
