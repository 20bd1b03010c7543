#include "crypto/agree.h"

#include <errno.h>

#include "base/err.h"
#include "base/fault.h"
#include "crypto/digest.h"
#include "groups.h"
#include "hex.h"

static const enum crypto_agree_kind kinds[] = {CRYPTO_AGREE_X25519, CRYPTO_AGREE_P256,
                                               CRYPTO_AGREE_DH14, CRYPTO_AGREE_DH16};

static struct crypto_agree *agree_new(enum crypto_agree_kind kind)
{
    struct crypto_agree *a = NULL;
    assert_int_equal(crypto_agree_new(kind, &a), 0);
    return a;
}

/* -- known answers -- */

struct answer {
    enum crypto_agree_kind kind;
    const char *secret, *public, *peer, *shared;
};

/* RFC 7748 6.1 (both sides) and 5.2, whose public values are another implementation's; NIST
 * CAVP, KAS ECC CDH, P-256, count 0. */
static const struct answer answers[] = {
    {CRYPTO_AGREE_X25519, "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
     "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
     "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
     "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"},
    {CRYPTO_AGREE_X25519, "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
     "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
     "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
     "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"},
    {CRYPTO_AGREE_X25519, "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
     "1c9fd88f45606d932a80c71824ae151d15d73e77de38e8e000852e614fae7019",
     "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
     "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
    {CRYPTO_AGREE_X25519, "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
     "ff63fe57bfbf43fa3f563628b149af704d3db625369c49983650347a6a71e00e",
     "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
     "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"},
    {CRYPTO_AGREE_P256, "7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534",
     "04"
     "ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230"
     "28af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141",
     "04"
     "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"
     "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac",
     "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"},
};

static void known_answers_of_curves_are_met(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        const struct answer *a = &answers[i];
        static uint8_t secret[HEX_MAX], public[HEX_MAX], peer[HEX_MAX];
        struct crypto_agree *agree = NULL;
        struct secret shared = {0};
        assert_int_equal(crypto_agree_from_pair(a->kind, hex_bytes(a->secret, secret),
                                                hex_bytes(a->public, public), &agree),
                         0);
        struct bytes ours = crypto_agree_public(agree);
        assert_hex_equal(ours.data, ours.len, a->public);
        assert_int_equal(crypto_agree_secret(agree, hex_bytes(a->peer, peer), &shared), 0);
        assert_hex_equal(shared.data, shared.len, a->shared);
        secret_done(&shared);
        assert_null(crypto_agree_free(agree));
    }
    assert_null(crypto_agree_free(NULL));
}

struct group {
    enum crypto_agree_kind kind;
    size_t len;
    const char *prime, *secret, *public, *peer, *shared_sha256;
};

static const struct group groups[] = {
    {CRYPTO_AGREE_DH14, 256, GROUP14_PRIME, GROUP14_SECRET, GROUP14_PUBLIC, GROUP14_PEER,
     GROUP14_SHARED_SHA256},
    {CRYPTO_AGREE_DH16, 512, GROUP16_PRIME, GROUP16_SECRET, GROUP16_PUBLIC, GROUP16_PEER,
     GROUP16_SHARED_SHA256},
};

static void known_answers_of_groups_have_no_leading_zeros(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        const struct group *g = &groups[i];
        static uint8_t secret[HEX_MAX], public[HEX_MAX], peer[HEX_MAX];
        struct crypto_agree *agree = NULL;
        struct secret shared = {0};
        uint8_t digest[CRYPTO_DIGEST_MAX];
        assert_int_equal(crypto_agree_from_pair(g->kind, hex_bytes(g->secret, secret),
                                                hex_bytes(g->public, public), &agree),
                         0);
        struct bytes ours = crypto_agree_public(agree);
        assert_int_equal(ours.len, g->len - 1);
        assert_hex_equal(ours.data, ours.len, g->public);
        peer[0] = 0; /* a peer's leading zero changes nothing */
        struct bytes with_zero = hex_bytes(g->peer, peer + 1);
        with_zero = bytes_of(peer, with_zero.len + 1);
        for (unsigned zeros = 0; zeros < 2; zeros++) {
            struct bytes theirs = bytes_skip(with_zero, 1 - zeros);
            assert_int_equal(crypto_agree_secret(agree, theirs, &shared), 0);
            assert_int_equal(shared.len, g->len - 1);
            struct bytes all = {shared.data, shared.len};
            assert_int_equal(crypto_digest(CRYPTO_SHA256, &all, 1, digest), 0);
            assert_hex_equal(digest, 32, g->shared_sha256);
            secret_done(&shared);
        }
        crypto_agree_free(agree);
    }
}

/* -- both sides -- */

static void both_sides_agree_and_no_two_exchanges_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct crypto_agree *a = agree_new(kinds[i]);
        struct crypto_agree *b = agree_new(kinds[i]);
        struct crypto_agree *c = agree_new(kinds[i]);
        struct secret ab = {0}, ba = {0}, ac = {0};
        assert_int_equal(crypto_agree_secret(a, crypto_agree_public(b), &ab), 0);
        assert_int_equal(crypto_agree_secret(b, crypto_agree_public(a), &ba), 0);
        assert_int_equal(crypto_agree_secret(a, crypto_agree_public(c), &ac), 0);
        assert_true(secret_equal(bytes_of(ab.data, ab.len), bytes_of(ba.data, ba.len)));
        assert_false(secret_equal(bytes_of(ab.data, ab.len), bytes_of(ac.data, ac.len)));
        secret_done(&ab);
        secret_done(&ba);
        secret_done(&ac);
        crypto_agree_free(a);
        crypto_agree_free(b);
        crypto_agree_free(c);
    }
}

/* -- what a peer must not send -- */

static void assert_refused(struct crypto_agree *a, struct bytes peer)
{
    struct secret shared = {0};
    assert_int_equal(crypto_agree_secret(a, peer, &shared), -FERRY_EPROTO);
    assert_null(shared.data);
}

/* A failure leaves an exchange as good as it was. */
static void assert_still_works(struct crypto_agree *a, enum crypto_agree_kind kind)
{
    struct crypto_agree *b = agree_new(kind);
    struct secret shared = {0};
    assert_int_equal(crypto_agree_secret(a, crypto_agree_public(b), &shared), 0);
    secret_done(&shared);
    crypto_agree_free(b);
}

/* All points whose multiple by any scalar of X25519 is 0, with p - 1, p and p + 1 among them.
 */
static const char *const low_points[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
};

static void an_all_zero_secret_is_refused(void **state)
{
    (void)state;
    struct crypto_agree *a = agree_new(CRYPTO_AGREE_X25519);
    for (size_t i = 0; i < ARRAY_LEN(low_points); i++) {
        static uint8_t point[HEX_MAX];
        assert_refused(a, hex_bytes(low_points[i], point));
    }
    assert_still_works(a, CRYPTO_AGREE_X25519);
    crypto_agree_free(a);
}

static void points_of_other_lengths_are_refused(void **state)
{
    (void)state;
    struct crypto_agree *x = agree_new(CRYPTO_AGREE_X25519);
    struct crypto_agree *p = agree_new(CRYPTO_AGREE_P256);
    uint8_t longer[100] = {0x04};
    for (size_t len = 0; len <= sizeof(longer); len++) {
        memcpy(longer, crypto_agree_public(p).data, 65);
        if (len != 32)
            assert_refused(x, bytes_of(longer, len));
        if (len != 65)
            assert_refused(p, bytes_of(longer, len));
    }
    crypto_agree_free(x);
    crypto_agree_free(p);
}

static void what_is_no_point_of_p256_is_refused(void **state)
{
    (void)state;
    struct crypto_agree *a = agree_new(CRYPTO_AGREE_P256);
    struct crypto_agree *b = agree_new(CRYPTO_AGREE_P256);
    uint8_t right[65], wrong[65];
    memcpy(right, crypto_agree_public(b).data, sizeof(right));
    for (size_t bit = 0; bit < 8 * sizeof(right); bit++) { /* each is off the curve */
        memcpy(wrong, right, sizeof(wrong));
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_refused(a, bytes_of(wrong, sizeof(wrong)));
    }
    memset(wrong, 0, sizeof(wrong));
    assert_refused(a, bytes_of(wrong, sizeof(wrong)));
    wrong[0] = 0x04; /* (0, 0) */
    assert_refused(a, bytes_of(wrong, sizeof(wrong)));
    memset(wrong + 1, 0xff, sizeof(wrong) - 1); /* beyond the field */
    assert_refused(a, bytes_of(wrong, sizeof(wrong)));
    memcpy(wrong, right, sizeof(wrong));
    wrong[0] = (uint8_t)(6 + (right[64] & 1)); /* a "hybrid" point */
    assert_refused(a, bytes_of(wrong, sizeof(wrong)));
    assert_still_works(a, CRYPTO_AGREE_P256);
    crypto_agree_free(a);
    crypto_agree_free(b);
}

static void numbers_out_of_the_group_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        struct crypto_agree *a = agree_new(groups[i].kind);
        static uint8_t number[HEX_MAX];
        static const uint8_t zero = 0, one = 1;
        struct bytes prime = hex_bytes(groups[i].prime, number);
        assert_int_equal(prime.len, groups[i].len);
        assert_refused(a, BYTES_NONE);
        assert_refused(a, bytes_of(&zero, 1));
        assert_refused(a, bytes_of(&one, 1));
        assert_refused(a, prime);
        number[prime.len - 1]--; /* the prime ends in ff: no borrow */
        assert_refused(a, prime);
        memset(number, 0xff, prime.len);
        assert_refused(a, prime);
        hex_bytes(groups[i].prime, number);
        for (size_t at = prime.len; number[--at]++ == 0xff;) /* p + 1, with its carries */
            ;
        assert_refused(a, prime);
        number[prime.len] = 0; /* too long by a byte */
        assert_refused(a, bytes_of(number, prime.len + 1));
        assert_still_works(a, groups[i].kind);
        crypto_agree_free(a);
    }
}

/* 2 is the least: it gives our own public value.
 */
static void the_least_number_of_a_group_belongs_to_it(void **state)
{
    (void)state;
    static const uint8_t two = 2;
    struct crypto_agree *a = agree_new(CRYPTO_AGREE_DH14);
    struct secret shared = {0};
    assert_int_equal(crypto_agree_secret(a, bytes_of(&two, 1), &shared), 0);
    struct bytes ours = crypto_agree_public(a);
    assert_true(secret_equal(bytes_of(shared.data, shared.len), ours));
    secret_done(&shared);
    crypto_agree_free(a);
}

#ifdef FERRY_FAULTS
/* Of our own allocations; OpenSSL's: no_memory.c. */
static void no_memory_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct crypto_agree *none = NULL;
        struct secret shared = {0};
        fault_arm(FAULT_ALLOC, 1);
        assert_int_equal(crypto_agree_new(kinds[i], &none), -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
        assert_null(none);
        struct crypto_agree *a = agree_new(kinds[i]);
        struct crypto_agree *b = agree_new(kinds[i]);
        fault_arm(FAULT_ALLOC, 1);
        assert_int_equal(crypto_agree_secret(a, crypto_agree_public(b), &shared), -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
        assert_null(shared.data);
        crypto_agree_free(a);
        crypto_agree_free(b);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_of_curves_are_met),
        cmocka_unit_test(known_answers_of_groups_have_no_leading_zeros),
        cmocka_unit_test(both_sides_agree_and_no_two_exchanges_are_the_same),
        cmocka_unit_test(an_all_zero_secret_is_refused),
        cmocka_unit_test(points_of_other_lengths_are_refused),
        cmocka_unit_test(what_is_no_point_of_p256_is_refused),
        cmocka_unit_test(numbers_out_of_the_group_are_refused),
        cmocka_unit_test(the_least_number_of_a_group_belongs_to_it),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_memory_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
