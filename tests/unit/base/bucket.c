#include "base/bucket.h"

#include "base/attr.h"
#include "check.h"

#define MB UINT64_C(1000000)

/* Moves all it may from *now on, waiting where it is told to, until bytes have moved. */
static uint64_t pump(struct bucket *b, uint64_t bytes, uint64_t want, usec_t *now)
{
    uint64_t waits = 0;
    while (bytes != 0) {
        usec_t when;
        uint64_t some = bucket_budget(b, want < bytes ? want : bytes, *now, &when);
        if (some == 0) {
            assert_true(when > *now);
            *now = when;
            waits++;
            assert_true(waits < 100000);
        }
        bucket_take(b, some, *now);
        bytes -= some;
    }
    return waits;
}

static void no_rate_is_no_limit(void **state)
{
    (void)state;
    struct bucket b;
    usec_t when;
    bucket_init(&b, 0, 0, 1000);
    assert_int_equal(bucket_budget(&b, 12345, 1000, &when), 12345);
    bucket_take(&b, UINT64_MAX, 1000);
    assert_true(bucket_budget(&b, UINT64_MAX, 1000, &when) == UINT64_MAX);
    assert_int_equal(when, 1000);
}

static void it_starts_full_and_holds_no_more_than_the_burst(void **state)
{
    (void)state;
    struct bucket b;
    usec_t when;
    bucket_init(&b, MB, 5000, 1000);
    assert_int_equal(bucket_budget(&b, 100000, 1000, &when), 5000);
    assert_int_equal(bucket_budget(&b, 100, 1000, &when), 100);
    bucket_take(&b, 5000, 1000);
    assert_int_equal(bucket_budget(&b, 100000, 1000 + 3600 * USEC_PER_S, &when), 5000);
}

static void an_empty_one_says_when_a_step_is_there(void **state)
{
    (void)state;
    struct bucket b;
    usec_t when;
    bucket_init(&b, MB, MB, 0);
    bucket_take(&b, MB, 0);
    assert_int_equal(bucket_budget(&b, MB, 0, &when), 0);
    assert_int_equal(when, 20000); /* 20 ms of the rate */
    assert_int_equal(bucket_budget(&b, MB, when - 1, &when), 0);
    assert_int_equal(bucket_budget(&b, MB, 20000, &when), 20000);
    assert_int_equal(bucket_budget(&b, 100, 20000, &when), 100);
    /* Who wants less than a step waits for less. */
    bucket_take(&b, 20000, 20000);
    assert_int_equal(bucket_budget(&b, 100, 20000, &when), 0);
    assert_int_equal(when, 20100);
}

static void a_step_over_is_paid_back(void **state)
{
    (void)state;
    struct bucket b;
    usec_t when;
    bucket_init(&b, MB, 1000, 0);
    bucket_take(&b, 501000, 0);
    assert_int_equal(bucket_budget(&b, 1000, 0, &when), 0);
    assert_int_equal(when, 501000);
    assert_int_equal(bucket_budget(&b, 1000, 500000, &when), 0);
    assert_int_equal(bucket_budget(&b, 1000, 501000, &when), 1000);
}

/* Rates that do not divide into whole bytes a microsecond, and steps of every size. */
static void the_rate_is_exact_over_time(void **state)
{
    (void)state;
    static const uint64_t rates[] = {1, 3, 999, 1500001, 123456789, 10000 * MB};
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        struct bucket b;
        usec_t now = 77;
        uint64_t burst = rates[i] / 10 + 10;
        bucket_init(&b, rates[i], burst, now);
        (void)pump(&b, burst, burst, &now);
        assert_int_equal(now, 77);
        uint64_t waits = pump(&b, 10 * rates[i], rates[i] / 7 + 1, &now);
        assert_in_range(now - 77, 10 * USEC_PER_S, 10 * USEC_PER_S + 1);
        assert_true(waits <= 600); /* 50 a second and a few: not one for each byte */
    }
}

static void asking_often_neither_gains_nor_loses(void **state)
{
    (void)state;
    struct bucket b;
    bucket_init(&b, 1500001, MB, 0);
    bucket_take(&b, MB, 0);
    usec_t when;
    uint64_t sum = 0;
    for (usec_t now = 0; now <= USEC_PER_S / 10; now++) {
        for (unsigned again = 0; again < 3; again++) {
            uint64_t some = bucket_budget(&b, 1, now, &when);
            bucket_take(&b, some, now);
            sum += some;
        }
    }
    assert_int_equal(sum, 150000);
}

static void a_clock_that_goes_back_gives_nothing(void **state)
{
    (void)state;
    struct bucket b;
    usec_t when;
    bucket_init(&b, MB, 1000, 5000);
    bucket_take(&b, 1000, 5000);
    assert_int_equal(bucket_budget(&b, 10, 4000, &when), 0);
    assert_int_equal(when, 5010);
}

static void extremes_do_not_overflow(void **state)
{
    (void)state;
    struct bucket b;
    usec_t when;
    bucket_init(&b, UINT64_MAX, UINT64_MAX, 0);
    assert_true(bucket_budget(&b, UINT64_MAX, 0, &when) == INT64_MAX);
    for (unsigned i = 0; i < 3; i++) {
        bucket_take(&b, UINT64_MAX, 0);
        assert_true(b.tokens == -INT64_MAX);
    }
    assert_true(bucket_budget(&b, UINT64_MAX, USEC_NEVER - 1, &when) == INT64_MAX);

    bucket_init(&b, 1, UINT64_MAX, 0);
    bucket_take(&b, UINT64_MAX, 0);
    bucket_take(&b, UINT64_MAX, 0);
    assert_int_equal(bucket_budget(&b, 1, 10, &when), 0);
    assert_true(when == USEC_NEVER);

    bucket_init(&b, 10, 0, 0);
    assert_int_equal(bucket_budget(&b, 100, 0, &when), 1);
    assert_int_equal(bucket_budget(&b, 0, 0, &when), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rate_is_no_limit),
        cmocka_unit_test(it_starts_full_and_holds_no_more_than_the_burst),
        cmocka_unit_test(an_empty_one_says_when_a_step_is_there),
        cmocka_unit_test(a_step_over_is_paid_back),
        cmocka_unit_test(the_rate_is_exact_over_time),
        cmocka_unit_test(asking_often_neither_gains_nor_loses),
        cmocka_unit_test(a_clock_that_goes_back_gives_nothing),
        cmocka_unit_test(extremes_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
