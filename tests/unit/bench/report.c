#include "bench/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "check.h"

static const struct bench_options options = {
    .server = {.host = "files.example.org", .port = 2121, .user = "anna", .password = "s3cr3t"},
    .kind = BENCH_ALL,
    .clients = 300,
    .window = 40,
    .file_bytes = 10 * 1024 * 1024,
    .quick = true,
};

static const struct bench_row full = {
    .name = "stor_idle",
    .label = "STOR (1 file with 300 idle clients)",
    .unit = BENCH_MB_PER_S,
    .value = 1234.5,
    .samples = {1200, 1234.5, 1300},
    .sample_count = 3,
    .has_interval = true,
    .interval = {1200, 1300},
    .clients = 1,
    .files = 400,
    .bytes = UINT64_C(4000000000),
    .wall_us = 3500000,
    .client_cpu_us = 3400000,
    .has_server_cpu = true,
    .server_cpu_us = 2000000,
    .has_memory = true,
    .memory_bytes = 9227469,
    .noop = {700, 50, 120, 480},
};

static const struct bench_row bare = {
    .name = "quit",
    .label = "300 concurrent clients (QUIT)",
    .value = 0.125,
    .clients = 300,
    .wall_us = 125000,
    .client_cpu_us = 25000,
};

static char *row_text(const struct bench_row *row)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    report_row_print(row, out);
    fclose(out);
    return text;
}

static void sizes_have_one_decimal_and_a_letter(void **state)
{
    (void)state;
    char dst[BENCH_SIZE_TEXT_MAX];
    assert_string_equal(report_size(512, dst), "512.0B");
    assert_string_equal(report_size(9227469, dst), "8.8M");
    assert_string_equal(report_size(10485760, dst), "10.0M");
    assert_string_equal(report_size(-2048, dst), "-2.0K");
    assert_string_equal(report_size(1e30, dst), "867361737988.4E");
}

static void the_first_line_is_ftpbench_s(void **state)
{
    (void)state;
    static const char with_memory[] =
        "STOR (1 file with 300 idle clients)                 1234.50 MB/sec  8.8M\n";
    static const char without[] =
        "300 concurrent clients (QUIT)                          0.12 secs\n";
    char *text = row_text(&full);
    assert_memory_equal(text, with_memory, sizeof(with_memory) - 1);
    free(text);
    text = row_text(&bare);
    assert_memory_equal(text, without, sizeof(without) - 1);
    free(text);
}

static void what_else_is_known_follows_within_80_columns(void **state)
{
    (void)state;
    char *text = row_text(&full);
    assert_non_null(strstr(text, "400 files in 3.50 s; median of 3, 90 % interval 1200.00 to "
                                 "1300.00"));
    assert_non_null(strstr(text, "CPU-s/GB: server 0.500, client 0.850 (97 % of a core"));
    assert_non_null(strstr(text, "700 NOOPs beside it: p50 0.05, p95 0.12, p99 0.48 ms"));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
}

static void a_client_that_is_the_limit_is_named(void **state)
{
    (void)state;
    struct bench_row row = full;
    char *text = row_text(&row);
    assert_non_null(strstr(text, "(97 % of a core: client-limited)"));
    free(text);
    row.client_cpu_us = row.wall_us * 95 / 100;
    text = row_text(&row);
    assert_null(strstr(text, "client-limited"));
    free(text);
}

static void a_row_that_failed_shows_why_and_no_number(void **state)
{
    (void)state;
    struct bench_row row = bare;
    snprintf(row.error, sizeof(row.error), "login 51 of 300: the server says: 421 Too many");
    char *text = row_text(&row);
    assert_non_null(strstr(text, "failed\n    login 51 of 300: the server says: 421 Too many"));
    assert_null(strstr(text, "0.12"));
    free(text);
}

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void json_holds_all_rows_and_no_password(void **state)
{
    (void)state;
    static struct bench_results results = {
        .count = 2, .stored_bytes = 5, .retrieved_bytes = 6, .is_complete = true};
    results.rows[0] = full;
    results.rows[1] = bare;
    json_t *report = report_json(&options, &results);
    assert_non_null(report);
    assert_true(json_is_true(json_object_get(report, "complete")));
    assert_float_equal(number(report, "stored_bytes"), 5, 0);
    const json_t *rows = json_object_get(report, "rows");
    assert_int_equal(json_array_size(rows), 2);
    const json_t *row = json_array_get(rows, 0);
    assert_string_equal(json_string_value(json_object_get(row, "row")), "stor_idle");
    assert_float_equal(number(row, "value"), 1234.5, 1e-9);
    assert_float_equal(number(row, "bytes"), 4e9, 0);
    assert_float_equal(number(row, "server_cpu_s_per_gb"), 0.5, 1e-9);
    assert_float_equal(number(json_object_get(row, "noop"), "p99_ms"), 0.48, 1e-9);
    assert_true(json_is_true(json_object_get(row, "client_limited")));
    /* What was not measured is left out, not 0. */
    row = json_array_get(rows, 1);
    assert_null(json_object_get(row, "server_cpu_s"));
    assert_null(json_object_get(row, "memory_bytes"));
    assert_null(json_object_get(row, "noop"));
    char *text = json_dumps(report, 0);
    assert_null(strstr(text, "s3cr3t"));
    free(text);
    json_decref(report);
}

static void json_of_a_failure_holds_its_reason_in_place_of_values(void **state)
{
    (void)state;
    static struct bench_results results = {.count = 1, .error = "interrupted"};
    results.rows[0] = bare;
    snprintf(results.rows[0].error, sizeof(results.rows[0].error), "QUIT: gone");
    json_t *report = report_json(&options, &results);
    assert_true(json_is_false(json_object_get(report, "complete")));
    assert_string_equal(json_string_value(json_object_get(report, "error")), "interrupted");
    const json_t *row = json_array_get(json_object_get(report, "rows"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "error")), "QUIT: gone");
    assert_null(json_object_get(row, "value"));
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_one_decimal_and_a_letter),
        cmocka_unit_test(the_first_line_is_ftpbench_s),
        cmocka_unit_test(what_else_is_known_follows_within_80_columns),
        cmocka_unit_test(a_client_that_is_the_limit_is_named),
        cmocka_unit_test(a_row_that_failed_shows_why_and_no_number),
        cmocka_unit_test(json_holds_all_rows_and_no_password),
        cmocka_unit_test(json_of_a_failure_holds_its_reason_in_place_of_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
