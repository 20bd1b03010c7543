#include "xfer/pace.h"

#include <errno.h>

#include "base/fault.h"
#include "check.h"

#define RATE  UINT64_C(1000000) /* bytes a second */
#define START (100 * USEC_PER_S)

/* xfer_bucket_new() takes the time from the clock; the rest is given it. */
static usec_t now;

static void begin(void)
{
    now = START;
    clock_set_fake(&now);
}

static int end(void **state)
{
    (void)state;
    clock_set_fake(NULL);
    return 0;
}

/* Moves total bytes in steps of at most `step`; returns how long that took. */
static usec_t move(struct xfer_bucket *const *buckets, uint64_t total, uint64_t step)
{
    usec_t started = now;
    while (total > 0) {
        usec_t when = 0;
        uint64_t n = pace_take(buckets, total < step ? total : step, now, &when);
        assert_true(n <= step && n <= total);
        if (n == 0) {
            assert_true(when > now);
            now = when;
        }
        total -= n;
    }
    return now - started;
}

static void the_rate_holds_whatever_the_step(void **state)
{
    static const uint64_t steps[] = {100, 1460, 65536, 4 * 1024 * 1024};
    (void)state;
    begin();
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct xfer_bucket *buckets[XFER_BUCKETS_MAX] = {NULL};
        assert_int_equal(xfer_bucket_new(RATE, &buckets[1]), 0);
        usec_t took = move(buckets, 10 * RATE, steps[i]);
        assert_in_range(took, 9700 * USEC_PER_MS, 10000 * USEC_PER_MS);
        (void)xfer_bucket_free(buckets[1]);
    }
}

static void the_slowest_of_several_decides(void **state)
{
    (void)state;
    begin();
    struct xfer_bucket *buckets[XFER_BUCKETS_MAX];
    assert_int_equal(xfer_bucket_new(10 * RATE, &buckets[0]), 0);
    assert_int_equal(xfer_bucket_new(RATE, &buckets[1]), 0);
    assert_int_equal(xfer_bucket_new(0, &buckets[2]), 0);
    usec_t when, took = move(buckets, 10 * RATE, 65536);
    assert_in_range(took, 9700 * USEC_PER_MS, 10000 * USEC_PER_MS);
    now += USEC_PER_S;
    assert_int_equal(pace_take(buckets, 100 * RATE, now, &when), RATE / 5);
    for (unsigned i = 0; i < XFER_BUCKETS_MAX; i++)
        (void)xfer_bucket_free(buckets[i]);
}

static void without_a_rate_everything_moves_at_once(void **state)
{
    (void)state;
    begin();
    struct xfer_bucket *none[XFER_BUCKETS_MAX] = {NULL}, *unlimited[XFER_BUCKETS_MAX] = {NULL};
    assert_int_equal(xfer_bucket_new(0, &unlimited[0]), 0);
    assert_int_equal(move(none, 1000 * RATE, UINT64_MAX), 0);
    assert_int_equal(move(unlimited, 1000 * RATE, UINT64_MAX), 0);
    pace_give_back(none, 5);
    pace_give_back(unlimited, 5);
    assert_int_equal(move(unlimited, RATE, UINT64_MAX), 0);
    (void)xfer_bucket_free(unlimited[0]);
}

static void what_is_given_back_can_be_taken_again_and_no_more(void **state)
{
    (void)state;
    begin();
    usec_t when;
    struct xfer_bucket *buckets[XFER_BUCKETS_MAX] = {NULL};
    assert_int_equal(xfer_bucket_new(RATE, &buckets[0]), 0);
    uint64_t full = pace_take(buckets, RATE, now, &when);
    assert_int_equal(full, RATE / 5);
    assert_int_equal(pace_take(buckets, RATE, now, &when), 0);
    pace_give_back(buckets, full / 2);
    assert_int_equal(pace_take(buckets, RATE, now, &when), full / 2);
    pace_give_back(buckets, 5 * full); /* more than it holds */
    assert_int_equal(pace_take(buckets, RATE, now, &when), full);
    (void)xfer_bucket_free(buckets[0]);
}

static void a_bucket_needs_memory(void **state)
{
    (void)state;
    assert_null(xfer_bucket_free(NULL));
#ifdef FERRY_FAULTS
    struct xfer_bucket *b;
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(xfer_bucket_new(RATE, &b), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_rate_holds_whatever_the_step, end),
        cmocka_unit_test_teardown(the_slowest_of_several_decides, end),
        cmocka_unit_test_teardown(without_a_rate_everything_moves_at_once, end),
        cmocka_unit_test_teardown(what_is_given_back_can_be_taken_again_and_no_more, end),
        cmocka_unit_test(a_bucket_needs_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
