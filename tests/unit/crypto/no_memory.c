/* Each allocation fails in turn, OpenSSL's among them: nothing crashes, nothing leaks, and
 * nothing is taken that should not be. */
#include <errno.h>
#include <stdlib.h>

#include <openssl/crypto.h>

#include "base/err.h"
#include "base/fault.h"
#include "crypto/agree.h"
#include "crypto/cipher.h"
#include "crypto/digest.h"
#include "crypto/key.h"
#include "crypto/key_cipher.h"
#include "hex.h"
#include "key_samples.h"

#ifdef FERRY_FAULTS

static void *allocate(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return fault_hits(FAULT_ALLOC) ? NULL : malloc(size);
}

static void *resize(void *p, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return fault_hits(FAULT_ALLOC) ? NULL : realloc(p, size);
}

static void release(void *p, const char *file, int line)
{
    (void)file, (void)line;
    free(p);
}

static uint8_t data[64];

static int use_gcm(void)
{
    static const uint8_t nonce[CRYPTO_NONCE_BYTES];
    struct crypto_gcm *g = NULL;
    uint8_t tag[CRYPTO_TAG_BYTES];
    int r = crypto_gcm_new(bytes_of(data, 16), true, &g);
    if (r == 0)
        r = crypto_gcm_seal(g, nonce, BYTES_NONE, data, sizeof(data), tag);
    crypto_gcm_free(g);
    return r;
}

static int use_chacha(void)
{
    struct crypto_chacha *c = NULL;
    uint8_t tag[CRYPTO_TAG_BYTES];
    int r = crypto_chacha_new(bytes_of(data, sizeof(data)), &c);
    if (r == 0)
        r = crypto_chacha_seal(c, 0, data, sizeof(data), tag);
    crypto_chacha_free(c);
    return r;
}

static int use_cbc(void)
{
    struct crypto_cbc *c = NULL;
    int r = crypto_cbc_new(CRYPTO_CBC_AES128, bytes_of(data, 16), data, true, &c);
    if (r == 0)
        r = crypto_cbc_apply(c, data, 32);
    crypto_cbc_free(c);
    return r;
}

static int use_ctr(void)
{
    struct crypto_ctr *c = NULL;
    int r = crypto_ctr_new(bytes_of(data, 16), data, &c);
    if (r == 0)
        r = crypto_ctr_apply(c, data, sizeof(data));
    crypto_ctr_free(c);
    return r;
}

/* Garbage in an Ed25519 file's place: a cipher with a tag finds it wrong. */
static int use_key_cipher(const char *name)
{
    const struct crypto_key_cipher *c = crypto_key_cipher_find(bytes_str(name));
    static uint8_t secret[CRYPTO_KEY_CIPHER_SECRET_MAX];
    int r = crypto_key_cipher_open(c, secret, data, 16, bytes_of(secret, c->tag_len));
    return r == -FERRY_EAUTH ? 0 : r;
}

static int use_key_ctr(void)
{
    return use_key_cipher("aes256-ctr");
}

static int use_key_gcm(void)
{
    return use_key_cipher("aes256-gcm@openssh.com");
}

static int use_key_chacha(void)
{
    return use_key_cipher("chacha20-poly1305@openssh.com");
}

static int use_digest(void)
{
    struct bytes part = {data, sizeof(data)};
    uint8_t digest[CRYPTO_DIGEST_MAX];
    return crypto_digest(CRYPTO_SHA512, &part, 1, digest);
}

static int use_hmac(void)
{
    struct bytes part = {data, sizeof(data)};
    struct crypto_hmac *h = NULL;
    uint8_t mac[CRYPTO_DIGEST_MAX];
    int r = crypto_hmac_new(CRYPTO_SHA256, part, &h);
    if (r == 0)
        r = crypto_hmac(h, &part, 1, mac);
    crypto_hmac_free(h);
    return r;
}

static int agree(enum crypto_agree_kind kind)
{
    struct crypto_agree *a = NULL;
    struct secret shared = {0};
    int r = crypto_agree_new(kind, &a);
    if (r == 0)
        r = crypto_agree_secret(a, crypto_agree_public(a), &shared);
    secret_done(&shared);
    crypto_agree_free(a);
    return r;
}

static int use_x25519(void)
{
    return agree(CRYPTO_AGREE_X25519);
}

static int use_p256(void)
{
    return agree(CRYPTO_AGREE_P256);
}

static int use_group(void)
{
    return agree(CRYPTO_AGREE_DH14);
}

/* From a file, by way of all parts, to a signature. */
static int use_file(void)
{
    struct crypto_key *k = NULL;
    uint8_t signature[CRYPTO_SIGNATURE_MAX];
    size_t len;
    int r = crypto_key_from_pem(BYTES_LIT(PEM_ED25519), BYTES_NONE, &k);
    if (r == 0)
        r = crypto_key_sign(k, CRYPTO_SIGN_ED25519, BYTES_LIT("ferry"), signature, &len);
    crypto_key_unref(k);
    return r;
}

static int use_p256_key(void)
{
    static uint8_t point[HEX_MAX], scalar[HEX_MAX];
    const struct crypto_key_parts parts = {.kind = CRYPTO_ECDSA_P256,
                                           .point = hex_bytes(P256_POINT, point),
                                           .secret = hex_bytes(P256_SCALAR, scalar)};
    struct crypto_key *k = NULL;
    uint8_t signature[CRYPTO_SIGNATURE_MAX];
    size_t len;
    int r = crypto_key_from_parts(&parts, &k);
    if (r == 0)
        r = crypto_key_sign(k, CRYPTO_SIGN_ECDSA_SHA256, BYTES_LIT("ferry"), signature, &len);
    crypto_key_unref(k);
    return r;
}

static int use_rsa_key(void)
{
    static uint8_t n[HEX_MAX], signature[HEX_MAX];
    static const uint8_t e[] = {1, 0, 1};
    const struct crypto_key_parts parts = {
        .kind = CRYPTO_RSA, .e = bytes_of(e, sizeof(e)), .n = hex_bytes(RSA_N, n)};
    struct crypto_key *k = NULL;
    int r = crypto_key_from_parts(&parts, &k);
    if (r == 0)
        r = crypto_key_verify(k, CRYPTO_SIGN_RSA_SHA256, BYTES_LIT("ferry"),
                              hex_bytes(RSA_SHA256_FERRY, signature));
    crypto_key_unref(k);
    return r;
}

struct use {
    int (*run)(void);
    /* Else OpenSSL may hide the reason, and the failure looks like a refusal; or it may do
     * without what it asked for. */
    bool says_so;
};

static const struct use uses[] = {
    {use_cbc, true},      {use_gcm, true},      {use_chacha, true},      {use_ctr, true},
    {use_digest, true},   {use_hmac, true},     {use_x25519, false},     {use_p256, false},
    {use_group, false},   {use_file, false},    {use_p256_key, false},   {use_rsa_key, false},
    {use_key_ctr, false}, {use_key_gcm, false}, {use_key_chacha, false},
};

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        assert_int_equal(uses[i].run(), 0); /* what is kept for ever is there now */
        fault_arm(FAULT_ALLOC, UINT64_MAX);
        assert_int_equal(uses[i].run(), 0);
        uint64_t count = fault_count(FAULT_ALLOC);
        uint64_t told = 0;
        for (uint64_t nth = 1; nth <= count; nth++) {
            fault_arm(FAULT_ALLOC, nth);
            int r = uses[i].run();
            fault_arm(FAULT_ALLOC, 0);
            assert_true(r <= 0);
            told += r == -ENOMEM;
        }
        assert_true(uses[i].says_so ? told == count : told > 0);
        assert_int_equal(uses[i].run(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    if (CRYPTO_set_mem_functions(allocate, resize, release) != 1)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77;
}

#endif
