#include "crypto/random.h"

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "check.h"

static void fills_all_and_differs_each_time(void **state)
{
    (void)state;
    static uint8_t a[4096];
    static uint8_t b[4096];
    assert_int_equal(crypto_random(a, sizeof(a)), 0);
    assert_int_equal(crypto_random(b, sizeof(b)), 0);
    assert_memory_not_equal(a, b, sizeof(a));
    /* The odds against a wrong failure are 2^64 to one. */
    static const uint8_t zeros[8];
    assert_memory_not_equal(a + sizeof(a) - 8, zeros, 8);
    assert_int_equal(crypto_random(NULL, 0), 0);
}

static void base32_is_terminated_and_uses_every_letter(void **state)
{
    (void)state;
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    static char text[4097];
    assert_int_equal(crypto_random_base32(text, sizeof(text) - 1), 0);
    assert_int_equal(strlen(text), sizeof(text) - 1);
    assert_int_equal(strspn(text, alphabet), sizeof(text) - 1);
    for (const char *c = alphabet; *c != '\0'; c++)
        assert_non_null(strchr(text, *c));
    assert_int_equal(crypto_random_base32(text, 0), 0);
    assert_string_equal(text, "");
}

static void writes_no_byte_too_many(void **state)
{
    (void)state;
    char text[23];
    memset(text, '#', sizeof(text));
    assert_int_equal(crypto_random_base32(text, 20), 0);
    assert_int_equal(text[20], '\0');
    assert_int_equal(text[21], '#');
}

#ifdef FERRY_FAULTS
static void a_failure_of_the_kernel_is_reported(void **state)
{
    (void)state;
    char text[21];
    fault_arm(FAULT_SYSCALL, 1);
    assert_int_equal(crypto_random(text, sizeof(text)), -EIO);
    fault_arm(FAULT_SYSCALL, 1);
    assert_int_equal(crypto_random_base32(text, 20), -EIO);
    fault_arm(FAULT_SYSCALL, 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_all_and_differs_each_time),
        cmocka_unit_test(base32_is_terminated_and_uses_every_letter),
        cmocka_unit_test(writes_no_byte_too_many),
#ifdef FERRY_FAULTS
        cmocka_unit_test(a_failure_of_the_kernel_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
