#include "crypto/bcrypt.h"

#include <errno.h>

#include "base/err.h"
#include "hex.h"

static int derive(const char *passphrase, size_t salt_len, uint32_t rounds, size_t len,
                  uint8_t *ret)
{
    static const uint8_t salt[CRYPTO_BCRYPT_SALT_MAX + 1] = "salt";
    return crypto_bcrypt_pbkdf(bytes_str(passphrase), bytes_of(salt, salt_len), rounds, ret,
                               len);
}

/* Known answers: the first two are those that OpenBSD tests its own with, the third is Python's
 * bcrypt.kdf(). */
static void keys_are_those_that_others_derive(void **state)
{
    (void)state;

    static const struct {
        const char *passphrase, *salt;
        uint32_t rounds;
        const char *expected;
    } rows[] = {
        {"password", "salt", 4,
         "5bbf0cc293587f1c3635555c27796598d47e579071bf427e9d8fbe842aba34d9"},
        {"password", "salt", 8,
         "e1367ec5151a33faac4cc1c144cd23fa15d5548493ecc99b9b5d9c0d3b27bec7"
         "6227ea66088b849b20ab7aa478010246e74bba51723fefa9f9474d6508845e8d"},
        {"secret", "0123456789abcdef", 16,
         "7d41423be848f1e335cb4092c62e505a016a759cf6c3bc3e49fde008426f5491"
         "4b2ae9c8a3c063baa81531be7fa69a78"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t got[CRYPTO_BCRYPT_BYTES_MAX], expected[HEX_MAX];
        struct bytes want = hex_bytes(rows[i].expected, expected);
        int r = crypto_bcrypt_pbkdf(bytes_str(rows[i].passphrase), bytes_str(rows[i].salt),
                                    rows[i].rounds, got, want.len);
        if (r == -ELIBACC)
            skip();
        assert_int_equal(r, 0);
        assert_memory_equal(got, want.data, want.len);
    }
}

static void an_empty_passphrase_is_a_wrong_one(void **state)
{
    (void)state;
    uint8_t out[CRYPTO_BCRYPT_BYTES_MAX];
    int r = derive("", 4, 1, 32, out);
    if (r == -ELIBACC)
        skip();
    assert_int_equal(r, -FERRY_EAUTH);
}

static void what_a_file_may_ask_for_has_bounds(void **state)
{
    (void)state;
    uint8_t out[CRYPTO_BCRYPT_BYTES_MAX + 1];
    assert_int_equal(derive("p", 4, CRYPTO_BCRYPT_ROUNDS_MAX + 1, 32, out), -FERRY_ELIMIT);
    assert_int_equal(derive("p", 4, UINT32_MAX, 32, out), -FERRY_ELIMIT);
    assert_int_equal(derive("p", CRYPTO_BCRYPT_SALT_MAX + 1, 1, 32, out), -FERRY_ELIMIT);
    assert_int_equal(derive("p", 4, 1, sizeof(out), out), -FERRY_ELIMIT);
    assert_int_equal(derive("p", 4, 0, 32, out), -EINVAL);
    assert_int_equal(derive("p", 0, 1, 32, out), -EINVAL);
    assert_int_equal(derive("p", 4, 1, 0, out), -EINVAL);
    int r = derive("p", CRYPTO_BCRYPT_SALT_MAX, 1, CRYPTO_BCRYPT_BYTES_MAX, out);
    assert_true(r == 0 || r == -ELIBACC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_that_others_derive),
        cmocka_unit_test(an_empty_passphrase_is_a_wrong_one),
        cmocka_unit_test(what_a_file_may_ask_for_has_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
