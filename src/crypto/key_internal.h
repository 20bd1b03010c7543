/* What the files of key.h share. */
#pragma once
#include <stdatomic.h>

#include <openssl/types.h>

#include "crypto/key.h"

#define CRYPTO_ED25519_BYTES 32 /* of a point, and of a seed */
#define CRYPTO_P256_BYTES    32 /* of a number */
#define CRYPTO_P256_POINT    65

struct crypto_key {
    atomic_uint refs;
    bool is_private;
    EVP_PKEY *pkey;
    struct crypto_key_parts public; /* its bytes are in memory */
    uint8_t memory[];
};

/* Takes pkey, which is sound and of that kind, also on failure. -ENOMEM. */
MUST_CHECK int crypto_key_wrap(EVP_PKEY *, enum crypto_key_kind, bool is_private,
                               struct crypto_key **ret);
