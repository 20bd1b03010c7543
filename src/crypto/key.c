#include "crypto/key.h"

#include <errno.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "base/buf.h"
#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/key_internal.h"

/* -- life -- */

static struct crypto_key *key_new(enum crypto_key_kind kind, size_t memory_len)
{
    struct crypto_key *k = mem_new(sizeof(*k) + memory_len);
    if (k == NULL)
        return NULL;
    atomic_init(&k->refs, 1);
    k->public.kind = kind;
    return k;
}

static int wrap_ed25519(const EVP_PKEY *pkey, struct crypto_key **ret)
{
    size_t len = CRYPTO_ED25519_BYTES;
    struct crypto_key *k = key_new(CRYPTO_ED25519, len);
    if (k == NULL)
        return -ENOMEM;
    if (EVP_PKEY_get_raw_public_key(pkey, k->memory, &len) != 1 ||
        len != CRYPTO_ED25519_BYTES) {
        mem_free(k);
        return crypto_failure(-ENOMEM);
    }
    k->public.point = bytes_of(k->memory, len);
    *ret = k;
    return 0;
}

static int wrap_p256(EVP_PKEY *pkey, struct crypto_key **ret)
{
    struct crypto_key *k = key_new(CRYPTO_ECDSA_P256, CRYPTO_P256_POINT);
    if (k == NULL)
        return -ENOMEM;
    unsigned char *encoded = NULL;
    /* Uncompressed, whatever a file had. */
    size_t len = EVP_PKEY_get1_encoded_public_key(pkey, &encoded);
    if (len != CRYPTO_P256_POINT) {
        OPENSSL_free(encoded);
        mem_free(k);
        return crypto_failure(-ENOMEM);
    }
    memcpy(k->memory, encoded, len);
    OPENSSL_free(encoded);
    k->public.point = bytes_of(k->memory, len);
    *ret = k;
    return 0;
}

static int wrap_rsa(const EVP_PKEY *pkey, struct crypto_key **ret)
{
    BIGNUM *e = NULL;
    BIGNUM *n = NULL;
    struct crypto_key *k = NULL;
    if (EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_E, &e) == 1 &&
        EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_N, &n) == 1)
        k = key_new(CRYPTO_RSA, (size_t)BN_num_bytes(e) + (size_t)BN_num_bytes(n));
    if (k != NULL) {
        size_t e_len = (size_t)BN_bn2bin(e, k->memory);
        size_t n_len = (size_t)BN_bn2bin(n, k->memory + e_len);
        k->public.e = bytes_of(k->memory, e_len);
        k->public.n = bytes_of(k->memory + e_len, n_len);
        *ret = k;
    }
    BN_free(e);
    BN_free(n);
    return k != NULL ? 0 : crypto_failure(-ENOMEM);
}

int crypto_key_wrap(EVP_PKEY *pkey, enum crypto_key_kind kind, bool is_private,
                    struct crypto_key **ret)
{
    struct crypto_key *k = NULL;
    int r = kind == CRYPTO_ED25519      ? wrap_ed25519(pkey, &k)
            : kind == CRYPTO_ECDSA_P256 ? wrap_p256(pkey, &k)
                                        : wrap_rsa(pkey, &k);
    if (r != 0) {
        EVP_PKEY_free(pkey);
        return r;
    }
    k->pkey = pkey;
    k->is_private = is_private;
    *ret = k;
    return 0;
}

int crypto_key_generate(enum crypto_key_kind kind, struct crypto_key **ret)
{
    EVP_PKEY *pkey = NULL;
    switch (kind) {
    case CRYPTO_ED25519:
        pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        break;
    case CRYPTO_ECDSA_P256:
        pkey = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
        break;
    case CRYPTO_RSA:
        pkey = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)CRYPTO_RSA_BITS_OWN);
        break;
    }
    return pkey != NULL ? crypto_key_wrap(pkey, kind, true, ret) : crypto_failure(-ENOMEM);
}

struct crypto_key *crypto_key_ref(struct crypto_key *k)
{
    atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
    return k;
}

void crypto_key_unref(struct crypto_key *k)
{
    if (k == NULL || atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1)
        return;
    EVP_PKEY_free(k->pkey); /* wipes */
    mem_free(k);
}

/* -- what is in it -- */

struct crypto_key_parts crypto_key_public(const struct crypto_key *k)
{
    return k->public;
}

bool crypto_key_is_private(const struct crypto_key *k)
{
    return k->is_private;
}

bool crypto_key_equal(const struct crypto_key *a, const struct crypto_key *b)
{
    return a->public.kind == b->public.kind && bytes_equal(a->public.point, b->public.point) &&
           bytes_equal(a->public.e, b->public.e) && bytes_equal(a->public.n, b->public.n);
}

/* There is room, and what lies in memory stays where it is. */
static struct bytes put_bytes(struct buf *memory, struct bytes from)
{
    uint8_t *at = memory->data + memory->len;
    if (from.len != 0)
        memcpy(at, from.data, from.len);
    buf_added(memory, from.len);
    return bytes_of(at, from.len);
}

static int private_ed25519(const struct crypto_key *k, struct buf *memory,
                           struct crypto_key_parts *ret)
{
    size_t len = CRYPTO_ED25519_BYTES;
    int r = buf_reserve(memory, k->public.point.len + len);
    if (r != 0)
        return r;
    ret->point = put_bytes(memory, k->public.point);
    uint8_t *at = memory->data + memory->len;
    if (EVP_PKEY_get_raw_private_key(k->pkey, at, &len) != 1)
        return crypto_failure(-EINVAL);
    buf_added(memory, len);
    ret->secret = bytes_of(at, len);
    return 0;
}

static int private_p256(const struct crypto_key *k, struct buf *memory,
                        struct crypto_key_parts *ret)
{
    BIGNUM *scalar = NULL;
    int r = buf_reserve(memory, k->public.point.len + CRYPTO_P256_BYTES);
    if (r != 0)
        return r;
    ret->point = put_bytes(memory, k->public.point);
    uint8_t *at = memory->data + memory->len;
    bool is_done = EVP_PKEY_get_bn_param(k->pkey, OSSL_PKEY_PARAM_PRIV_KEY, &scalar) == 1 &&
                   BN_bn2binpad(scalar, at, CRYPTO_P256_BYTES) == CRYPTO_P256_BYTES;
    BN_clear_free(scalar);
    if (!is_done)
        return crypto_failure(-EINVAL);
    buf_added(memory, CRYPTO_P256_BYTES);
    ret->secret = bytes_of(at, CRYPTO_P256_BYTES);
    return 0;
}

static int private_rsa(const struct crypto_key *k, struct buf *memory,
                       struct crypto_key_parts *ret)
{
    static const char *const names[] = {
        OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
    };
    struct bytes *const places[] = {&ret->d, &ret->p, &ret->q, &ret->iqmp};
    BIGNUM *numbers[ARRAY_LEN(names)] = {NULL};
    size_t len = k->public.e.len + k->public.n.len;
    int r = 0;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(names); i++) {
        if (EVP_PKEY_get_bn_param(k->pkey, names[i], &numbers[i]) == 1)
            len += (size_t)BN_num_bytes(numbers[i]);
        else
            r = crypto_failure(-EINVAL);
    }
    if (r == 0)
        r = buf_reserve(memory, len);
    if (r == 0) {
        ret->e = put_bytes(memory, k->public.e);
        ret->n = put_bytes(memory, k->public.n);
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (r == 0) {
            uint8_t *at = memory->data + memory->len;
            *places[i] = bytes_of(at, (size_t)BN_bn2bin(numbers[i], at));
            buf_added(memory, places[i]->len);
        }
        BN_clear_free(numbers[i]);
    }
    return r;
}

int crypto_key_private(const struct crypto_key *k, struct buf *memory,
                       struct crypto_key_parts *ret)
{
    if (!k->is_private)
        return -EINVAL;
    struct crypto_key_parts parts = {.kind = k->public.kind};
    int r = parts.kind == CRYPTO_ED25519      ? private_ed25519(k, memory, &parts)
            : parts.kind == CRYPTO_ECDSA_P256 ? private_p256(k, memory, &parts)
                                              : private_rsa(k, memory, &parts);
    if (r == 0)
        *ret = parts;
    return r;
}
