/* A keyed digest of several values, for tokens of our own: what is stored or compared is no
 * password and no name. HMAC of raw bytes, as protocols want it, is in crypto/digest.h.
 * Primitives are OpenSSL's. */
#pragma once
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

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
