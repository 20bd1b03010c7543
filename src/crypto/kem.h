/* ML-KEM-768 (FIPS 203), where OpenSSL has it: from 3.5 on. Its calls are in all of 3, so that
 * is asked at run time. Within crypto/ alone; see crypto/agree.h. */
#pragma once
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

#define CRYPTO_KEM_PUBLIC_BYTES     1184
#define CRYPTO_KEM_CIPHERTEXT_BYTES 1088
#define CRYPTO_KEM_SECRET_BYTES     32

struct crypto_kem; /* a pair of ours */

bool crypto_kem_is_there(void); /* thread-safe */
/* ret_public: what the peer encapsulates to. -ENOMEM. */
MUST_CHECK int crypto_kem_new(uint8_t ret_public[CRYPTO_KEM_PUBLIC_BYTES],
                              struct crypto_kem **ret);
/* A secret for who has that pair. -FERRY_EPROTO: no key. -ENOMEM. */
MUST_CHECK int crypto_kem_seal(const uint8_t public[CRYPTO_KEM_PUBLIC_BYTES],
                               uint8_t ret_ciphertext[CRYPTO_KEM_CIPHERTEXT_BYTES],
                               uint8_t ret_secret[CRYPTO_KEM_SECRET_BYTES]);
/* Another secret if the ciphertext is not for us: nothing tells that it is wrong. */
MUST_CHECK int crypto_kem_open(struct crypto_kem *,
                               const uint8_t ciphertext[CRYPTO_KEM_CIPHERTEXT_BYTES],
                               uint8_t ret_secret[CRYPTO_KEM_SECRET_BYTES]);
struct crypto_kem *crypto_kem_free(struct crypto_kem *); /* wipes; NULL is fine */
