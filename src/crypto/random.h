/* Randomness from the kernel, and the keyed digest. Primitives are OpenSSL's. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

/* -errno if the kernel gives none; waits only before the kernel's pool is first seeded, at
 * boot. */
MUST_CHECK int crypto_random(void *dst, size_t len);
/* len base32 characters (a-z 2-7) and a NUL: dst has len + 1 bytes. */
MUST_CHECK int crypto_random_base32(char *dst, size_t len);

#define CRYPTO_MAC_BYTES 32

/* A key made ready for use, which is most of the work of a short digest. */
struct crypto_mac_key;
MUST_CHECK int crypto_mac_key_new(struct bytes key, struct crypto_mac_key **ret); /* -ENOMEM */
struct crypto_mac_key *crypto_mac_key_free(struct crypto_mac_key *); /* NULL is fine */

/* HMAC-SHA-256 (RFC 2104) over the parts, each preceded by its length in eight bytes, most
 * significant first. Threads may share the key. -ENOMEM; ret is then undefined. Compare with
 * secret_equal(). */
MUST_CHECK int crypto_mac(const struct crypto_mac_key *, const struct bytes *parts,
                          unsigned count, uint8_t ret[CRYPTO_MAC_BYTES]);
