#include "crypto/digest.h"

#include <errno.h>

#include "base/attr.h"
#include "base/fault.h"
#include "hex.h"

static const enum crypto_digest_kind kinds[] = {CRYPTO_MD5, CRYPTO_SHA1, CRYPTO_SHA256,
                                                CRYPTO_SHA512};

/* RFC 1321 A.5, FIPS 180. */
struct answer {
    enum crypto_digest_kind kind;
    const char *text;
    const char *digest;
};

static const struct answer answers[] = {
    {CRYPTO_MD5, "", "d41d8cd98f00b204e9800998ecf8427e"},
    {CRYPTO_MD5, "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {CRYPTO_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {CRYPTO_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {CRYPTO_SHA256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {CRYPTO_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {CRYPTO_SHA512, "",
     "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
     "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
    {CRYPTO_SHA512, "abc",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
};

static void known_digests_are_met(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        const struct answer *a = &answers[i];
        struct bytes text = bytes_str(a->text);
        uint8_t digest[CRYPTO_DIGEST_MAX];
        assert_int_equal(crypto_digest(a->kind, &text, 1, digest), 0);
        assert_hex_equal(digest, crypto_digest_len(a->kind), a->digest);
        /* The same in parts, empty ones among them. */
        const struct bytes parts[] = {bytes_first(text, 1), BYTES_NONE, bytes_skip(text, 1)};
        assert_int_equal(crypto_digest(a->kind, parts, 3, digest), 0);
        assert_hex_equal(digest, crypto_digest_len(a->kind), a->digest);
    }
}

/* A million times "a" (FIPS 180), in pieces that are no multiple of a block. */
static void a_hash_takes_a_file_bit_by_bit(void **state)
{
    (void)state;
    static const char *const million[] = {
        "7707d6ae4e027c70eea2a935c2296f21",
        "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        ("e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
         "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"),
    };
    static uint8_t letters[1000];
    memset(letters, 'a', sizeof(letters));
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct crypto_hash *h = NULL;
        uint8_t digest[CRYPTO_DIGEST_MAX];
        assert_int_equal(crypto_hash_new(kinds[k], &h), 0);
        for (size_t done = 0; done < 1000000; done += sizeof(letters))
            assert_int_equal(crypto_hash_add(h, bytes_of(letters, sizeof(letters))), 0);
        assert_int_equal(crypto_hash_add(h, BYTES_NONE), 0);
        assert_int_equal(crypto_hash_end(h, digest), 0);
        assert_hex_equal(digest, crypto_digest_len(kinds[k]), million[k]);
        assert_null(crypto_hash_free(h));
    }
    assert_null(crypto_hash_free(NULL));
}

/* -- HMAC -- */

struct hmac_answer {
    enum crypto_digest_kind kind;
    uint8_t key_byte; /* the key is this, key_len times; 0: it is key */
    size_t key_len;
    const char *key, *text, *mac;
};

#define HI   "Hi There"
#define WHAT "what do ya want for nothing?"
#define LONG "Test Using Larger Than Block-Size Key - Hash Key First"

/* RFC 2202 (MD5, SHA-1), RFC 4231 (cases 1, 2 and 6), and keys of just one block's length, from
 * another implementation. */
static const struct hmac_answer hmac_answers[] = {
    {CRYPTO_MD5, 0x0b, 16, "", HI, "9294727a3638bb1c13f48ef8158bfc9d"},
    {CRYPTO_MD5, 0, 0, "Jefe", WHAT, "750c783e6ab0b503eaa86e310a5db738"},
    {CRYPTO_SHA1, 0x0b, 20, "", HI, "b617318655057264e28bc0b6fb378c8ef146be00"},
    {CRYPTO_SHA1, 0, 0, "Jefe", WHAT, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
    {CRYPTO_SHA256, 0x0b, 20, "", HI,
     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {CRYPTO_SHA256, 0, 0, "Jefe", WHAT,
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {CRYPTO_SHA256, 0xaa, 131, "", LONG,
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    {CRYPTO_SHA256, 0, 0, "", "",
     "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
    {CRYPTO_SHA256, 'k', 64, "", "x",
     "f91c4c403625fb06910ef93999265bbd2d62baeaec6ff36455498cc124fe3e66"},
    {CRYPTO_SHA512, 0x0b, 20, "", HI,
     "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
     "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"},
    {CRYPTO_SHA512, 0, 0, "Jefe", WHAT,
     "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
     "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
    {CRYPTO_SHA512, 0xaa, 131, "", LONG,
     "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
     "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"},
    {CRYPTO_SHA512, 'k', 128, "", "x",
     "edf95587d0befb8ddd478ec775d4ab466c69e5c6185001f0594bfca96ce9bb80"
     "b8b62b6a15eb8fa7f667c85574e107546fc0755fab4f09e2d3c0d5558497ca9e"},
};

static void known_macs_are_met_again_and_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hmac_answers); i++) {
        const struct hmac_answer *a = &hmac_answers[i];
        uint8_t repeated[256];
        memset(repeated, a->key_byte, sizeof(repeated));
        struct bytes key =
            a->key_byte != 0 ? bytes_of(repeated, a->key_len) : bytes_str(a->key);
        struct crypto_hmac *h = NULL;
        assert_int_equal(crypto_hmac_new(a->kind, key, &h), 0);
        struct bytes text = bytes_str(a->text);
        const struct bytes parts[] = {bytes_first(text, 3), bytes_skip(text, 3), BYTES_NONE};
        uint8_t mac[CRYPTO_DIGEST_MAX];
        for (unsigned count = 0; count < 3; count++) {
            assert_int_equal(crypto_hmac(h, &text, 1, mac), 0);
            assert_hex_equal(mac, crypto_digest_len(a->kind), a->mac);
            assert_int_equal(crypto_hmac(h, parts, 3, mac), 0);
            assert_hex_equal(mac, crypto_digest_len(a->kind), a->mac);
        }
        assert_null(crypto_hmac_free(h));
    }
    assert_null(crypto_hmac_free(NULL));
}

#ifdef FERRY_FAULTS
/* Of our own allocations; OpenSSL's: no_memory.c. */
static void no_memory_is_reported(void **state)
{
    (void)state;
    struct crypto_hash *h = NULL;
    struct crypto_hmac *m = NULL;
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(crypto_hash_new(CRYPTO_SHA256, &h), -ENOMEM);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(crypto_hmac_new(CRYPTO_SHA256, BYTES_LIT("key"), &m), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    assert_null(h);
    assert_null(m);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_digests_are_met),
        cmocka_unit_test(a_hash_takes_a_file_bit_by_bit),
        cmocka_unit_test(known_macs_are_met_again_and_again),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_memory_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
