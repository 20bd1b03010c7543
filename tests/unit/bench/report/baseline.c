#include "bench/report/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/err.h"
#include "bench/ftp/suite.h"
#include "bench/report/report.h"
#include "check.h"

static char why[BENCH_ERROR_MAX];

static int parse(const char *text, struct baseline **ret)
{
    why[0] = '\0';
    return baseline_parse(bytes_str(text), why, ret);
}

static struct baseline *parsed(const char *text)
{
    struct baseline *b = NULL;
    assert_int_equal(parse(text, &b), 0);
    return b;
}

/* Five samples of this value in a row of one server. */
static struct bench_row row_of(const char *label, enum bench_unit unit, double value)
{
    struct bench_row row = {.name = "retr", .unit = unit, .count = 1};
    snprintf(row.label, sizeof(row.label), "%s", label);
    snprintf(row.cells[0].target, BENCH_NAME_MAX, "ferryd");
    for (unsigned i = 0; i < 5; i++)
        row.cells[0].samples[row.cells[0].sample_count++] = value;
    bench_cell_finish(&row.cells[0], unit, NULL);
    return row;
}

#define RUN(unit, servers)                                                                     \
    "{\"rows\": [{\"row\": \"retr\", \"label\": \"RETR\", \"unit\": \"" unit                   \
    "\", \"servers\": [" servers "]}]}"
#define FERRYD(samples) "{\"server\": \"ferryd\", \"samples\": [" samples "]}"

static void what_report_json_wrote_is_read_again(void **state)
{
    (void)state;
    static struct bench_row rows[1];
    rows[0] = row_of("RETR", BENCH_MB_PER_S, 100);
    const struct bench_options options = {.suite = &bench_suite_ftp, .has_server = true};
    const struct bench_results results = {.rows = rows, .count = 1};
    json_t *report = report_json(&options, &results);
    char *text = json_dumps(report, JSON_REAL_PRECISION(9));
    struct baseline *b = parsed(text);
    rows[0] = row_of("RETR", BENCH_MB_PER_S, 150);
    struct bench_ratio ratio = baseline_ratio(b, &rows[0], &rows[0].cells[0]);
    assert_true(ratio.is_known && ratio.has_interval);
    assert_float_equal(ratio.value, 1.5, 1e-6);
    assert_float_equal(ratio.interval.low, 1.5, 1e-6);
    assert_float_equal(ratio.interval.high, 1.5, 1e-6);
    baseline_free(b);
    free(text);
    json_decref(report);
}

static void above_one_it_is_better_now_whatever_the_unit(void **state)
{
    (void)state;
    struct baseline *b = parsed(RUN("secs", FERRYD("3, 3, 3")));
    struct bench_row row = row_of("RETR", BENCH_SECS, 2);
    assert_float_equal(baseline_ratio(b, &row, &row.cells[0]).value, 1.5, 1e-6);
    row = row_of("RETR", BENCH_SECS, 0);
    assert_false(baseline_ratio(b, &row, &row.cells[0]).is_known);
    baseline_free(b);
}

static void samples_of_two_runs_are_no_pairs(void **state)
{
    (void)state;
    /* In pairs each would be as fast as before. */
    struct baseline *b = parsed(RUN("MB/sec", FERRYD("1, 2, 3, 4, 5")));
    struct bench_row row = row_of("RETR", BENCH_MB_PER_S, 0);
    for (unsigned i = 0; i < 5; i++)
        row.cells[0].samples[i] = i + 1;
    struct bench_ratio ratio = baseline_ratio(b, &row, &row.cells[0]);
    assert_float_equal(ratio.value, 1, 1e-6);
    assert_true(ratio.interval.low < 0.7 && ratio.interval.high > 1.4);
    row.cells[0].sample_count = 2;
    ratio = baseline_ratio(b, &row, &row.cells[0]);
    assert_true(ratio.is_known && !ratio.has_interval);
    baseline_free(b);
}

static void another_row_server_or_unit_is_not_compared(void **state)
{
    (void)state;
    struct baseline *b = parsed(
        RUN("MB/sec", FERRYD("1, 2, 3") ", {\"server\": \"vsftpd\", \"error\": \"gone\"}"));
    struct bench_row row = row_of("RETR", BENCH_MB_PER_S, 1);
    assert_true(baseline_ratio(b, &row, &row.cells[0]).is_known);
    row = row_of("RETR", BENCH_SECS, 1);
    assert_false(baseline_ratio(b, &row, &row.cells[0]).is_known);
    row = row_of("RETR of other sizes", BENCH_MB_PER_S, 1);
    assert_false(baseline_ratio(b, &row, &row.cells[0]).is_known);
    row = row_of("RETR", BENCH_MB_PER_S, 1);
    row.name = "stor";
    assert_false(baseline_ratio(b, &row, &row.cells[0]).is_known);
    row.name = "retr";
    snprintf(row.cells[0].target, BENCH_NAME_MAX, "vsftpd"); /* it failed then */
    assert_false(baseline_ratio(b, &row, &row.cells[0]).is_known);
    snprintf(row.cells[0].target, BENCH_NAME_MAX, "ferryd");
    snprintf(row.cells[0].error, BENCH_ERROR_MAX, "gone"); /* it failed now */
    assert_false(baseline_ratio(b, &row, &row.cells[0]).is_known);
    baseline_free(b);
}

static void what_is_no_run_is_refused_with_the_place(void **state)
{
    (void)state;

    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "line 1, column 0"},
        {"{\"rows\": [}", "line 1, column 11"},
        {"[]", "\"rows\" is no list"},
        {"{\"rows\": 3}", "\"rows\" is no list"},
        {"{\"rows\": [3]}", "row 1: \"row\", \"label\" or \"unit\" is missing"},
        {"{\"rows\": [{\"row\": \"a\", \"label\": \"b\", \"unit\": \"c\"}]}",
         "row 1: \"servers\" is no list"},
        {"{\"rows\": [{\"row\": \"a-name-of-more-than-thirty-one-letters\", \"label\": \"b\", "
         "\"unit\": \"c\", \"servers\": []}]}",
         "row 1: \"row\", \"label\" or \"unit\" is missing"},
        {RUN("secs", "{}"), "row 1: a server without a name"},
        {RUN("secs", "{\"server\": \"ferryd\"}"), "row 1: samples are no list"},
        {RUN("secs", FERRYD("")), "row 1: samples are no list"},
        {RUN("secs", FERRYD("1, null")), "row 1: samples are no list"},
        {RUN("secs", FERRYD("-1")), "row 1: samples are no list"},
        {RUN("secs", FERRYD("1e16")), "row 1: samples are no list"},
        {RUN("secs", FERRYD("1e-13")), "row 1: samples are no list"},
        {RUN("secs", FERRYD("1e999")), "real number overflow"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct baseline *b = NULL;
        assert_int_equal(parse(rows[i].text, &b), -FERRY_EPROTO);
        assert_null(b);
        if (strstr(why, rows[i].says) == NULL)
            fail_msg("%s: %s", rows[i].text, why);
    }
}

/* "[item, item, ...]" in place of the '@' of the text. */
static int parse_with_list(const char *text, const char *item, unsigned count)
{
    struct baseline *b = NULL;
    char *whole;
    size_t len;
    FILE *out = open_memstream(&whole, &len);
    size_t before = strcspn(text, "@");
    fprintf(out, "%.*s[", (int)before, text);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", item);
    fprintf(out, "]%s", text + before + 1);
    fclose(out);
    int r = parse(whole, &b);
    free(whole);
    baseline_free(b);
    return r;
}

static void lists_have_the_bounds_of_a_run(void **state)
{
    (void)state;
    static const char row[] = "{\"row\":\"a\",\"label\":\"b\",\"unit\":\"c\",\"servers\":[]}";
    static const char rows[] = "{\"rows\": @}";
    static const char servers[] =
        "{\"rows\": [{\"row\":\"a\",\"label\":\"b\",\"unit\":\"c\",\"servers\":@}]}";
    static const char samples[] =
        "{\"rows\": [{\"row\":\"a\",\"label\":\"b\",\"unit\":\"c\",\"servers\":"
        "[{\"server\":\"d\",\"samples\":@}]}]}";
    assert_int_equal(parse_with_list(rows, row, BENCH_ROWS_MAX), 0);
    assert_int_equal(parse_with_list(rows, row, BENCH_ROWS_MAX + 1), -FERRY_EPROTO);
    assert_int_equal(parse_with_list(servers, FERRYD("1"), BENCH_TARGETS_MAX), 0);
    assert_int_equal(parse_with_list(servers, FERRYD("1"), BENCH_TARGETS_MAX + 1),
                     -FERRY_EPROTO);
    assert_int_equal(parse_with_list(samples, "1", BENCH_SAMPLES_MAX), 0);
    assert_int_equal(parse_with_list(samples, "1", BENCH_SAMPLES_MAX + 1), -FERRY_EPROTO);
}

static void a_file_is_read_or_its_failure_told(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-baseline-XXXXXX";
    struct baseline *b = NULL;
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    fputs(RUN("MB/sec", FERRYD("1, 2, 3")), out);
    fclose(out);
    int r = baseline_load(path, why, &b);
    remove(path);
    assert_int_equal(r, 0);
    b = baseline_free(b);
    assert_int_equal(baseline_load(path, why, &b), -ENOENT);
    assert_int_equal(baseline_load("/tmp", why, &b), -EISDIR);
    assert_int_equal(baseline_load("/dev/zero", why, &b), -FERRY_ELIMIT);
    assert_null(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_report_json_wrote_is_read_again),
        cmocka_unit_test(above_one_it_is_better_now_whatever_the_unit),
        cmocka_unit_test(samples_of_two_runs_are_no_pairs),
        cmocka_unit_test(another_row_server_or_unit_is_not_compared),
        cmocka_unit_test(what_is_no_run_is_refused_with_the_place),
        cmocka_unit_test(lists_have_the_bounds_of_a_run),
        cmocka_unit_test(a_file_is_read_or_its_failure_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
