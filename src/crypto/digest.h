/* Digests and HMAC over raw bytes. The keyed digest of our own values is in crypto/mac.h.
 * Primitives are OpenSSL's. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

enum crypto_digest_kind { CRYPTO_MD5, CRYPTO_SHA1, CRYPTO_SHA256, CRYPTO_SHA512 };

#define CRYPTO_DIGEST_MAX 64

size_t crypto_digest_len(enum crypto_digest_kind);

/* Of the parts one behind the other. -ENOMEM; *ret is then undefined. */
MUST_CHECK int crypto_digest(enum crypto_digest_kind, const struct bytes *parts, unsigned count,
                             uint8_t ret[CRYPTO_DIGEST_MAX]);

/* Piece by piece, for files. */
struct crypto_hash;
MUST_CHECK int crypto_hash_new(enum crypto_digest_kind, struct crypto_hash **ret); /* -ENOMEM */
MUST_CHECK int crypto_hash_add(struct crypto_hash *, struct bytes);
MUST_CHECK int crypto_hash_end(struct crypto_hash *, uint8_t ret[CRYPTO_DIGEST_MAX]);
struct crypto_hash *crypto_hash_free(struct crypto_hash *); /* NULL is fine; returns NULL */

/* HMAC (RFC 2104) with a key made ready once; of one thread at a time. */
struct crypto_hmac;
MUST_CHECK int crypto_hmac_new(enum crypto_digest_kind, struct bytes key,
                               struct crypto_hmac **ret); /* -ENOMEM */
MUST_CHECK int crypto_hmac(struct crypto_hmac *, const struct bytes *parts, unsigned count,
                           uint8_t ret[CRYPTO_DIGEST_MAX]);
struct crypto_hmac *crypto_hmac_free(struct crypto_hmac *); /* wipes; NULL is fine */
