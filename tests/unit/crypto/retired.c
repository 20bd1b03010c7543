#include "crypto/retired.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "crypto/cipher.h"

#define LEN 4096

static void encrypts_as_the_cipher_that_is_in_use_does(void **state)
{
    (void)state;
    static const uint8_t key[16] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    static const uint8_t counter[16];
    struct crypto_retired *old;
    struct crypto_ctr *today;
    static uint8_t a[LEN], b[LEN];
    assert_int_equal(crypto_retired_new("AES-128-CTR", &old), 0);
    assert_int_equal(crypto_ctr_new(bytes_of(key, 16), counter, &today), 0);
    assert_int_equal(crypto_retired_apply(old, a, LEN), 0);
    assert_int_equal(crypto_ctr_apply(today, b, LEN), 0);
    assert_memory_equal(a, b, LEN);
    (void)crypto_retired_free(old);
    (void)crypto_ctr_free(today);
}

/* RFC 6229 and others have no vector for this key: that it changes all blocks is enough. */
static void has_what_ssh_has_given_up_where_the_legacy_provider_is(void **state)
{
    (void)state;
    static const char *const names[] = {"RC4", "BF-CBC", "DES-EDE3-CBC"};
    static uint8_t data[LEN], before[LEN];
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        struct crypto_retired *c;
        int r = crypto_retired_new(names[i], &c);
        if (r == -ENOENT)
            skip();
        assert_int_equal(r, 0);
        memcpy(before, data, LEN);
        assert_int_equal(crypto_retired_apply(c, data, LEN), 0);
        for (unsigned at = 0; at < LEN; at += 16)
            assert_memory_not_equal(data + at, before + at, 16);
        (void)crypto_retired_free(c);
    }
}

static void does_not_know_what_is_no_cipher(void **state)
{
    (void)state;
    struct crypto_retired *c;
    assert_int_equal(crypto_retired_new("ROT-13", &c), -ENOENT);
    assert_null(crypto_retired_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encrypts_as_the_cipher_that_is_in_use_does),
        cmocka_unit_test(has_what_ssh_has_given_up_where_the_legacy_provider_is),
        cmocka_unit_test(does_not_know_what_is_no_cipher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
