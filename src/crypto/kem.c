#include "crypto/kem.h"

#include <errno.h>
#include <pthread.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/err.h"
#include "base/mem.h"
#include "crypto/algorithm.h"

#define NAME "ML-KEM-768"

struct crypto_kem {
    EVP_PKEY *pair;
};

static bool is_there;

static void look(void)
{
    EVP_KEM *kem = EVP_KEM_fetch(NULL, NAME, NULL);
    is_there = kem != NULL;
    EVP_KEM_free(kem);
    ERR_clear_error();
}

bool crypto_kem_is_there(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, look);
    return is_there;
}

/* -- pairs -- */

static EVP_PKEY *generate(void)
{
    EVP_PKEY *pair = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, NAME, NULL);
    if (ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1)
        (void)EVP_PKEY_generate(ctx, &pair); /* pair stays NULL if it fails */
    EVP_PKEY_CTX_free(ctx);
    return pair;
}

int crypto_kem_new(uint8_t ret_public[CRYPTO_KEM_PUBLIC_BYTES], struct crypto_kem **ret)
{
    struct crypto_kem *k = mem_new(sizeof(*k));
    if (k == NULL)
        return -ENOMEM;
    size_t len = 0;
    k->pair = generate();
    if (k->pair == NULL ||
        EVP_PKEY_get_octet_string_param(k->pair, OSSL_PKEY_PARAM_PUB_KEY, ret_public,
                                        CRYPTO_KEM_PUBLIC_BYTES, &len) != 1 ||
        len != CRYPTO_KEM_PUBLIC_BYTES) {
        crypto_kem_free(k);
        return crypto_failure(-ENOMEM);
    }
    *ret = k;
    return 0;
}

struct crypto_kem *crypto_kem_free(struct crypto_kem *k)
{
    if (k != NULL)
        EVP_PKEY_free(k->pair); /* wipes */
    mem_free(k);
    return NULL;
}

/* -- a key of the peer's -- */

/* NULL also for numbers that are not below the modulus (FIPS 203 7.2), which OpenSSL checks. */
static EVP_PKEY *public_of(const uint8_t public[CRYPTO_KEM_PUBLIC_BYTES])
{
    OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
    if (b != NULL && OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, public,
                                                      CRYPTO_KEM_PUBLIC_BYTES) == 1)
        return crypto_pkey_of(NAME, EVP_PKEY_PUBLIC_KEY, b);
    OSSL_PARAM_BLD_free(b);
    return NULL;
}

static bool encapsulate(EVP_PKEY *public, uint8_t *ciphertext, uint8_t *secret)
{
    size_t ciphertext_len = CRYPTO_KEM_CIPHERTEXT_BYTES, secret_len = CRYPTO_KEM_SECRET_BYTES;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, public, NULL);
    bool is_done =
        ctx != NULL && EVP_PKEY_encapsulate_init(ctx, NULL) == 1 &&
        EVP_PKEY_encapsulate(ctx, ciphertext, &ciphertext_len, secret, &secret_len) == 1 &&
        ciphertext_len == CRYPTO_KEM_CIPHERTEXT_BYTES && secret_len == CRYPTO_KEM_SECRET_BYTES;
    EVP_PKEY_CTX_free(ctx);
    return is_done;
}

int crypto_kem_seal(const uint8_t public[CRYPTO_KEM_PUBLIC_BYTES],
                    uint8_t ret_ciphertext[CRYPTO_KEM_CIPHERTEXT_BYTES],
                    uint8_t ret_secret[CRYPTO_KEM_SECRET_BYTES])
{
    EVP_PKEY *key = public_of(public);
    bool is_done = key != NULL && encapsulate(key, ret_ciphertext, ret_secret);
    EVP_PKEY_free(key);
    return is_done ? 0 : crypto_failure(-FERRY_EPROTO);
}

int crypto_kem_open(struct crypto_kem *k, const uint8_t ciphertext[CRYPTO_KEM_CIPHERTEXT_BYTES],
                    uint8_t ret_secret[CRYPTO_KEM_SECRET_BYTES])
{
    size_t len = CRYPTO_KEM_SECRET_BYTES;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, k->pair, NULL);
    bool is_done = ctx != NULL && EVP_PKEY_decapsulate_init(ctx, NULL) == 1 &&
                   EVP_PKEY_decapsulate(ctx, ret_secret, &len, ciphertext,
                                        CRYPTO_KEM_CIPHERTEXT_BYTES) == 1 &&
                   len == CRYPTO_KEM_SECRET_BYTES;
    EVP_PKEY_CTX_free(ctx);
    return is_done ? 0 : crypto_failure(-FERRY_EPROTO);
}
