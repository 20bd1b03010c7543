#include <errno.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "crypto/random.h"

/* The length before each part keeps ("ab", "c") and ("a", "bc") apart. */
static bool add_part(EVP_MAC_CTX *ctx, struct bytes part)
{
    uint8_t len[8];
    for (unsigned i = 0; i < sizeof(len); i++)
        len[i] = (uint8_t)((uint64_t)part.len >> (56 - 8 * i));
    return EVP_MAC_update(ctx, len, sizeof(len)) == 1 &&
           (part.len == 0 || EVP_MAC_update(ctx, part.data, part.len) == 1);
}

static bool compute(EVP_MAC_CTX *ctx, struct bytes key, const struct bytes *parts,
                    unsigned count, uint8_t ret[CRYPTO_MAC_BYTES])
{
    char digest[] = "SHA256"; /* OSSL_PARAM takes no const */
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    /* A NULL key would mean "the key of before". */
    const uint8_t *key_data = key.len != 0 ? key.data : (const uint8_t *)"";
    if (EVP_MAC_init(ctx, key_data, key.len, params) != 1)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!add_part(ctx, parts[i]))
            return false;
    size_t len;
    return EVP_MAC_final(ctx, ret, &len, CRYPTO_MAC_BYTES) == 1 && len == CRYPTO_MAC_BYTES;
}

int crypto_mac(struct bytes key, const struct bytes *parts, unsigned count,
               uint8_t ret[CRYPTO_MAC_BYTES])
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *ctx = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
    bool done = ctx != NULL && compute(ctx, key, parts, count, ret);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    if (done)
        return 0;
    /* HMAC-SHA-256 always exists; what can fail is memory. */
    ERR_clear_error();
    return -ENOMEM;
}
