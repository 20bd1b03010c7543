/* Algorithms of OpenSSL, looked up once and kept: a look-up by name takes locks and a
 * microsecond and more, which a packet does not have. Within crypto/ alone. Thread-safe.
 */
#pragma once
#include <openssl/types.h>

#include "crypto/digest.h"

enum crypto_cipher_kind {
    CRYPTO_AES128_GCM,
    CRYPTO_AES256_GCM,
    CRYPTO_AES128_CTR,
    CRYPTO_AES192_CTR,
    CRYPTO_AES256_CTR,
    CRYPTO_CHACHA20,
    CRYPTO_AES128_CBC,
    CRYPTO_AES256_CBC,
    CRYPTO_3DES_CBC,
    CRYPTO_CIPHER_KIND_COUNT
};

#define CRYPTO_POINT_UNCOMPRESSED 0x04 /* how such a point begins (SEC 1 2.3.3) */

/* A number without its leading zeros. */
static inline struct bytes crypto_magnitude(struct bytes number)
{
    while (number.len > 0 && number.data[0] == 0)
        number = bytes_skip(number, 1);
    return number;
}

/* Borrowed for ever; NULL: there was no memory, the next call tries again. */
const EVP_MD *crypto_md(enum crypto_digest_kind);
const EVP_CIPHER *crypto_cipher(enum crypto_cipher_kind);
EVP_MAC *crypto_poly1305(void);

/* Why a call of OpenSSL failed: -ENOMEM if it had no memory, or else `otherwise`. Empties the
 * thread's queue of errors, where the reasons are. */
int crypto_failure(int otherwise);

/* A key of these values, or NULL; takes and frees the builder, NULL for one that could not be
 * filled. selection: EVP_PKEY_KEYPAIR or EVP_PKEY_PUBLIC_KEY. What it copied is wiped. */
EVP_PKEY *crypto_pkey_of(const char *name, int selection, OSSL_PARAM_BLD *filled);
