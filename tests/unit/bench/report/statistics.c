#include "bench/report/statistics.h"

#include <errno.h>

#include "base/attr.h"
#include "check.h"

static void percentiles_lie_between_the_values(void **state)
{
    (void)state;
    static const double sorted[] = {1, 2, 3, 4, 10};
    assert_float_equal(statistics_percentile(sorted, 5, 0), 1, 1e-9);
    assert_float_equal(statistics_percentile(sorted, 5, 50), 3, 1e-9);
    assert_float_equal(statistics_percentile(sorted, 5, 90), 7.6, 1e-9);
    assert_float_equal(statistics_percentile(sorted, 5, 100), 10, 1e-9);
    assert_float_equal(statistics_percentile(sorted, 1, 99), 1, 1e-9);
    assert_float_equal(statistics_percentile(sorted, 0, 50), 0, 1e-9);
}

static void the_median_of_an_even_count_is_the_mean_of_the_middle(void **state)
{
    (void)state;
    double values[] = {40, 10, 30, 20};
    statistics_sort(values, ARRAY_LEN(values));
    assert_float_equal(values[0], 10, 1e-9);
    assert_float_equal(values[3], 40, 1e-9);
    assert_float_equal(statistics_median(values, ARRAY_LEN(values)), 25, 1e-9);
}

static void the_median_of_values_in_any_order_leaves_them_so(void **state)
{
    (void)state;
    const double values[] = {40, 10, 30};
    assert_float_equal(statistics_median_of(values, ARRAY_LEN(values)), 30, 1e-9);
    assert_float_equal(values[0], 40, 1e-9);
    assert_float_equal(statistics_median_of(values, 2), 25, 1e-9);
    assert_float_equal(statistics_median_of(values, 0), 0, 1e-9);
}

static void the_interval_holds_the_median_and_stays_within_the_samples(void **state)
{
    (void)state;
    static const double samples[] = {100, 96, 103, 99, 101, 140, 98};
    struct statistics_interval interval;
    assert_int_equal(statistics_interval(samples, ARRAY_LEN(samples), 7, &interval), 0);
    assert_true(interval.low >= 96 && interval.low <= 100);
    /* One sample that is far off moves a mean, not the interval of a median. */
    assert_true(interval.high >= 100 && interval.high <= 103);
    assert_true(interval.low < interval.high);
}

static void equal_samples_have_an_interval_without_width(void **state)
{
    (void)state;
    static const double samples[] = {5, 5, 5};
    struct statistics_interval interval;
    assert_int_equal(statistics_interval(samples, 3, 1, &interval), 0);
    assert_float_equal(interval.low, 5, 1e-9);
    assert_float_equal(interval.high, 5, 1e-9);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    double samples[STATISTICS_SAMPLES_MAX];
    for (unsigned i = 0; i < STATISTICS_SAMPLES_MAX; i++)
        samples[i] = (i * 37) % 64;
    struct statistics_interval a, b;
    assert_int_equal(statistics_interval(samples, STATISTICS_SAMPLES_MAX, 3, &a), 0);
    assert_int_equal(statistics_interval(samples, STATISTICS_SAMPLES_MAX, 3, &b), 0);
    assert_memory_equal(&a, &b, sizeof(a));
    /* A median of 64 such values deviates by about 4: 90 % lie within 6.6 of the middle. */
    assert_true(a.low > 22 && a.low < 27 && a.high > 36 && a.high < 41);
}

static void one_sample_has_no_interval(void **state)
{
    (void)state;
    static const double samples[STATISTICS_SAMPLES_MAX + 1] = {1};
    struct statistics_interval interval;
    assert_int_equal(statistics_interval(samples, 1, 1, &interval), -EINVAL);
    assert_int_equal(statistics_interval(samples, ARRAY_LEN(samples), 1, &interval), -EINVAL);
}

static void a_ratio_of_medians_has_the_scatter_of_both(void **state)
{
    (void)state;
    static const double even[] = {10, 10, 10, 10, 10}, uneven[] = {4, 5, 5, 5, 6};
    struct statistics_interval interval;
    assert_int_equal(statistics_ratio_interval(even, 5, even, 3, 1, &interval), 0);
    assert_float_equal(interval.low, 1, 1e-6);
    assert_float_equal(interval.high, 1, 1e-6);
    assert_int_equal(statistics_ratio_interval(even, 5, uneven, 5, 1, &interval), 0);
    assert_true(interval.low >= 10.0 / 6 && interval.low < 2);
    assert_true(interval.high > 2 && interval.high <= 2.5);
    assert_int_equal(statistics_ratio_interval(uneven, 5, even, 5, 1, &interval), 0);
    assert_true(interval.low >= 0.4 && interval.low < 0.5);
    assert_true(interval.high > 0.5 && interval.high <= 0.6);
}

static void a_ratio_to_nothing_has_no_interval(void **state)
{
    (void)state;
    static const double some[] = {1, 2, 3}, none[] = {1, 0, 3};
    struct statistics_interval interval;
    assert_int_equal(statistics_ratio_interval(some, 3, none, 3, 1, &interval), -EINVAL);
    assert_int_equal(statistics_ratio_interval(none, 3, some, 3, 1, &interval), -EINVAL);
    assert_int_equal(statistics_ratio_interval(some, 3, some, 1, 1, &interval), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_lie_between_the_values),
        cmocka_unit_test(the_median_of_an_even_count_is_the_mean_of_the_middle),
        cmocka_unit_test(the_median_of_values_in_any_order_leaves_them_so),
        cmocka_unit_test(the_interval_holds_the_median_and_stays_within_the_samples),
        cmocka_unit_test(equal_samples_have_an_interval_without_width),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(one_sample_has_no_interval),
        cmocka_unit_test(a_ratio_of_medians_has_the_scatter_of_both),
        cmocka_unit_test(a_ratio_to_nothing_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
