#include "base/secret.h"

#include <errno.h>

#include "base/fault.h"
#include "check_bytes.h"

static void a_copy_is_terminated_and_apart(void **state)
{
    (void)state;
    struct secret s;
    struct bytes source = BYTES_LIT("pass\0word");
    assert_int_equal(secret_copy(source, &s), 0);
    assert_ptr_not_equal(s.data, source.data);
    assert_bytes_equal(bytes_of(s.data, s.len), "pass\0word");
    assert_int_equal(s.data[s.len], 0);
    secret_done(&s);
    assert_null(s.data);
    assert_int_equal(s.len, 0);
    secret_done(&s);
}

static void an_empty_secret_is_a_secret(void **state)
{
    (void)state;
    struct secret s;
    assert_int_equal(secret_copy(BYTES_NONE, &s), 0);
    assert_non_null(s.data);
    assert_int_equal(s.data[0], 0);
    secret_done(&s);
}

static void every_difference_counts(void **state)
{
    (void)state;
    uint8_t a[33] = {0};
    uint8_t b[33] = {0};
    assert_true(secret_equal(bytes_of(a, 33), bytes_of(b, 33)));
    for (unsigned bit = 0; bit < 33 * 8; bit++) {
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(secret_equal(bytes_of(a, 33), bytes_of(b, 33)));
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_false(secret_equal(bytes_of(a, 33), bytes_of(b, 32)));
    assert_true(secret_equal(BYTES_NONE, BYTES_NONE));
}

#ifdef FERRY_FAULTS
static void without_memory_nothing_is_returned(void **state)
{
    (void)state;
    struct secret s = {0};
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(secret_copy(BYTES_LIT("x"), &s), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    assert_null(s.data);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_terminated_and_apart),
        cmocka_unit_test(an_empty_secret_is_a_secret),
        cmocka_unit_test(every_difference_counts),
#ifdef FERRY_FAULTS
        cmocka_unit_test(without_memory_nothing_is_returned),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
