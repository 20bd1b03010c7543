/* Keys that sign: Ed25519 (RFC 8032), ECDSA on P-256 (FIPS 186), RSA PKCS#1 v1.5 (RFC 8017).
 *
 * Primitives are OpenSSL's. Public values and signatures are plain bytes here; how SSH packs
 * them stands in ssh/wire/key.h. A key may be used by several threads. RSA signing costs
 * 1-2 ms, checking and the others about 0.1 ms: on a pool thread.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

enum crypto_key_kind { CRYPTO_ED25519, CRYPTO_ECDSA_P256, CRYPTO_RSA };

/* What is signed: Ed25519 takes the message itself, ECDSA its SHA-256, RSA one of three, of
 * which SHA-1 is for old peers alone. */
enum crypto_scheme {
    CRYPTO_SIGN_ED25519,
    CRYPTO_SIGN_ECDSA_SHA256,
    CRYPTO_SIGN_RSA_SHA256,
    CRYPTO_SIGN_RSA_SHA512,
    CRYPTO_SIGN_RSA_SHA1
};

#define CRYPTO_RSA_BITS_MIN  2048 /* accepted */
#define CRYPTO_RSA_BITS_MAX  8192
#define CRYPTO_RSA_BITS_OWN  3072 /* generated */
#define CRYPTO_SIGNATURE_MAX (CRYPTO_RSA_BITS_MAX / 8)

/* Values of a key; numbers are without sign, most significant byte first, and may have leading
 * zeros. What a kind does not have is empty. */
struct crypto_key_parts {
    enum crypto_key_kind kind;
    struct bytes point;         /* Ed25519: 32 bytes; P-256: 65, uncompressed */
    struct bytes e, n;          /* RSA */
    struct bytes secret;        /* Ed25519: the seed, 32 bytes; P-256: the scalar */
    struct bytes d, p, q, iqmp; /* RSA */
};

struct crypto_key;

MUST_CHECK int crypto_key_generate(enum crypto_key_kind, struct crypto_key **ret);
/* Public, or private if the secret parts are there. -FERRY_EPROTO: no key of that kind can have
 * these values (a point off the curve, RSA of too few or too many bits, an even e, ...), or the
 * secret does not belong to the public part. -ENOMEM. */
MUST_CHECK int crypto_key_from_parts(const struct crypto_key_parts *, struct crypto_key **ret);
/* The public parts, borrowed from the key. */
struct crypto_key_parts crypto_key_public(const struct crypto_key *);
/* The same with the secret; all of *ret lies in `memory`, an initialised buffer that the caller
 * wipes (buf_wipe()). -EINVAL: there is no secret. -ENOMEM, -FERRY_ELIMIT (its cap). */
struct buf;
MUST_CHECK int crypto_key_private(const struct crypto_key *, struct buf *memory,
                                  struct crypto_key_parts *ret);
bool crypto_key_is_private(const struct crypto_key *);
bool crypto_key_equal(const struct crypto_key *, const struct crypto_key *); /* public parts */
struct crypto_key *crypto_key_ref(struct crypto_key *);                      /* thread-safe */
void crypto_key_unref(struct crypto_key *); /* wipes with the last; NULL is fine */

/* Ed25519: 64 bytes; ECDSA: r and s of 32 bytes each; RSA: as long as its n. *ret_len in bytes.
 * -EINVAL: a scheme that is not the key's, or a key without secret. -ENOMEM; -EIO: the library
 * refused, which no input can cause. */
MUST_CHECK int crypto_key_sign(const struct crypto_key *, enum crypto_scheme, struct bytes data,
                               uint8_t ret[CRYPTO_SIGNATURE_MAX], size_t *ret_len);
/* 0: signed by this key. -FERRY_EAUTH: not. -EINVAL: a scheme that is not the key's. -ENOMEM.
 * RSA: leading zeros may be missing, as some peers leave them out. */
MUST_CHECK int crypto_key_verify(const struct crypto_key *, enum crypto_scheme,
                                 struct bytes data, struct bytes signature);

/* A private key in PEM (PKCS#8, SEC1, PKCS#1), which may be encrypted. -FERRY_EAUTH: the
 * passphrase is wrong, or there is none and one is needed; -FERRY_EPROTO: no such key. */
MUST_CHECK int crypto_key_from_pem(struct bytes pem, struct bytes passphrase,
                                   struct crypto_key **ret);
