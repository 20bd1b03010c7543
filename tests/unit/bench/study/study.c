#include "bench/study/study.h"

#include <errno.h>

#include "bench/study/report.h"
#include "bench/study/results.h"
#include "check.h"

static const struct study_suite suite = {.name = "x", .title = "X", .origin = "o"};

static struct study *make(const struct study_options *o, bool is_rate)
{
    struct study *s;
    assert_int_equal(study_new(&suite, o, &s), 0);
    assert_int_equal(study_add_link(s, "loopback", 0), 0);
    s->data[0].bytes = 10240;
    s->data_count = 1;
    const struct study_heading heading = {.title = "T", .corner = "what", .is_rate = is_rate};
    assert_int_equal(study_add_table(s, &heading), 0);
    return s;
}

static void add(struct study *s, const char *row, const char *column, const char *retired)
{
    assert_int_equal(study_add(s, &(struct study_what){.row = row,
                                                       .column = column,
                                                       .command = "true",
                                                       .retired = retired}),
                     0);
}

static void measured(struct study_cell *cell, double a, double b, double c)
{
    const double real_s[] = {a, b, c};
    cell->state = STUDY_MEASURED;
    cell->count = 3;
    for (unsigned i = 0; i < 3; i++)
        cell->runs[i] = (struct study_run){.real_s = real_s[i], .bytes = 10240};
}

static void shows_the_median_of_the_runs_and_how_far_they_lie_apart(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, false);
    add(s, "one", "time", NULL);
    measured(&s->cells[0], 5, 1, 2);
    assert_true(study_value(s, &s->cells[0]) == 2);
    assert_true(study_average(&s->cells[0], STUDY_REAL) == 8.0 / 3);
    assert_true(study_spread(&s->cells[0]) == 1); /* (5 - 1) / 2, of 2 */
    (void)study_free(s);
}

static void tells_rates_as_bytes_of_the_data_by_time(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, true);
    add(s, "one", "speed", NULL);
    measured(&s->cells[0], 2, 2, 2);
    assert_true(study_value(s, &s->cells[0]) == 5);
    (void)study_free(s);
}

static void keeps_rows_and_columns_in_the_order_they_came(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, false);
    add(s, "one", "a", NULL);
    add(s, "one", "b", NULL);
    add(s, "two", "a", NULL);
    assert_int_equal(s->tables[0].row_count, 2);
    assert_int_equal(s->tables[0].column_count, 2);
    assert_ptr_equal(study_at(s, 0, 1, 0), &s->cells[2]);
    assert_null(study_at(s, 0, 1, 1));
    (void)study_free(s);
}

static void a_retired_cell_has_its_reason_and_no_value(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, false);
    char text[STUDY_CELL_TEXT_MAX];
    add(s, "one", "a", "gone since 7.4");
    assert_int_equal(s->cells[0].state, STUDY_RETIRED);
    assert_true(study_value(s, &s->cells[0]) == 0);
    assert_string_equal(study_cell_text(s, &s->cells[0], text), "retired");
    (void)study_free(s);
}

static void leaves_out_what_was_not_asked_for(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3, .only = "two / a"};
    struct study *s = make(&o, false);
    add(s, "one", "a", NULL);
    add(s, "two", "a", NULL);
    assert_string_equal(s->cells[0].reason, "left out by --only");
    assert_string_equal(s->cells[1].reason, "");
    (void)study_free(s);
}

static void refuses_more_columns_than_a_table_has(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, false);
    for (int i = 0; i < STUDY_COLUMNS_MAX; i++)
        add(s, "one", (char[]){(char)('a' + i), '\0'}, NULL);
    assert_int_equal(study_add(s, &(struct study_what){.row = "one", .column = "z"}), -E2BIG);
    (void)study_free(s);
}

static void writes_seconds_rates_and_both(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    char text[STUDY_CELL_TEXT_MAX];
    struct study *s = make(&o, false);
    add(s, "one", "time", NULL);
    measured(&s->cells[0], 2, 2, 2);
    assert_string_equal(study_cell_text(s, &s->cells[0], text), "2.000s");
    s->tables[0].tells_rate = true;
    assert_string_equal(study_cell_text(s, &s->cells[0], text), "2.000s (5)");
    s->tables[0].is_rate = true;
    s->tables[0].tells_rate = false;
    assert_string_equal(study_cell_text(s, &s->cells[0], text), "5.000");
    (void)study_free(s);
}

static void splits_labels_of_two_parts(void **state)
{
    (void)state;
    char first[STUDY_LABEL_MAX];
    const char *second;
    assert_true(study_split_label("scp | ssh and gzip", first, &second));
    assert_string_equal(first, "scp");
    assert_string_equal(second, "ssh and gzip");
    assert_false(study_split_label("scp", first, &second));
    assert_string_equal(first, "scp");
    assert_string_equal(second, "");
}

static void finds_the_best_of_a_group(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, true);
    s->tables[0].groups[0] = "first";
    s->tables[0].groups[1] = "second";
    add(s, "one", "1 a", NULL);
    add(s, "one", "1 b", NULL);
    add(s, "one", "2 a", NULL);
    measured(&s->cells[0], 2, 2, 2);
    measured(&s->cells[1], 1, 1, 1);
    measured(&s->cells[2], 3, 3, 3);
    assert_false(study_is_best(s, &s->cells[0]));
    assert_true(study_is_best(s, &s->cells[1]));
    assert_true(study_is_best(s, &s->cells[2]));
    assert_int_equal(study_group_columns(&s->tables[0], 0), 2);
    assert_int_equal(study_group_columns(&s->tables[0], 1), 1);
    assert_string_equal(study_column_text(&s->tables[0], 1), "b");
    (void)study_free(s);
}

/* What ended before its time, or was computed, cost nothing that is known. */
static void tells_no_times_where_there_are_none(void **state)
{
    (void)state;
    const struct study_options o = {.runs = 3};
    struct study *s = make(&o, false);
    add(s, "one", "time", NULL);
    assert_false(study_has_times(&s->cells[0]));
    measured(&s->cells[0], 2, 2, 2);
    assert_true(study_has_times(&s->cells[0]));
    s->cells[0].window = (struct study_window){2, 20};
    assert_false(study_has_times(&s->cells[0]));
    assert_false(study_table_has_times(s, 0));
    (void)study_free(s);
}

static void tells_time_as_a_shell_does(void **state)
{
    (void)state;
    char text[STUDY_CELL_TEXT_MAX];
    assert_string_equal(study_clock_text(52.175, text), "0m52.175s");
    assert_string_equal(study_clock_text(91.5, text), "1m31.500s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_median_of_the_runs_and_how_far_they_lie_apart),
        cmocka_unit_test(tells_rates_as_bytes_of_the_data_by_time),
        cmocka_unit_test(keeps_rows_and_columns_in_the_order_they_came),
        cmocka_unit_test(a_retired_cell_has_its_reason_and_no_value),
        cmocka_unit_test(leaves_out_what_was_not_asked_for),
        cmocka_unit_test(refuses_more_columns_than_a_table_has),
        cmocka_unit_test(writes_seconds_rates_and_both),
        cmocka_unit_test(splits_labels_of_two_parts),
        cmocka_unit_test(finds_the_best_of_a_group),
        cmocka_unit_test(tells_no_times_where_there_are_none),
        cmocka_unit_test(tells_time_as_a_shell_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
