#include "base/clock.h"

#include "check.h"

static int use_real_clock(void **state)
{
    (void)state;
    clock_set_fake(NULL);
    return 0;
}

static void the_clock_never_goes_back(void **state)
{
    (void)state;
    usec_t before = clock_now();
    for (unsigned i = 0; i < 1000; i++) {
        usec_t now = clock_now();
        assert_true(now >= before);
        before = now;
    }
    assert_true(before > 0);
}

static void the_wall_clock_is_of_this_century(void **state)
{
    (void)state;
    assert_true(clock_wall_us() > INT64_C(1577836800000000)); /* 2020 */
    assert_true(clock_wall_us() < INT64_C(4102444800000000)); /* 2100 */
}

static void a_fake_clock_is_obeyed(void **state)
{
    (void)state;
    usec_t now = 5;
    clock_set_fake(&now);
    assert_int_equal(clock_now(), 5);
    assert_int_equal(clock_wall_us(), CLOCK_FAKE_WALL_US + 5);
    now = 7 * USEC_PER_S;
    assert_int_equal(clock_now(), 7 * USEC_PER_S);
    assert_int_equal(clock_wall_us(), CLOCK_FAKE_WALL_US + (int64_t)(7 * USEC_PER_S));
    clock_set_fake(NULL);
    assert_int_not_equal(clock_now(), 7 * USEC_PER_S);
}

static void no_limit_and_overflow_are_never(void **state)
{
    (void)state;
    usec_t now = 100;
    clock_set_fake(&now);
    assert_int_equal(clock_after(20), 120);
    assert_true(clock_after(0) == USEC_NEVER);
    assert_true(clock_after(USEC_NEVER) == USEC_NEVER);
    assert_true(clock_after(USEC_NEVER - 99) == USEC_NEVER);
    assert_true(clock_after(USEC_NEVER - 101) == USEC_NEVER - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_is_of_this_century),
        cmocka_unit_test_teardown(a_fake_clock_is_obeyed, use_real_clock),
        cmocka_unit_test_teardown(no_limit_and_overflow_are_never, use_real_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
