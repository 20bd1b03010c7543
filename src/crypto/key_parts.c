#include <errno.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/err.h"
#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/key_internal.h"

#define RSA_E_BITS_MAX 64 /* a longer one only makes checking slow */

/* Takes pkey, or NULL for what OpenSSL refused. */
static int wrap(EVP_PKEY *pkey, const struct crypto_key_parts *p, bool is_private,
                struct crypto_key **ret)
{
    return pkey != NULL ? crypto_key_wrap(pkey, p->kind, is_private, ret)
                        : crypto_failure(-FERRY_EPROTO);
}

/* -- Ed25519 -- */

static int from_ed25519(const struct crypto_key_parts *p, struct crypto_key **ret)
{
    bool is_private = p->secret.len != 0;
    if (p->point.len != CRYPTO_ED25519_BYTES ||
        (is_private && p->secret.len != CRYPTO_ED25519_BYTES))
        return -FERRY_EPROTO;
    struct crypto_key *k = NULL;
    int r = wrap(is_private ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL,
                                                           p->secret.data, p->secret.len)
                            : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, p->point.data,
                                                          p->point.len),
                 p, is_private, &k);
    if (r != 0)
        return r;
    if (!bytes_equal(k->public.point, p->point)) { /* made of the seed */
        crypto_key_unref(k);
        return -FERRY_EPROTO;
    }
    *ret = k;
    return 0;
}

/* -- P-256 -- */

/* scalar: NULL for a public key. A point off the curve is refused here. */
static EVP_PKEY *pkey_of_point(struct bytes point, const BIGNUM *scalar)
{
    OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
    if (b != NULL &&
        OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point.data, point.len) ==
            1 &&
        (scalar == NULL || OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_PRIV_KEY, scalar) == 1))
        return crypto_pkey_of("EC", scalar != NULL ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, b);
    OSSL_PARAM_BLD_free(b);
    return NULL;
}

/* That the scalar is within the group's order, and the point its multiple of the base. */
static bool is_pair(EVP_PKEY *pkey)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, pkey, NULL);
    bool is = ctx != NULL && EVP_PKEY_check(ctx) == 1;
    EVP_PKEY_CTX_free(ctx);
    return is;
}

static int from_p256(const struct crypto_key_parts *p, struct crypto_key **ret)
{
    bool is_private = p->secret.len != 0;
    struct bytes secret = crypto_magnitude(p->secret);
    if (p->point.len != CRYPTO_P256_POINT || p->point.data[0] != CRYPTO_POINT_UNCOMPRESSED ||
        secret.len > CRYPTO_P256_BYTES)
        return -FERRY_EPROTO;
    if (!is_private)
        return wrap(pkey_of_point(p->point, NULL), p, false, ret);
    BIGNUM *scalar = BN_bin2bn(secret.data, (int)secret.len, NULL);
    EVP_PKEY *pkey = scalar != NULL ? pkey_of_point(p->point, scalar) : NULL;
    BN_clear_free(scalar);
    if (pkey != NULL && !is_pair(pkey)) {
        EVP_PKEY_free(pkey);
        pkey = NULL;
    }
    return wrap(pkey, p, true, ret);
}

/* -- RSA -- */

enum { N, E, D, P, Q, IQMP, DMP1, DMQ1, NUMBERS }; /* those of a public key first */

#define PUBLIC_NUMBERS 2

static const char *const rsa_names[NUMBERS] = {
    [N] = OSSL_PKEY_PARAM_RSA_N,
    [E] = OSSL_PKEY_PARAM_RSA_E,
    [D] = OSSL_PKEY_PARAM_RSA_D,
    [P] = OSSL_PKEY_PARAM_RSA_FACTOR1,
    [Q] = OSSL_PKEY_PARAM_RSA_FACTOR2,
    [IQMP] = OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
    [DMP1] = OSSL_PKEY_PARAM_RSA_EXPONENT1,
    [DMQ1] = OSSL_PKEY_PARAM_RSA_EXPONENT2,
};

/* Sizes first, of everything: nothing is computed with numbers of any length. */
static int read_numbers(const struct crypto_key_parts *p, BIGNUM *const ret[NUMBERS])
{
    const struct bytes from[] = {p->n, p->e, p->d, p->p, p->q, p->iqmp};
    for (size_t i = 0; i < ARRAY_LEN(from); i++) {
        struct bytes number = crypto_magnitude(from[i]);
        if (number.len > CRYPTO_RSA_BITS_MAX / 8)
            return -FERRY_EPROTO;
        if (BN_bin2bn(number.data, (int)number.len, ret[i]) == NULL)
            return crypto_failure(-ENOMEM);
    }
    bool is_sound = BN_num_bits(ret[N]) >= CRYPTO_RSA_BITS_MIN && BN_is_odd(ret[N]) &&
                    BN_is_odd(ret[E]) && !BN_is_one(ret[E]) &&
                    BN_num_bits(ret[E]) <= RSA_E_BITS_MAX;
    return is_sound ? 0 : -FERRY_EPROTO;
}

/* ret = d mod (prime - 1), which undoes e there. */
static bool make_exponent(const BIGNUM *d, const BIGNUM *e, const BIGNUM *prime, BIGNUM *ret,
                          BN_CTX *ctx)
{
    BIGNUM *order = BN_CTX_get(ctx);
    BIGNUM *product = BN_CTX_get(ctx);
    return product != NULL && BN_sub(order, prime, BN_value_one()) == 1 &&
           BN_mod(ret, d, order, ctx) == 1 && BN_mod_mul(product, ret, e, order, ctx) == 1 &&
           BN_is_one(product);
}

/* The factors and exponents are those of n and e. That p and q are prime is not checked: it
 * takes a hundred times as long, and harms nobody but the key's owner. */
static bool complete_secret(BIGNUM *v[NUMBERS], BN_CTX *ctx)
{
    BIGNUM *product = BN_CTX_get(ctx);
    for (size_t i = D; i < NUMBERS; i++)
        BN_set_flags(v[i], BN_FLG_CONSTTIME);
    return product != NULL && BN_mul(product, v[P], v[Q], ctx) == 1 &&
           BN_cmp(product, v[N]) == 0 && make_exponent(v[D], v[E], v[P], v[DMP1], ctx) &&
           make_exponent(v[D], v[E], v[Q], v[DMQ1], ctx) &&
           BN_mod_mul(product, v[IQMP], v[Q], v[P], ctx) == 1 && BN_is_one(product);
}

static bool has_pair(BIGNUM *v[NUMBERS])
{
    BN_CTX *ctx = BN_CTX_new(); /* wipes */
    if (ctx == NULL)
        return false;
    BN_CTX_start(ctx);
    bool is = complete_secret(v, ctx);
    BN_CTX_end(ctx);
    BN_CTX_free(ctx);
    return is;
}

static EVP_PKEY *pkey_of_numbers(BIGNUM *v[NUMBERS], bool is_private)
{
    OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
    size_t count = is_private ? NUMBERS : PUBLIC_NUMBERS;
    for (size_t i = 0; b != NULL && i < count; i++) {
        if (OSSL_PARAM_BLD_push_BN(b, rsa_names[i], v[i]) != 1) {
            OSSL_PARAM_BLD_free(b);
            b = NULL;
        }
    }
    return crypto_pkey_of("RSA", is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, b);
}

static int from_numbers(const struct crypto_key_parts *p, BIGNUM *v[NUMBERS],
                        struct crypto_key **ret)
{
    bool is_private = p->d.len != 0;
    int r = read_numbers(p, v);
    if (r != 0)
        return r;
    if (is_private && !has_pair(v))
        return crypto_failure(-FERRY_EPROTO);
    return wrap(pkey_of_numbers(v, is_private), p, is_private, ret);
}

static int from_rsa(const struct crypto_key_parts *p, struct crypto_key **ret)
{
    BIGNUM *v[NUMBERS] = {NULL};
    int r = 0;
    for (size_t i = 0; r == 0 && i < NUMBERS; i++) {
        v[i] = BN_new();
        r = v[i] != NULL ? 0 : crypto_failure(-ENOMEM);
    }
    if (r == 0)
        r = from_numbers(p, v, ret);
    for (size_t i = 0; i < NUMBERS; i++)
        BN_clear_free(v[i]);
    return r;
}

int crypto_key_from_parts(const struct crypto_key_parts *p, struct crypto_key **ret)
{
    switch (p->kind) {
    case CRYPTO_ED25519:
        return from_ed25519(p, ret);
    case CRYPTO_ECDSA_P256:
        return from_p256(p, ret);
    case CRYPTO_RSA:
        return from_rsa(p, ret);
    }
    return -FERRY_EPROTO;
}
