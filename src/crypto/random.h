/* Randomness from the kernel, and the keyed digest. Primitives are OpenSSL's. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

MUST_CHECK int crypto_random(void *dst, size_t len);
/* len base32 characters (a-z 2-7) and a NUL: dst has len + 1 bytes. */
MUST_CHECK int crypto_random_base32(char *dst, size_t len);

#define CRYPTO_MAC_BYTES 32
/* HMAC-SHA-256 over the parts, each preceded by its length. */
MUST_CHECK int crypto_mac(struct bytes key, const struct bytes *parts, unsigned count,
                          uint8_t ret[CRYPTO_MAC_BYTES]);
