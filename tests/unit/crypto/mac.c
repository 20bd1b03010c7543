#include "crypto/mac.h"

#include "base/attr.h"
#include "base/secret.h"
#include "check.h"

static int mac_with(struct bytes key, const struct bytes *parts, unsigned count, uint8_t *ret)
{
    struct crypto_mac_key *k = NULL;
    uint8_t again[CRYPTO_MAC_BYTES];
    assert_int_equal(crypto_mac_key_new(key, &k), 0);
    int r = crypto_mac(k, parts, count, ret);
    assert_int_equal(crypto_mac(k, parts, count, again), r); /* a key serves more than once */
    assert_memory_equal(again, ret, CRYPTO_MAC_BYTES);
    assert_null(crypto_mac_key_free(k));
    return r;
}

/* Expected values from another implementation of HMAC-SHA-256, over length (8 bytes) and part.
 */
static void known_answers_are_met(void **state)
{
    (void)state;
    static const uint8_t nothing[CRYPTO_MAC_BYTES] = {
        0xb6, 0x13, 0x67, 0x9a, 0x08, 0x14, 0xd9, 0xec, 0x77, 0x2f, 0x95,
        0xd7, 0x78, 0xc3, 0x5f, 0xc5, 0xff, 0x16, 0x97, 0xc4, 0x93, 0x71,
        0x56, 0x53, 0xc6, 0xc7, 0x12, 0x14, 0x42, 0x92, 0xc5, 0xad,
    };
    static const uint8_t three[CRYPTO_MAC_BYTES] = {
        0xac, 0x15, 0x6a, 0xdb, 0x8c, 0x3b, 0x57, 0xb1, 0x28, 0x70, 0x01,
        0x9a, 0x91, 0xa2, 0xdd, 0x13, 0xb6, 0x70, 0xf9, 0x64, 0x72, 0xfc,
        0xbc, 0x48, 0x97, 0x98, 0x7d, 0x4e, 0xb0, 0x2e, 0x40, 0x19,
    };
    static const uint8_t long_key[CRYPTO_MAC_BYTES] = {
        0xf0, 0x37, 0xe6, 0x27, 0xdf, 0xd2, 0x42, 0xb4, 0x19, 0xd2, 0x56,
        0x6d, 0xb8, 0x6b, 0x20, 0xa3, 0x3d, 0x0b, 0x96, 0x5d, 0x03, 0x53,
        0xcf, 0xc3, 0xd7, 0x2b, 0x61, 0x21, 0xea, 0xf3, 0xfe, 0x81,
    };
    uint8_t mac[CRYPTO_MAC_BYTES];
    assert_int_equal(mac_with(BYTES_NONE, NULL, 0, mac), 0);
    assert_memory_equal(mac, nothing, sizeof(mac));

    const struct bytes parts[] = {BYTES_LIT("account"), BYTES_LIT("7"), BYTES_LIT("password")};
    assert_int_equal(mac_with(BYTES_LIT("key"), parts, 3, mac), 0);
    assert_memory_equal(mac, three, sizeof(mac));

    uint8_t key[100];
    static const uint8_t zeros[1000];
    memset(key, 'k', sizeof(key));
    const struct bytes odd[] = {BYTES_NONE, {zeros, sizeof(zeros)}};
    assert_int_equal(mac_with(bytes_of(key, sizeof(key)), odd, 2, mac), 0);
    assert_memory_equal(mac, long_key, sizeof(mac));
}

static void the_borders_of_parts_count(void **state)
{
    (void)state;
    const struct bytes splits[][2] = {
        {BYTES_LIT("ab"), BYTES_LIT("c")},
        {BYTES_LIT("a"), BYTES_LIT("bc")},
        {BYTES_LIT("abc"), BYTES_LIT("")},
        {BYTES_LIT(""), BYTES_LIT("abc")},
    };
    uint8_t macs[ARRAY_LEN(splits)][CRYPTO_MAC_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(splits); i++) {
        assert_int_equal(mac_with(BYTES_LIT("key"), splits[i], 2, macs[i]), 0);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(macs[i], macs[j], CRYPTO_MAC_BYTES);
    }
}

static void the_key_counts(void **state)
{
    (void)state;
    const struct bytes part = BYTES_LIT("text");
    uint8_t a[CRYPTO_MAC_BYTES];
    uint8_t b[CRYPTO_MAC_BYTES];
    assert_int_equal(mac_with(BYTES_LIT("key"), &part, 1, a), 0);
    assert_int_equal(mac_with(BYTES_LIT("kez"), &part, 1, b), 0);
    assert_false(secret_equal(bytes_of(a, sizeof(a)), bytes_of(b, sizeof(b))));
    assert_int_equal(mac_with(BYTES_LIT("key"), &part, 1, b), 0);
    assert_true(secret_equal(bytes_of(a, sizeof(a)), bytes_of(b, sizeof(b))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_are_met),
        cmocka_unit_test(the_borders_of_parts_count),
        cmocka_unit_test(the_key_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
