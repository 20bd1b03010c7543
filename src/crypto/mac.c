#include "crypto/mac.h"

#include <errno.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/mem.h"

struct crypto_mac_key {
    EVP_MAC_CTX *ready; /* with the key in; never used itself, only copied */
};

/* The length before each part keeps ("ab", "c") and ("a", "bc") apart. */
static bool add_part(EVP_MAC_CTX *ctx, struct bytes part)
{
    uint8_t len[8];
    for (unsigned i = 0; i < sizeof(len); i++)
        len[i] = (uint8_t)((uint64_t)part.len >> (56 - 8 * i));
    return EVP_MAC_update(ctx, len, sizeof(len)) == 1 &&
           (part.len == 0 || EVP_MAC_update(ctx, part.data, part.len) == 1);
}

static bool compute(EVP_MAC_CTX *ctx, const struct bytes *parts, unsigned count,
                    uint8_t ret[CRYPTO_MAC_BYTES])
{
    for (unsigned i = 0; i < count; i++)
        if (!add_part(ctx, parts[i]))
            return false;
    size_t len;
    return EVP_MAC_final(ctx, ret, &len, CRYPTO_MAC_BYTES) == 1 && len == CRYPTO_MAC_BYTES;
}

/* HMAC-SHA-256 always exists; what can fail is memory. */
static int no_memory(void)
{
    ERR_clear_error();
    return -ENOMEM;
}

int crypto_mac(const struct crypto_mac_key *key, const struct bytes *parts, unsigned count,
               uint8_t ret[CRYPTO_MAC_BYTES])
{
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_dup(key->ready);
    bool done = ctx != NULL && compute(ctx, parts, count, ret);
    EVP_MAC_CTX_free(ctx);
    return done ? 0 : no_memory();
}

/* -- keys -- */

static EVP_MAC_CTX *context_new(struct bytes key)
{
    char digest[] = "SHA256"; /* OSSL_PARAM takes no const */
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    /* A NULL key would mean "the key of before". */
    const uint8_t *key_data = key.len != 0 ? key.data : (const uint8_t *)"";
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *ctx = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac); /* the context keeps it */
    if (ctx != NULL && EVP_MAC_init(ctx, key_data, key.len, params) == 1)
        return ctx;
    EVP_MAC_CTX_free(ctx);
    return NULL;
}

int crypto_mac_key_new(struct bytes key, struct crypto_mac_key **ret)
{
    struct crypto_mac_key *k = mem_new(sizeof(*k));
    if (k == NULL)
        return -ENOMEM;
    k->ready = context_new(key);
    if (k->ready == NULL) {
        mem_free(k);
        return no_memory();
    }
    *ret = k;
    return 0;
}

struct crypto_mac_key *crypto_mac_key_free(struct crypto_mac_key *k)
{
    if (k != NULL)
        EVP_MAC_CTX_free(k->ready); /* wipes */
    mem_free(k);
    return NULL;
}
