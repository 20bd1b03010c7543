#include "bench/report/results.h"

#include <stdio.h>

#include "base/attr.h"
#include "check.h"

/* A cell with these samples; a 0 ends them. */
static struct bench_cell cell_of(const char *target, const double *samples)
{
    struct bench_cell cell = {0};
    snprintf(cell.target, sizeof(cell.target), "%s", target);
    while (samples[cell.sample_count] > 0) {
        cell.samples[cell.sample_count] = samples[cell.sample_count];
        cell.sample_count++;
    }
    return cell;
}

static void a_cell_has_the_median_and_its_interval(void **state)
{
    (void)state;
    struct bench_cell cell = cell_of("ferryd", (const double[]){30, 10, 20, 10, 30, 0});
    bench_cell_finish(&cell, BENCH_SECS, NULL);
    assert_float_equal(cell.value, 20, 1e-9);
    assert_true(cell.has_interval);
    assert_float_equal(cell.interval.low, 10, 1e-9);
    assert_float_equal(cell.interval.high, 30, 1e-9);
    assert_false(cell.ratio.is_known);
    cell = cell_of("ferryd", (const double[]){30, 10, 20, 20, 0});
    bench_cell_finish(&cell, BENCH_SECS, NULL);
    assert_float_equal(cell.value, 20, 1e-9);
    assert_false(cell.has_interval);
}

static void a_ratio_is_made_of_pairs(void **state)
{
    (void)state;
    /* Both become three times slower meanwhile; pair by pair ferryd is a quarter faster. */
    struct bench_cell first = cell_of("ferryd", (const double[]){300, 200, 100, 50, 25, 0});
    struct bench_cell cell = cell_of("vsftpd", (const double[]){240, 160, 80, 40, 20, 0});
    bench_cell_finish(&cell, BENCH_MB_PER_S, &first);
    assert_true(cell.ratio.is_known && cell.ratio.has_interval);
    assert_int_equal(cell.ratio.pairs, 5);
    assert_float_equal(cell.ratio.value, 1.25, 1e-9);
    assert_float_equal(cell.ratio.interval.low, 1.25, 1e-9);
    assert_float_equal(cell.ratio.interval.high, 1.25, 1e-9);
}

static void above_one_ferryd_is_better_whatever_the_unit(void **state)
{
    (void)state;

    static const struct {
        enum bench_unit unit;
        double ratio;
    } rows[] = {{BENCH_SECS, 2},       {BENCH_MS, 2},      {BENCH_MB, 2},
                {BENCH_MB_PER_S, 0.5}, {BENCH_PER_S, 0.5}, {BENCH_TIMES, 2}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bench_cell first = cell_of("ferryd", (const double[]){5, 5, 5, 0});
        struct bench_cell cell = cell_of("vsftpd", (const double[]){10, 10, 10, 0});
        bench_cell_finish(&cell, rows[i].unit, &first);
        assert_float_equal(cell.ratio.value, rows[i].ratio, 1e-9);
    }
}

static void the_cpu_s_ratio_is_theirs_by_ours_also_of_a_speed(void **state)
{
    (void)state;
    struct bench_cell first = cell_of("ferryd", (const double[]){5, 5, 5, 0});
    struct bench_cell cell = cell_of("vsftpd", (const double[]){5, 5, 5, 0});
    for (unsigned i = 0; i < 3; i++) {
        first.cpu_samples[i] = 0.25;
        cell.cpu_samples[i] = 0.5;
    }
    bench_cell_finish(&cell, BENCH_MB_PER_S, &first);
    assert_false(cell.cpu_ratio.is_known); /* nobody said that it was measured */
    first.has_server_cpu = cell.has_server_cpu = true;
    bench_cell_finish(&cell, BENCH_MB_PER_S, &first);
    assert_float_equal(cell.cpu_ratio.value, 2, 1e-9);
    assert_float_equal(cell.ratio.value, 1, 1e-9);
}

static void what_has_no_pair_or_failed_has_no_ratio(void **state)
{
    (void)state;
    struct bench_cell first = cell_of("ferryd", (const double[]){2, 2, 2, 2, 0});
    struct bench_cell cell = cell_of("vsftpd", (const double[]){1, 1, 0});
    bench_cell_finish(&cell, BENCH_MB_PER_S, &first);
    assert_int_equal(cell.ratio.pairs, 2);
    assert_true(cell.ratio.is_known && !cell.ratio.has_interval);

    /* A time of 0 is one too short to be measured. */
    cell = cell_of("vsftpd", (const double[]){1, 1, 1, 1, 0});
    cell.samples[1] = 0;
    bench_cell_finish(&cell, BENCH_SECS, &first);
    assert_int_equal(cell.ratio.pairs, 3);
    assert_float_equal(cell.ratio.value, 0.5, 1e-9);

    snprintf(cell.error, sizeof(cell.error), "gone");
    bench_cell_finish(&cell, BENCH_MB_PER_S, &first);
    assert_false(cell.ratio.is_known);
    cell.error[0] = '\0';
    snprintf(first.error, sizeof(first.error), "gone");
    bench_cell_finish(&cell, BENCH_MB_PER_S, &first);
    assert_false(cell.ratio.is_known);
}

static void a_verdict_takes_the_whole_interval(void **state)
{
    (void)state;

    static const struct {
        double low, high;
        enum bench_verdict verdict;
    } rows[] = {
        {0.95, 1.10, BENCH_MET},       {0.96, 0.97, BENCH_MET},
        {0.94, 1.10, BENCH_UNDECIDED}, {0.80, 0.95, BENCH_UNDECIDED},
        {0.80, 0.94, BENCH_MISSED},
    };
    struct bench_ratio ratio = {.value = 1, .pairs = 5};
    assert_int_equal(bench_verdict_of(&ratio, 0.95), BENCH_NO_VERDICT);
    ratio.is_known = true;
    assert_int_equal(bench_verdict_of(&ratio, 0.95), BENCH_UNDECIDED);
    ratio.has_interval = true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ratio.interval = (struct statistics_interval){rows[i].low, rows[i].high};
        assert_int_equal(bench_verdict_of(&ratio, 0.95), rows[i].verdict);
    }
}

static void where_the_client_is_the_limit_of_both_the_cpu_decides(void **state)
{
    (void)state;
    const struct bench_ratio fast = {
        .is_known = true, .has_interval = true, .interval = {1.1, 1.2}, .pairs = 5};
    const struct bench_ratio slow = {
        .is_known = true, .has_interval = true, .interval = {0.5, 0.6}, .pairs = 5};
    struct bench_cell first = {.wall_us = 100, .client_cpu_us = 96};
    struct bench_cell cell = {
        .wall_us = 100, .client_cpu_us = 95, .ratio = fast, .cpu_ratio = slow};
    assert_false(bench_cell_is_judged_by_cpu(&cell, BENCH_MB_PER_S, &first));
    assert_int_equal(bench_cell_verdict(&cell, BENCH_MB_PER_S, &first, 1), BENCH_MET);
    cell.client_cpu_us = 96;
    assert_true(bench_cell_is_judged_by_cpu(&cell, BENCH_MB_PER_S, &first));
    assert_int_equal(bench_cell_verdict(&cell, BENCH_MB_PER_S, &first, 1), BENCH_MISSED);

    /* Of a delay, of memory and of a multiple a busy client says nothing. */
    static const enum bench_unit others[] = {BENCH_MS, BENCH_MB, BENCH_TIMES};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(bench_cell_verdict(&cell, others[i], &first, 1), BENCH_MET);
    assert_true(bench_cell_is_judged_by_cpu(&cell, BENCH_SECS, &first));
    assert_true(bench_cell_is_judged_by_cpu(&cell, BENCH_PER_S, &first));
    /* A ratio of speeds is no substitute for one that was not measured. */
    cell.cpu_ratio.is_known = false;
    assert_int_equal(bench_cell_verdict(&cell, BENCH_MB_PER_S, &first, 1), BENCH_NO_VERDICT);
    assert_int_equal(bench_cell_verdict(&cell, BENCH_MB, &first, 1), BENCH_MET);
}

static void memory_is_compared_plainly(void **state)
{
    (void)state;
    const struct bench_cell first = {0};
    struct bench_cell cell = {.ratio = {.is_known = true, .value = 0.94}};
    assert_int_equal(bench_cell_verdict(&cell, BENCH_MB, &first, 0.95), BENCH_MISSED);
    assert_int_equal(bench_cell_verdict(&cell, BENCH_SECS, &first, 0.95), BENCH_UNDECIDED);
    cell.ratio.value = 0.95;
    assert_int_equal(bench_cell_verdict(&cell, BENCH_MB, &first, 0.95), BENCH_MET);
}

static void rows_and_servers_are_found_by_name(void **state)
{
    (void)state;
    static struct bench_row rows[2] = {
        {.name = "stor", .cells = {{.target = "ferryd"}, {.target = "floor"}}, .count = 2},
        {.name = "retr"},
    };
    const struct bench_results results = {.rows = rows, .count = 1};
    assert_ptr_equal(bench_results_row(&results, "stor"), &rows[0]);
    assert_null(bench_results_row(&results, "retr")); /* not measured yet */
    assert_ptr_equal(bench_row_cell(&rows[0], "floor"), &rows[0].cells[1]);
    assert_null(bench_row_cell(&rows[0], "vsftpd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_the_median_and_its_interval),
        cmocka_unit_test(a_ratio_is_made_of_pairs),
        cmocka_unit_test(above_one_ferryd_is_better_whatever_the_unit),
        cmocka_unit_test(the_cpu_s_ratio_is_theirs_by_ours_also_of_a_speed),
        cmocka_unit_test(what_has_no_pair_or_failed_has_no_ratio),
        cmocka_unit_test(a_verdict_takes_the_whole_interval),
        cmocka_unit_test(where_the_client_is_the_limit_of_both_the_cpu_decides),
        cmocka_unit_test(memory_is_compared_plainly),
        cmocka_unit_test(rows_and_servers_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
