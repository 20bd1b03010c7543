#include "auth/bans.h"

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/limits.h"
#include "check.h"

static struct host host_number(uint32_t n)
{
    struct host h = {{0}};
    memcpy(h.octets, &n, sizeof(n));
    return h;
}

static void as_many_failures_as_set_ban_for_a_minute(void **state)
{
    (void)state;
    struct bans *b;
    assert_int_equal(bans_new(3, &b), 0);
    struct host bad = host_number(1), good = host_number(2);
    assert_false(bans_has(b, &bad, 0));
    assert_false(bans_fail(b, &bad, 10));
    assert_false(bans_fail(b, &bad, 20));
    assert_false(bans_has(b, &bad, 25));
    assert_true(bans_fail(b, &bad, 30));
    assert_true(bans_has(b, &bad, 30));
    assert_false(bans_has(b, &good, 30));
    assert_true(bans_has(b, &bad, 29 + BAN_US));
    assert_false(bans_has(b, &bad, 30 + BAN_US));
    bans_free(b);
}

static void failures_count_over_the_border_of_a_window(void **state)
{
    (void)state;
    struct bans *b;
    assert_int_equal(bans_new(4, &b), 0);
    struct host bad = host_number(1);
    usec_t start = 5 * USEC_PER_S;
    assert_false(bans_fail(b, &bad, start));
    assert_false(bans_fail(b, &bad, start + BAN_WINDOW_US - 2));
    assert_false(bans_fail(b, &bad, start + BAN_WINDOW_US - 1));
    assert_true(bans_fail(b, &bad, start + BAN_WINDOW_US + 1));
    bans_free(b);
}

static void failures_that_are_spread_out_are_forgotten(void **state)
{
    (void)state;
    struct bans *b;
    assert_int_equal(bans_new(3, &b), 0);
    struct host clumsy = host_number(1);
    for (usec_t t = 0; t < 100 * BAN_WINDOW_US; t += BAN_WINDOW_US)
        assert_false(bans_fail(b, &clumsy, t)); /* two count at any time */
    assert_false(bans_fail(b, &clumsy, 200 * BAN_WINDOW_US));
    assert_false(bans_fail(b, &clumsy, 200 * BAN_WINDOW_US + 1));
    assert_true(bans_fail(b, &clumsy, 200 * BAN_WINDOW_US + 2));
    bans_free(b);
}

static void a_clock_that_another_worker_read_earlier_changes_nothing(void **state)
{
    (void)state;
    struct bans *b;
    assert_int_equal(bans_new(2, &b), 0);
    struct host bad = host_number(1);
    assert_false(bans_fail(b, &bad, 1000));
    assert_true(bans_fail(b, &bad, 999));
    bans_free(b);
}

static void a_bound_of_zero_bans_nobody(void **state)
{
    (void)state;
    struct bans *b;
    assert_int_equal(bans_new(0, &b), 0);
    struct host h = host_number(1);
    for (usec_t t = 0; t < 1000; t++)
        assert_false(bans_fail(b, &h, t));
    assert_false(bans_has(b, &h, 1000));
    bans_free(b);
}

static void a_full_table_forgets_the_oldest_failure(void **state)
{
    (void)state;
    struct bans *b;
    assert_int_equal(bans_new(2, &b), 0);
    for (uint32_t n = 0; n < BANS_MAX; n++) {
        struct host h = host_number(n);
        assert_false(bans_fail(b, &h, 1));
    }
    struct host first = host_number(0), second = host_number(1), new = host_number(BANS_MAX);
    assert_true(bans_fail(b, &first, 2)); /* still known, and now the youngest */
    assert_false(bans_fail(b, &new, 3));  /* takes the place of the second */
    assert_true(bans_has(b, &first, 4));
    assert_false(bans_fail(b, &second, 4));
    bans_free(b);
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct bans *b = NULL;
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(bans_new(2, &b), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    assert_null(bans_free(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_failures_as_set_ban_for_a_minute),
        cmocka_unit_test(failures_count_over_the_border_of_a_window),
        cmocka_unit_test(failures_that_are_spread_out_are_forgotten),
        cmocka_unit_test(a_clock_that_another_worker_read_earlier_changes_nothing),
        cmocka_unit_test(a_bound_of_zero_bans_nobody),
        cmocka_unit_test(a_full_table_forgets_the_oldest_failure),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
