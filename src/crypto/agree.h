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
    CRYPTO_AGREE_DH16,   /* RFC 3526 group 16: up to 512 bytes */
    /* ML-KEM-768 (FIPS 203) and X25519 side by side: the one who begins sends a key to
     * encapsulate to, 1184 bytes, the one who answers a ciphertext of 1088, both with a point
     * behind. The secret is SHA-256 of both secrets (draft-ietf-sshm-mlkem-hybrid-kex 2.4). */
    CRYPTO_AGREE_MLKEM768_X25519
};

#define CRYPTO_AGREE_PUBLIC_MAX 1216

struct crypto_agree;

/* ML-KEM is in OpenSSL from 3.5 on. Thread-safe. */
bool crypto_agree_is_known(enum crypto_agree_kind);
MUST_CHECK int crypto_agree_new(enum crypto_agree_kind,
                                struct crypto_agree **ret); /* -ENOMEM */
/* With a given pair, which nothing but a test or a fuzzer wants: a fixed exchange. The secret
 * is the scalar or the exponent. -FERRY_EPROTO: no pair. */
MUST_CHECK int crypto_agree_from_pair(enum crypto_agree_kind, struct bytes secret,
                                      struct bytes public, struct crypto_agree **ret);
/* A pair of the one who answers, and the secret at once, as crypto_agree_secret() has it: with
 * ML-KEM our public value comes of the peer's. */
MUST_CHECK int crypto_agree_answer(enum crypto_agree_kind, struct bytes peer_public,
                                   struct crypto_agree **ret, struct secret *ret_secret);
/* Ours, borrowed; groups: the number without leading zeros. */
struct bytes crypto_agree_public(const struct crypto_agree *);
/* The shared secret: 32 bytes (curves), or a number whose leading zeros are taken off (groups).
 * -FERRY_EPROTO: the peer's value is no point of the curve, gives an all-zero secret (RFC 7748
 * 6.1), is not within 1 < value < p - 1 (RFC 4253 8), or is no ciphertext or key by its length
 * or its numbers (FIPS 203 7.2; a wrong one of the right shape gives another secret). -ENOMEM.
 * The caller's to secret_done(). */
MUST_CHECK int crypto_agree_secret(struct crypto_agree *, struct bytes peer_public,
                                   struct secret *ret);
struct crypto_agree *crypto_agree_free(struct crypto_agree *); /* wipes; NULL is fine */
