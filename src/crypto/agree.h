/* Key agreement: an own pair for one exchange, and the secret shared with the peer's public
 * value. Primitives are OpenSSL's. Costs up to milliseconds (groups): on a pool thread. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "base/secret.h"

enum crypto_agree_kind {
    CRYPTO_AGREE_X25519, /* RFC 7748: 32 bytes */
    CRYPTO_AGREE_P256,   /* NIST P-256: 65 bytes, uncompressed point */
    CRYPTO_AGREE_DH14,   /* RFC 3526 group 14: a number of up to 256 bytes */
    CRYPTO_AGREE_DH16    /* RFC 3526 group 16: up to 512 bytes */
};

#define CRYPTO_AGREE_PUBLIC_MAX 512

struct crypto_agree;

MUST_CHECK int crypto_agree_new(enum crypto_agree_kind,
                                struct crypto_agree **ret); /* -ENOMEM */
/* With a given pair, which nothing but a test or a fuzzer wants: a fixed exchange. The secret
 * is the scalar or the exponent. -FERRY_EPROTO: no pair. */
MUST_CHECK int crypto_agree_from_pair(enum crypto_agree_kind, struct bytes secret,
                                      struct bytes public, struct crypto_agree **ret);
/* Ours, borrowed; groups: the number without leading zeros. */
struct bytes crypto_agree_public(const struct crypto_agree *);
/* The shared secret: 32 bytes (curves), or a number whose leading zeros are taken off (groups).
 * -FERRY_EPROTO: the peer's value is no point of the curve, gives an all-zero secret (RFC 7748
 * 6.1), or is not within 1 < value < p - 1 (RFC 4253 8). -ENOMEM. The caller's to
 * secret_done(). */
MUST_CHECK int crypto_agree_secret(struct crypto_agree *, struct bytes peer_public,
                                   struct secret *ret);
struct crypto_agree *crypto_agree_free(struct crypto_agree *); /* wipes; NULL is fine */
