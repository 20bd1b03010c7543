#include "crypto/algorithm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

static const char *const md_names[] = {
    [CRYPTO_MD5] = "MD5",
    [CRYPTO_SHA1] = "SHA1",
    [CRYPTO_SHA256] = "SHA2-256",
    [CRYPTO_SHA512] = "SHA2-512",
};

static const char *const cipher_names[CRYPTO_CIPHER_KIND_COUNT] = {
    [CRYPTO_AES128_GCM] = "AES-128-GCM", [CRYPTO_AES256_GCM] = "AES-256-GCM",
    [CRYPTO_AES128_CTR] = "AES-128-CTR", [CRYPTO_AES192_CTR] = "AES-192-CTR",
    [CRYPTO_AES256_CTR] = "AES-256-CTR", [CRYPTO_CHACHA20] = "ChaCha20",
    [CRYPTO_AES128_CBC] = "AES-128-CBC", [CRYPTO_AES256_CBC] = "AES-256-CBC",
    [CRYPTO_3DES_CBC] = "DES-EDE3-CBC",
};

/* What was found, and never given back. */
static struct {
    pthread_mutex_t lock;
    atomic_bool is_complete; /* the rest is read without the lock */
    EVP_MD *mds[ARRAY_LEN(md_names)];
    EVP_CIPHER *ciphers[CRYPTO_CIPHER_KIND_COUNT];
    EVP_MAC *poly1305;
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find_all(void)
{
    bool has_all = true;
    for (size_t i = 0; i < ARRAY_LEN(md_names); i++) {
        if (found.mds[i] == NULL)
            found.mds[i] = EVP_MD_fetch(NULL, md_names[i], NULL);
        has_all = has_all && found.mds[i] != NULL;
    }
    for (size_t i = 0; i < CRYPTO_CIPHER_KIND_COUNT; i++) {
        if (found.ciphers[i] == NULL)
            found.ciphers[i] = EVP_CIPHER_fetch(NULL, cipher_names[i], NULL);
        has_all = has_all && found.ciphers[i] != NULL;
    }
    if (found.poly1305 == NULL)
        found.poly1305 = EVP_MAC_fetch(NULL, "POLY1305", NULL);
    return has_all && found.poly1305 != NULL;
}

/* All or none: so that a reader needs one look at is_complete and no lock. */
static bool is_ready(void)
{
    if (atomic_load_explicit(&found.is_complete, memory_order_acquire))
        return true;
    (void)pthread_mutex_lock(&found.lock);
    bool is_complete = atomic_load_explicit(&found.is_complete, memory_order_relaxed);
    if (!is_complete) {
        is_complete = find_all();
        atomic_store_explicit(&found.is_complete, is_complete, memory_order_release);
    }
    (void)pthread_mutex_unlock(&found.lock);
    return is_complete;
}

const EVP_MD *crypto_md(enum crypto_digest_kind kind)
{
    return is_ready() ? found.mds[kind] : NULL;
}

const EVP_CIPHER *crypto_cipher(enum crypto_cipher_kind kind)
{
    return is_ready() ? found.ciphers[kind] : NULL;
}

EVP_MAC *crypto_poly1305(void)
{
    return is_ready() ? found.poly1305 : NULL;
}

int crypto_failure(int otherwise)
{
    int result = otherwise;
    for (unsigned long e = ERR_get_error(); e != 0; e = ERR_get_error())
        if (ERR_GET_REASON(e) == ERR_R_MALLOC_FAILURE)
            result = -ENOMEM;
    return result;
}

/* OSSL_PARAM_free() leaves what it frees as it is. */
static void wipe_and_free(OSSL_PARAM *params)
{
    for (OSSL_PARAM *p = params; p != NULL && p->key != NULL; p++)
        OPENSSL_cleanse(p->data, p->data_size);
    OSSL_PARAM_free(params);
}

EVP_PKEY *crypto_pkey_of(const char *name, int selection, OSSL_PARAM_BLD *filled)
{
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM *params = filled != NULL ? OSSL_PARAM_BLD_to_param(filled) : NULL;
    EVP_PKEY_CTX *ctx = params != NULL ? EVP_PKEY_CTX_new_from_name(NULL, name, NULL) : NULL;
    if (ctx != NULL && EVP_PKEY_fromdata_init(ctx) == 1)
        (void)EVP_PKEY_fromdata(ctx, &pkey, selection, params); /* NULL if it fails */
    EVP_PKEY_CTX_free(ctx);
    wipe_and_free(params);
    OSSL_PARAM_BLD_free(filled);
    return pkey;
}
