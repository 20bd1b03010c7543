#include "client/remote/received.h"

#include "check.h"

static void parts_in_order_move_the_end(void **state)
{
    struct received r;
    (void)state;
    received_init(&r, 100);
    received_add(&r, 100, 150);
    received_add(&r, 150, 151);
    assert_int_equal(r.end, 151);
    assert_int_equal(r.count, 0);
}

static void what_is_behind_a_gap_counts_when_the_gap_is_filled(void **state)
{
    struct received r;
    (void)state;
    received_init(&r, 0);
    received_add(&r, 30, 40);
    received_add(&r, 10, 20);
    received_add(&r, 50, 60);
    assert_int_equal(r.end, 0);
    received_add(&r, 20, 30);
    assert_int_equal(r.count, 2);
    received_add(&r, 0, 10);
    assert_int_equal(r.end, 40);
    received_add(&r, 40, 50);
    assert_int_equal(r.end, 60);
    assert_int_equal(r.count, 0);
}

static void a_part_that_comes_twice_counts_once(void **state)
{
    struct received r;
    (void)state;
    received_init(&r, 0);
    received_add(&r, 0, 10);
    received_add(&r, 5, 10);
    received_add(&r, 0, 10);
    assert_int_equal(r.end, 10);
}

static void more_gaps_than_there_is_place_for_tell_less_never_more(void **state)
{
    struct received r;
    (void)state;
    received_init(&r, 0);
    for (uint64_t i = 1; i <= 2 * RECEIVED_AHEAD_MAX; i++)
        received_add(&r, 10 * i, 10 * i + 5);
    assert_int_equal(r.count, RECEIVED_AHEAD_MAX);
    for (uint64_t i = 0; i <= 2 * RECEIVED_AHEAD_MAX; i++)
        received_add(&r, 10 * i + 5, 10 * i + 10);
    assert_int_equal(r.end, 0);
    received_add(&r, 0, 5);
    assert_int_equal(r.end, 10 * (RECEIVED_AHEAD_MAX + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_in_order_move_the_end),
        cmocka_unit_test(what_is_behind_a_gap_counts_when_the_gap_is_filled),
        cmocka_unit_test(a_part_that_comes_twice_counts_once),
        cmocka_unit_test(more_gaps_than_there_is_place_for_tell_less_never_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
