#include "crypto/agree.h"

#include <errno.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/err.h"
#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/kem.h"

#define SINGLE_MAX 512 /* bytes of a value or a secret, but ML-KEM's */

struct method {
    const char *name, *group; /* OpenSSL's; group: NULL if the name says it */
    size_t public_len;
    bool is_modular; /* numbers modulo a prime, not points */
    bool has_kem;    /* ML-KEM's values stand before it */
};

static const struct method methods[] = {
    [CRYPTO_AGREE_X25519] = {"X25519", NULL, 32, false, false},
    [CRYPTO_AGREE_P256] = {"EC", "P-256", 65, false, false},
    [CRYPTO_AGREE_DH14] = {"DH", "modp_2048", 256, true, false},
    [CRYPTO_AGREE_DH16] = {"DH", "modp_4096", 512, true, false},
    [CRYPTO_AGREE_MLKEM768_X25519] = {"X25519", NULL, 32, false, true},
};

struct crypto_agree {
    const struct method *method;
    EVP_PKEY *pair;
    struct crypto_kem *kem; /* of the one who begins */
    uint8_t public[CRYPTO_AGREE_PUBLIC_MAX];
    struct bytes public_bytes; /* in public */
};

static EVP_PKEY *generate(const struct method *m)
{
    EVP_PKEY *pair = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, m->name, NULL);
    if (ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1 &&
        (m->group == NULL || EVP_PKEY_CTX_set_group_name(ctx, m->group) == 1))
        (void)EVP_PKEY_generate(ctx, &pair); /* pair stays NULL if it fails */
    EVP_PKEY_CTX_free(ctx);
    return pair;
}

/* Takes pair. before: bytes that are still to be set before its public value. */
static int agree_of(const struct method *m, EVP_PKEY *pair, size_t before,
                    struct crypto_agree **ret)
{
    struct crypto_agree *a = mem_new(sizeof(*a));
    if (a == NULL) {
        EVP_PKEY_free(pair);
        return -ENOMEM;
    }
    a->method = m;
    a->pair = pair;
    unsigned char *encoded = NULL;
    size_t len = EVP_PKEY_get1_encoded_public_key(pair, &encoded);
    if (len != m->public_len) {
        OPENSSL_free(encoded);
        crypto_agree_free(a);
        return crypto_failure(-ENOMEM);
    }
    memcpy(a->public + before, encoded, len);
    OPENSSL_free(encoded);
    a->public_bytes = bytes_of(a->public, before + len);
    if (m->is_modular)
        a->public_bytes = crypto_magnitude(a->public_bytes);
    *ret = a;
    return 0;
}

static int agree_new(enum crypto_agree_kind kind, size_t before, struct crypto_agree **ret)
{
    EVP_PKEY *pair = generate(&methods[kind]);
    return pair != NULL ? agree_of(&methods[kind], pair, before, ret) : crypto_failure(-ENOMEM);
}

bool crypto_agree_is_known(enum crypto_agree_kind kind)
{
    return !methods[kind].has_kem || crypto_kem_is_there();
}

int crypto_agree_new(enum crypto_agree_kind kind, struct crypto_agree **ret)
{
    bool has_kem = methods[kind].has_kem;
    struct crypto_agree *a = NULL;
    int r = agree_new(kind, has_kem ? CRYPTO_KEM_PUBLIC_BYTES : 0, &a);
    if (r == 0 && has_kem)
        r = crypto_kem_new(a->public, &a->kem);
    if (r == 0)
        *ret = a;
    else
        crypto_agree_free(a);
    return r;
}

struct bytes crypto_agree_public(const struct crypto_agree *a)
{
    return a->public_bytes;
}

struct crypto_agree *crypto_agree_free(struct crypto_agree *a)
{
    if (a != NULL) {
        EVP_PKEY_free(a->pair); /* wipes */
        crypto_kem_free(a->kem);
    }
    mem_free(a);
    return NULL;
}

/* -- the peer's value -- */

/* 1 < value < p - 1: 1 and p - 1 would make the secret one that everybody knows. */
static int check_range(const EVP_PKEY *pair, struct bytes value)
{
    BIGNUM *p = NULL;
    bool is_compared = false, is_within = false;
    BIGNUM *y = BN_bin2bn(value.data, (int)value.len, NULL);
    if (y != NULL && EVP_PKEY_get_bn_param(pair, OSSL_PKEY_PARAM_FFC_P, &p) == 1 &&
        BN_sub_word(p, 1) == 1) {
        is_compared = true;
        is_within = BN_cmp(y, BN_value_one()) > 0 && BN_cmp(y, p) < 0;
    }
    BN_free(p);
    BN_free(y);
    if (!is_compared)
        return crypto_failure(-ENOMEM);
    return is_within ? 0 : -FERRY_EPROTO;
}

/* To the encoding that OpenSSL takes: a number as long as the prime, or a point as it is. */
static int encode(const struct crypto_agree *a, struct bytes peer, uint8_t *ret)
{
    const struct method *m = a->method;
    if (m->is_modular)
        peer = crypto_magnitude(peer);
    if (peer.len > m->public_len || (!m->is_modular && peer.len != m->public_len))
        return -FERRY_EPROTO;
    if (m->group != NULL && !m->is_modular && peer.data[0] != CRYPTO_POINT_UNCOMPRESSED)
        return -FERRY_EPROTO;
    size_t zeros = m->public_len - peer.len;
    memset(ret, 0, zeros);
    if (peer.len != 0)
        memcpy(ret + zeros, peer.data, peer.len);
    return m->is_modular ? check_range(a->pair, peer) : 0;
}

static EVP_PKEY *peer_of(const struct crypto_agree *a, const uint8_t *encoded)
{
    EVP_PKEY *peer = EVP_PKEY_new();
    if (peer != NULL && EVP_PKEY_copy_parameters(peer, a->pair) == 1 &&
        EVP_PKEY_set1_encoded_public_key(peer, encoded, a->method->public_len) == 1)
        return peer;
    EVP_PKEY_free(peer);
    return NULL;
}

/* -- the secret -- */

/* -FERRY_EPROTO also for an all-zero secret of X25519, which OpenSSL reports as a failure. */
static int derive(const struct crypto_agree *a, EVP_PKEY *peer, uint8_t *secret, size_t *len)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, a->pair, NULL);
    bool is_done = ctx != NULL && EVP_PKEY_derive_init(ctx) == 1 &&
                   EVP_PKEY_derive_set_peer_ex(ctx, peer, !a->method->is_modular) == 1 &&
                   EVP_PKEY_derive(ctx, secret, len) == 1;
    EVP_PKEY_CTX_free(ctx);
    return is_done ? 0 : crypto_failure(-FERRY_EPROTO);
}

static int single_secret(const struct crypto_agree *a, struct bytes peer_public,
                         struct secret *ret)
{
    uint8_t encoded[SINGLE_MAX];
    uint8_t secret[SINGLE_MAX];
    size_t len = sizeof(secret);
    int r = encode(a, peer_public, encoded);
    if (r != 0)
        return r;
    EVP_PKEY *peer = peer_of(a, encoded);
    if (peer == NULL)
        return crypto_failure(-FERRY_EPROTO);
    r = derive(a, peer, secret, &len);
    EVP_PKEY_free(peer);
    struct bytes found = bytes_of(secret, len);
    if (r == 0 && crypto_magnitude(found).len == 0)
        r = -FERRY_EPROTO;
    if (r == 0)
        r = secret_copy(a->method->is_modular ? crypto_magnitude(found) : found, ret);
    mem_wipe(secret, sizeof(secret));
    return r;
}

/* kem: the secret of the first part; the point is the rest. */
static int combine(const struct crypto_agree *a, const uint8_t kem[CRYPTO_KEM_SECRET_BYTES],
                   struct bytes point, struct secret *ret)
{
    struct secret single = {0};
    uint8_t digest[CRYPTO_DIGEST_MAX];
    int r = single_secret(a, point, &single);
    if (r < 0)
        return r;
    const struct bytes parts[] = {bytes_of(kem, CRYPTO_KEM_SECRET_BYTES),
                                  bytes_of(single.data, single.len)};
    r = crypto_digest(CRYPTO_SHA256, parts, ARRAY_LEN(parts), digest);
    if (r == 0)
        r = secret_copy(bytes_of(digest, crypto_digest_len(CRYPTO_SHA256)), ret);
    secret_done(&single);
    mem_wipe(digest, sizeof(digest));
    return r;
}

int crypto_agree_secret(struct crypto_agree *a, struct bytes peer_public, struct secret *ret)
{
    uint8_t kem[CRYPTO_KEM_SECRET_BYTES];
    if (!a->method->has_kem)
        return single_secret(a, peer_public, ret);
    if (peer_public.len != CRYPTO_KEM_CIPHERTEXT_BYTES + a->method->public_len)
        return -FERRY_EPROTO;
    int r = crypto_kem_open(a->kem, peer_public.data, kem);
    if (r == 0)
        r = combine(a, kem, bytes_skip(peer_public, CRYPTO_KEM_CIPHERTEXT_BYTES), ret);
    mem_wipe(kem, sizeof(kem));
    return r;
}

static int answer_kem(struct crypto_agree *a, struct bytes peer_public, struct secret *ret)
{
    uint8_t kem[CRYPTO_KEM_SECRET_BYTES];
    if (peer_public.len != CRYPTO_KEM_PUBLIC_BYTES + a->method->public_len)
        return -FERRY_EPROTO;
    int r = crypto_kem_seal(peer_public.data, a->public, kem);
    if (r == 0)
        r = combine(a, kem, bytes_skip(peer_public, CRYPTO_KEM_PUBLIC_BYTES), ret);
    mem_wipe(kem, sizeof(kem));
    return r;
}

int crypto_agree_answer(enum crypto_agree_kind kind, struct bytes peer_public,
                        struct crypto_agree **ret, struct secret *ret_secret)
{
    bool has_kem = methods[kind].has_kem;
    struct crypto_agree *a;
    int r = agree_new(kind, has_kem ? CRYPTO_KEM_CIPHERTEXT_BYTES : 0, &a);
    if (r < 0)
        return r;
    r = has_kem ? answer_kem(a, peer_public, ret_secret)
                : single_secret(a, peer_public, ret_secret);
    if (r == 0)
        *ret = a;
    else
        crypto_agree_free(a);
    return r;
}

/* -- a given pair -- */

/* An octet string, or a number where the method has one. */
static bool push(OSSL_PARAM_BLD *b, const char *name, bool is_number, struct bytes value,
                 BIGNUM *number)
{
    return is_number ? OSSL_PARAM_BLD_push_BN(b, name, number) == 1
                     : OSSL_PARAM_BLD_push_octet_string(b, name, value.data, value.len) == 1;
}

static EVP_PKEY *pair_of(const struct method *m, struct bytes secret, struct bytes public)
{
    OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
    BIGNUM *secret_n = BN_bin2bn(secret.data, (int)secret.len, NULL);
    BIGNUM *public_n = BN_bin2bn(public.data, (int)public.len, NULL);
    EVP_PKEY *pair = NULL;
    if (b != NULL && secret_n != NULL && public_n != NULL &&
        (m->group == NULL ||
         OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, m->group, 0) == 1) &&
        push(b, OSSL_PKEY_PARAM_PUB_KEY, m->is_modular, public, public_n) &&
        push(b, OSSL_PKEY_PARAM_PRIV_KEY, m->group != NULL, secret, secret_n))
        pair = crypto_pkey_of(m->name, EVP_PKEY_KEYPAIR, b);
    else
        OSSL_PARAM_BLD_free(b);
    BN_clear_free(secret_n);
    BN_free(public_n);
    return pair;
}

int crypto_agree_from_pair(enum crypto_agree_kind kind, struct bytes secret,
                           struct bytes public, struct crypto_agree **ret)
{
    const struct method *m = &methods[kind];
    if (secret.len > m->public_len || public.len > m->public_len || m->has_kem)
        return -FERRY_EPROTO;
    EVP_PKEY *pair = pair_of(m, secret, public);
    return pair != NULL ? agree_of(m, pair, 0, ret) : crypto_failure(-FERRY_EPROTO);
}
