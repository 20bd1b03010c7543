#include <errno.h>

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "base/err.h"
#include "base/mem.h"
#include "crypto/algorithm.h"
#include "crypto/key_internal.h"

#define ED25519_SIGNATURE 64
#define ECDSA_SIGNATURE   (2 * CRYPTO_P256_BYTES)
#define ECDSA_DER_MAX     (8 + 2 * (CRYPTO_P256_BYTES + 1))

struct scheme {
    enum crypto_key_kind kind;
    const char *digest; /* NULL: the message itself */
};

static const struct scheme schemes[] = {
    [CRYPTO_SIGN_ED25519] = {CRYPTO_ED25519, NULL},
    [CRYPTO_SIGN_ECDSA_SHA256] = {CRYPTO_ECDSA_P256, "SHA2-256"},
    [CRYPTO_SIGN_RSA_SHA256] = {CRYPTO_RSA, "SHA2-256"},
    [CRYPTO_SIGN_RSA_SHA512] = {CRYPTO_RSA, "SHA2-512"},
    [CRYPTO_SIGN_RSA_SHA1] = {CRYPTO_RSA, "SHA1"},
};

static const uint8_t *not_null(struct bytes data)
{
    return data.len != 0 ? data.data : (const uint8_t *)"";
}

static bool set_padding(const struct scheme *s, EVP_PKEY_CTX *ctx)
{
    return s->kind != CRYPTO_RSA || EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1;
}

/* -- ECDSA: OpenSSL has DER, callers have r and s as they are -- */

static bool split_der(const uint8_t *der, size_t len, uint8_t ret[ECDSA_SIGNATURE])
{
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)len);
    bool is_done =
        sig != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret, CRYPTO_P256_BYTES) > 0 &&
        BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret + CRYPTO_P256_BYTES, CRYPTO_P256_BYTES) > 0;
    ECDSA_SIG_free(sig);
    return is_done;
}

static bool make_der(const uint8_t from[ECDSA_SIGNATURE], uint8_t ret[ECDSA_DER_MAX],
                     size_t *ret_len)
{
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(from, CRYPTO_P256_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(from + CRYPTO_P256_BYTES, CRYPTO_P256_BYTES, NULL);
    int len = 0;
    if (sig != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(sig, r, s) == 1) {
        r = s = NULL; /* the signature's now */
        uint8_t *at = ret;
        len = i2d_ECDSA_SIG(sig, &at);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(sig);
    *ret_len = len > 0 ? (size_t)len : 0;
    return len > 0;
}

/* -- signing -- */

static bool sign(const struct crypto_key *k, const struct scheme *s, struct bytes data,
                 uint8_t *ret, size_t *len)
{
    EVP_PKEY_CTX *settings;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool is_done =
        ctx != NULL &&
        EVP_DigestSignInit_ex(ctx, &settings, s->digest, NULL, NULL, k->pkey, NULL) == 1 &&
        set_padding(s, settings) &&
        EVP_DigestSign(ctx, ret, len, not_null(data), data.len) == 1;
    EVP_MD_CTX_free(ctx);
    return is_done;
}

int crypto_key_sign(const struct crypto_key *k, enum crypto_scheme scheme, struct bytes data,
                    uint8_t ret[CRYPTO_SIGNATURE_MAX], size_t *ret_len)
{
    const struct scheme *s = &schemes[scheme];
    if (s->kind != k->public.kind || !k->is_private)
        return -EINVAL;
    size_t len = CRYPTO_SIGNATURE_MAX;
    bool is_done;
    if (s->kind == CRYPTO_ECDSA_P256) {
        uint8_t der[ECDSA_DER_MAX];
        len = sizeof(der);
        is_done = sign(k, s, data, der, &len) && split_der(der, len, ret);
        len = ECDSA_SIGNATURE;
    } else {
        is_done = sign(k, s, data, ret, &len);
    }
    if (!is_done)
        return crypto_failure(-EIO);
    *ret_len = len;
    return 0;
}

/* -- checking -- */

/* Whatever is not 1 is no: a wrong signature is 0, one that is none at all is negative. */
static bool is_signed(const struct crypto_key *k, const struct scheme *s, struct bytes data,
                      struct bytes signature)
{
    EVP_PKEY_CTX *settings;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool is =
        ctx != NULL &&
        EVP_DigestVerifyInit_ex(ctx, &settings, s->digest, NULL, NULL, k->pkey, NULL) == 1 &&
        set_padding(s, settings) &&
        EVP_DigestVerify(ctx, signature.data, signature.len, not_null(data), data.len) == 1;
    EVP_MD_CTX_free(ctx);
    return is;
}

/* As OpenSSL wants it; memory: of CRYPTO_SIGNATURE_MAX bytes. */
static bool encode(const struct crypto_key *k, struct bytes signature, uint8_t *memory,
                   struct bytes *ret)
{
    size_t len = k->public.n.len;
    switch (k->public.kind) {
    case CRYPTO_ED25519:
        *ret = signature;
        return signature.len == ED25519_SIGNATURE;
    case CRYPTO_ECDSA_P256:
        if (signature.len != ECDSA_SIGNATURE || !make_der(signature.data, memory, &len))
            return false;
        *ret = bytes_of(memory, len);
        return true;
    case CRYPTO_RSA: /* some peers send it as a number, its zeros left out */
        if (signature.len == 0 || signature.len > len)
            return false;
        memset(memory, 0, len - signature.len);
        memcpy(memory + len - signature.len, signature.data, signature.len);
        *ret = bytes_of(memory, len);
        return true;
    }
    return false;
}

int crypto_key_verify(const struct crypto_key *k, enum crypto_scheme scheme, struct bytes data,
                      struct bytes signature)
{
    const struct scheme *s = &schemes[scheme];
    if (s->kind != k->public.kind)
        return -EINVAL;
    uint8_t memory[CRYPTO_SIGNATURE_MAX];
    struct bytes encoded;
    bool is = encode(k, signature, memory, &encoded) && is_signed(k, s, data, encoded);
    return is ? 0 : crypto_failure(-FERRY_EAUTH);
}
