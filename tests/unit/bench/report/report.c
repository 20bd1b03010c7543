#include "bench/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "bench/ftp/suite.h"
#include "bench/ssh/suite.h"
#include "check.h"

#define MIB UINT64_C(1048576)

static struct bench_options alone = {
    .suite = &bench_suite_ftp,
    .server = {.host = "files.example.org", .port = 2121, .user = "anna", .password = "s3cr3t"},
    .has_server = true,
    .kind = BENCH_ALL,
    .clients = 300,
    .window = 40,
    .pairs = 3,
    .file_bytes = 10 * MIB,
    .quick = true,
};

static const struct bench_options together = {.suite = &bench_suite_ftp,
                                              .kind = BENCH_ALL,
                                              .clients = 300,
                                              .window = 40,
                                              .pairs = 21,
                                              .file_bytes = 10 * MIB};

static char settings[] = "ferryd\n--anonymous\n";
static struct bench_row rows[4];
static struct bench_results results;

/* A cell with all that can be known. */
static struct bench_cell *add_full(struct bench_row *row, const char *target, double value,
                                   double cpu)
{
    struct bench_cell *cell = &row->cells[row->count++];
    *cell = (struct bench_cell){
        .is_floor = strcmp(target, "floor") == 0,
        .samples = {value * 0.98, value, value, value * 1.01, value},
        .cpu_samples = {cpu, cpu, cpu, cpu, cpu},
        .sample_count = 5,
        .operations = 400,
        .bytes = UINT64_C(4000000000),
        .wall_us = 3500000,
        .client_cpu_us = 3300000,
        .has_server_cpu = true,
        .server_cpu_us = (usec_t)(cpu * 4e9 * 1e6),
        .has_memory = true,
        .memory_bytes = 9227469,
        .noop = {700, 50, 120, 480},
    };
    snprintf(cell->target, sizeof(cell->target), "%s", target);
    bench_cell_finish(cell, row->unit, &row->cells[0]);
    return cell;
}

/* Rows of one server, or of four of which one failed; a row that no peer has. */
static int setup_rows(bool is_alone)
{
    memset(rows, 0, sizeof(rows));
    results = (struct bench_results){
        .rows = rows,
        .count = 2,
        .servers = {{.name = "ferryd", .version = "0.3.0", .settings = {settings}}},
        .server_count = 1,
        .stored_bytes = 5,
        .retrieved_bytes = 6,
        .is_complete = true,
    };
    rows[0].name = "stor_idle";
    rows[0].unit = BENCH_MB_PER_S;
    rows[0].clients = 1;
    snprintf(rows[0].label, BENCH_LABEL_MAX, "STOR (1 file with 300 idle clients)");
    add_full(&rows[0], "ferryd", 1234.5, 0.5e-9);
    rows[1].name = "quit";
    rows[1].clients = 300;
    snprintf(rows[1].label, BENCH_LABEL_MAX, "300 concurrent clients (QUIT)");
    rows[1].cells[rows[1].count++] = (struct bench_cell){
        .target = "ferryd", .value = 0.125, .wall_us = 125000, .client_cpu_us = 25000};
    if (is_alone)
        return 0;
    add_full(&rows[0], "vsftpd", 1200, 0.6e-9);
    add_full(&rows[0], "pyftpdlib", 12.5, 50e-9);
    add_full(&rows[0], "floor", 1500, 0.3e-9);
    struct bench_cell *broken = &rows[0].cells[rows[0].count++];
    snprintf(broken->target, sizeof(broken->target), "proftpd");
    snprintf(broken->error, sizeof(broken->error), "login 51 of 300: the server says: 421 No");
    results.servers[1] = (struct bench_server){
        .name = "vsftpd", .version = "3.0.3-13+b2", .where = "/usr", .has_memory_start = true};
    results.servers[2] = (struct bench_server){.name = "twisted", .error = "not installed"};
    results.server_count = 3;
    return 0;
}

static int setup_alone(void **state)
{
    (void)state;
    return setup_rows(true);
}

static int setup_together(void **state)
{
    (void)state;
    return setup_rows(false);
}

/* -- what is printed -- */

enum part { HEAD, ROW, SUMMARY };

static struct baseline *baseline;

static char *text_of(const struct bench_options *options, enum part part,
                     const struct bench_row *row, bool has_colour)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const struct report report = {
        .options = options, .baseline = baseline, .out = out, .has_colour = has_colour};
    if (part == HEAD)
        report_head_print(&report, &results);
    else if (part == ROW)
        report_row_print(&report, row);
    else
        report_summary_print(&report, &results);
    fclose(out);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, text);
}

/* Every line, and frees the text. */
static void assert_fits_80_columns(char *text)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80)
            fail_msg("%s", line);
    free(text);
}

/* -- one server -- */

static void alone_the_first_line_is_ftpbench_s(void **state)
{
    (void)state;
    static const char with_memory[] =
        "STOR (1 file with 300 idle clients)                 1234.50 MB/sec  8.8M\n";
    static const char without[] =
        "300 concurrent clients (QUIT)                          0.12 secs\n";
    char *text = text_of(&alone, ROW, &rows[0], false);
    assert_memory_equal(text, with_memory, sizeof(with_memory) - 1);
    free(text);
    text = text_of(&alone, ROW, &rows[1], true);
    assert_memory_equal(text, without, sizeof(without) - 1);
    free(text);
}

static void alone_what_else_is_known_follows(void **state)
{
    (void)state;
    rows[0].cells[0].has_slope = true;
    rows[0].cells[0].slope_bytes = 1024;
    rows[0].cells[0].slope_from = 100;
    rows[0].cells[0].slope_to = 300;
    char *text = text_of(&alone, ROW, &rows[0], false);
    assert_has(text,
               "    400 files in 3.50 s; median of 5, 90 % interval 1234.50 to 1246.85\n");
    assert_has(text, "    CPU-s/GB: server 0.500, client 0.825 (94 % of a core)\n");
    assert_has(text, "    700 NOOPs beside it: p50 0.05, p95 0.12, p99 0.48 ms\n");
    assert_has(text, "    memory of a session: 1.0K (between 100 and 300 sessions)\n");
    assert_fits_80_columns(text);
}

static void alone_a_client_that_is_the_limit_is_named(void **state)
{
    (void)state;
    rows[0].cells[0].client_cpu_us = 3400000;
    char *text = text_of(&alone, ROW, &rows[0], false);
    assert_has(text, "(97 % of a core: client-limited)");
    free(text);
}

static void alone_a_row_that_failed_shows_why_and_no_number(void **state)
{
    (void)state;
    snprintf(rows[1].cells[0].error, BENCH_ERROR_MAX, "the server says: 421 Too many");
    char *text = text_of(&alone, ROW, &rows[1], false);
    assert_has(text, "failed\n    the server says: 421 Too many\n");
    assert_null(strstr(text, "0.12"));
    free(text);
}

static void alone_the_head_names_the_server_and_its_memory_and_nothing_ends_it(void **state)
{
    (void)state;
    results.servers[0].has_memory_start = true;
    results.servers[0].memory_start_bytes = 512;
    char *text = text_of(&alone, HEAD, NULL, false);
    assert_string_equal(text, "ferry " FERRY_VERSION " bench ftp: files.example.org port 2121, "
                              "files of 10.0M (quick: less exact)\n"
                              "(starting with 512.0B of memory being used)\n");
    free(text);
    text = text_of(&alone, SUMMARY, NULL, false);
    assert_string_equal(text, "");
    free(text);
}

/* -- side by side -- */

static void together_each_server_has_a_line_beneath_the_label(void **state)
{
    (void)state;
    char *text = text_of(&together, ROW, &rows[0], false);
    assert_string_equal(
        text, "\nSTOR (1 file with 300 idle clients): MB/sec; CPU: s/GB\n"
              "  ferryd       1234.50    8.8M   0.500  0.05/0.48\n"
              "  vsftpd       1200.00    8.8M   0.600  0.05/0.48  1.03 [1.03, 1.03]   met\n"
              "  pyftpdlib      12.50    8.8M    50.0  0.05/0.48  98.8 [98.8, 98.8]   met\n"
              "  floor        1500.00    8.8M   0.300  0.05/0.48  0.82 [0.82, 0.82]   missed\n"
              "  proftpd    failed\n"
              "    login 51 of 300: the server says: 421 No\n"
              "  client CPU: ferryd 0.825, vsftpd 0.825, pyftpdlib 0.825, floor 0.825\n");
    free(text);
}

static void together_what_was_not_measured_is_a_dash(void **state)
{
    (void)state;
    char *text = text_of(&together, ROW, &rows[1], false);
    assert_string_equal(text, "\n300 concurrent clients (QUIT): secs\n"
                              "  ferryd          0.12       -       -          -\n");
    free(text);
}

static void together_what_takes_milliseconds_has_more_decimals(void **state)
{
    (void)state;
    rows[1].cells[0].value = 0.00421;
    char *text = text_of(&together, ROW, &rows[1], false);
    assert_string_equal(text, "\n300 concurrent clients (QUIT): secs\n"
                              "  ferryd        0.0042       -       -          -\n");
    free(text);
    text = text_of(&together, SUMMARY, NULL, false);
    assert_has(text, " 0.0042  no peer\n");
    free(text);
}

static void together_the_widest_values_fit_80_columns(void **state)
{
    (void)state;
    struct bench_cell *cell = &rows[0].cells[1];
    snprintf(cell->target, sizeof(cell->target), "a-name-that-is-far-too-long");
    snprintf(cell->note, sizeof(cell->note),
             "it hashes a password each time, as its own settings ask for, and its sessions "
             "are processes");
    cell->value = 123456.78;
    cell->memory_bytes = 1023 * MIB;
    cell->server_cpu_us = 4 * 9999999;
    cell->noop = (struct bench_latency){5, 1e6, 1e7, 6e7};
    cell->ratio.value = 12345;
    cell->ratio.interval = (struct statistics_interval){0.0001, 1e9};
    char *text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, "undecided\n");
    assert_has(text,
               "    it hashes a password each time, as its own settings ask for, and its\n"
               "    sessions are processes\n");
    assert_fits_80_columns(text);
    assert_fits_80_columns(text_of(&together, HEAD, NULL, false));
    assert_fits_80_columns(text_of(&together, SUMMARY, NULL, false));
}

static void together_cpu_is_at_most_seven_columns_wide(void **state)
{
    (void)state;
    rows[0].cells[1].server_cpu_us = (usec_t)(1862.959 * 4e6);
    char *text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, "  vsftpd       1200.00    8.8M    1863  0.05/0.48");
    assert_fits_80_columns(text);
    for (unsigned i = 0; i < rows[0].count; i++) {
        rows[0].cells[i].bytes = 0;
        rows[0].cells[i].operations = 1;
        rows[0].cells[i].server_cpu_us = 12345678;
    }
    text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, ": MB/sec; CPU: ms each\n  ferryd       1234.50    8.8M   12346 ");
    assert_fits_80_columns(text);
    rows[0].cells[0].operations = 1000000;
    text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, "8.8M       0 ");
    assert_fits_80_columns(text);
}

static void together_a_floor_that_no_goal_names_has_a_ratio_alone(void **state)
{
    (void)state;
    rows[0].name = "quit";
    char *text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, "0.82 [0.82, 0.82]\n");
    assert_has(text, "[1.03, 1.03]   met\n");
    free(text);
}

static void together_a_limited_client_s_verdict_says_what_it_is_from(void **state)
{
    (void)state;
    rows[0].cells[0].client_cpu_us = rows[0].cells[1].client_cpu_us = 3400000;
    rows[0].cells[1].ratio.interval.low = 0.5;
    rows[0].cells[1].ratio.interval.high = 0.6;
    char *text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, "[0.50, 0.60]   met\n"
                     "    client-limited: judged by CPU, ratio 1.20 [1.20, 1.20]\n");
    free(text);
    text = text_of(&together, SUMMARY, NULL, false);
    assert_has(text, "client-limited: judged by CPU");
    assert_fits_80_columns(text);
}

static void colour_marks_verdicts_alone(void **state)
{
    (void)state;
    char *text = text_of(&together, ROW, &rows[0], true);
    assert_has(text, "[1.03, 1.03]   \033[32mmet\033[0m\n");
    assert_has(text, "[0.82, 0.82]   \033[31mmissed\033[0m\n");
    unsigned escapes = 0;
    for (const char *at = text; (at = strchr(at, '\033')) != NULL; at++)
        escapes++;
    assert_int_equal(escapes, 6);
    free(text);
}

static void together_the_head_tells_the_servers_and_who_is_missing(void **state)
{
    (void)state;
    char *text = text_of(&together, HEAD, NULL, false);
    assert_has(text, "bench ftp: files of 10.0M, 300 clients, 21 pairs\n");
    assert_has(text, ", Linux ");
    assert_has(text, "  ferryd     0.3.0\n");
    assert_has(text, "  vsftpd     3.0.3-13+b2 (/usr)\n");
    assert_has(text, "  twisted    not measured: not installed\n");
    assert_has(text, "ratio    ferryd beside this server");
    assert_has(text, "\n  NOOP     what another session waits");
    assert_has(text, "\nThe floor is a bare responder");
    assert_has(text, "     CPU       NOOP ratio ");
    assert_fits_80_columns(text);
}

static void together_the_head_of_ssh_has_its_files_and_question_and_no_floor(void **state)
{
    (void)state;
    struct bench_options ssh = together;
    ssh.suite = &bench_suite_ssh;
    char *text = text_of(&ssh, HEAD, NULL, false);
    assert_has(text, "bench ssh: files of 512M, 300 clients, 21 pairs\n");
    assert_has(text, "\n  REALPATH what another session waits");
    assert_has(text, "     CPU   REALPATH ratio ");
    assert_null(strstr(text, "floor"));
    assert_null(strstr(text, "NOOP"));
    assert_fits_80_columns(text);
    ssh.quick = true;
    ssh.clients = 50;
    ssh.pairs = 3;
    text = text_of(&ssh, HEAD, NULL, false);
    assert_has(text, "bench ssh: files of 32M, 50 clients, 3 pairs (quick: less exact)\n");
    assert_fits_80_columns(text);
}

static void the_summary_puts_ferryd_beside_the_best_peer_then_lists_goals(void **state)
{
    (void)state;
    char *text = text_of(&together, SUMMARY, NULL, false);
    assert_has(text, "STOR (1 file with 300 idle clients)         1234.50    1200.00 vsftpd"
                     "      1.03\n");
    assert_has(text, "MB/sec  [1.03, 1.03]   met\n");
    assert_has(text, "300 concurrent clients (QUIT)                  0.12  no peer\n");
    assert_has(text, "\nGoals: 2 met, 1 missed, 0 undecided\n");
    assert_has(text, " met       stor_idle      at least 0.95 of every peer      1.03 vsftpd"
                     "     +8%\n");
    assert_has(text, " missed    stor_idle      at least 0.90 of the floor       0.82 floor"
                     "      -9%\n");
    assert_fits_80_columns(text);
}

static void the_summary_cuts_labels_and_shows_what_failed(void **state)
{
    (void)state;
    snprintf(rows[0].label, BENCH_LABEL_MAX, "a label of more than the forty columns it has");
    snprintf(rows[1].cells[0].error, BENCH_ERROR_MAX, "gone");
    char *text = text_of(&together, SUMMARY, NULL, false);
    assert_has(text, "\na label of more than the forty columns..    1234.50    1200.00 vsftpd");
    assert_has(text, "\n300 concurrent clients (QUIT)                failed\n");
    assert_null(strstr(text, "0.12"));
    free(text);
    snprintf(rows[0].cells[0].error, BENCH_ERROR_MAX, "gone");
    for (unsigned i = 1; i < rows[0].count; i++)
        rows[0].cells[i].ratio.is_known = rows[0].cells[i].cpu_ratio.is_known = false;
    text = text_of(&together, SUMMARY, NULL, false);
    assert_has(text, "\na label of more than the forty columns..     failed\n");
    assert_has(text, "\nGoals: 0 met, 3 missed, 0 undecided\n");
    assert_has(text, " missed    stor_idle      less CPU than every peer         failed");
    assert_fits_80_columns(text);
}

static void the_summary_has_no_row_without_ferryd(void **state)
{
    (void)state;
    snprintf(results.servers[0].name, BENCH_NAME_MAX, "another");
    char *text = text_of(&together, SUMMARY, NULL, false);
    assert_null(strstr(text, "STOR"));
    assert_null(strstr(text, "Goals"));
    free(text);
}

static void a_goal_says_that_there_were_too_few_descriptors(void **state)
{
    (void)state;
    rows[0].name = "idle_100k";
    rows[0].clients = 100000;
    rows[0].cells[0].held = 3500;
    char *text = text_of(&together, SUMMARY, NULL, false);
    assert_has(text, "\nGoals: 0 met, 0 missed, 2 undecided\n");
    assert_has(text, " undecided idle_100k      at most 200M of memory           -");
    assert_has(text, "not possible here: descriptors for 3500 sessions\n");
    assert_fits_80_columns(text);
    json_t *report = report_json(&together, &results);
    const json_t *goal = json_array_get(json_object_get(report, "goals"), 0);
    assert_int_equal(json_integer_value(json_object_get(goal, "sessions_held")), 3500);
    assert_null(json_object_get(goal, "value"));
    json_decref(report);
}

static void an_earlier_run_that_has_nothing_of_this_one_is_seen(void **state)
{
    (void)state;
    static const char *const then[] = {
        "{\"rows\": [{\"row\": \"retr\", \"unit\": \"MB/sec\", \"label\": "
        "\"STOR (1 file with 300 idle clients)\", \"servers\": ["
        "{\"server\": \"ferryd\", \"samples\": [1]}]}]}",
        "{\"rows\": [{\"row\": \"stor_idle\", \"unit\": \"MB/sec\", \"label\": "
        "\"STOR (1 file with 300 idle clients)\", \"servers\": ["
        "{\"server\": \"ferryd\", \"samples\": [1]}]}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(then); i++) {
        char why[BENCH_ERROR_MAX];
        assert_int_equal(baseline_parse(bytes_str(then[i]), why, &baseline), 0);
        const struct report report = {.options = &together, .baseline = baseline};
        assert_int_equal(report_has_baseline(&report, &results), i == 1);
        baseline = baseline_free(baseline);
    }
}

static void an_earlier_run_stands_beneath_each_server_that_it_had(void **state)
{
    (void)state;
    static const char then[] =
        "{\"rows\": [{\"row\": \"stor_idle\", \"unit\": \"MB/sec\", \"label\": "
        "\"STOR (1 file with 300 idle clients)\", \"servers\": ["
        "{\"server\": \"ferryd\", \"samples\": [617.25, 617.25, 617.25, 617.25, 617.25]},"
        "{\"server\": \"vsftpd\", \"samples\": [2400]}]}]}";
    char why[BENCH_ERROR_MAX];
    assert_int_equal(baseline_parse(bytes_str(then), why, &baseline), 0);
    char *text = text_of(&together, ROW, &rows[0], false);
    assert_has(text, "0.05/0.48\n    beside the baseline: 2.00 [1.96, 2.02]\n  vsftpd ");
    assert_has(text, "met\n    beside the baseline: 0.50 (too few samples)\n  pyftpdlib ");
    assert_fits_80_columns(text);
    text = text_of(&alone, ROW, &rows[0], false);
    assert_has(text, "    beside the baseline: 2.00 [1.96, 2.02]\n");
    assert_fits_80_columns(text);
    text = text_of(&together, ROW, &rows[1], false);
    assert_null(strstr(text, "baseline"));
    free(text);
    baseline = baseline_free(baseline);
}

/* -- JSON -- */

static const json_t *at(const json_t *list, size_t index, const char *key)
{
    return json_object_get(json_array_get(list, index), key);
}

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void json_holds_all_that_was_measured_and_no_password(void **state)
{
    (void)state;
    json_t *report = report_json(&together, &results);
    assert_non_null(report);
    assert_true(json_is_true(json_object_get(report, "complete")));
    assert_float_equal(number(report, "stored_bytes"), 5, 0);
    const json_t *servers = json_object_get(report, "servers");
    assert_int_equal(json_array_size(servers), 3);
    assert_string_equal(json_string_value(at(servers, 0, "settings")), settings);
    assert_string_equal(json_string_value(at(servers, 2, "error")), "not installed");
    const json_t *list = json_object_get(report, "rows");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(at(list, 0, "row")), "stor_idle");
    assert_string_equal(json_string_value(at(list, 0, "unit")), "MB/sec");
    const json_t *cells = at(list, 0, "servers");
    assert_int_equal(json_array_size(cells), 5);
    const json_t *cell = json_array_get(cells, 1);
    assert_string_equal(json_string_value(json_object_get(cell, "server")), "vsftpd");
    assert_float_equal(number(cell, "value"), 1200, 1e-6);
    assert_int_equal(json_array_size(json_object_get(cell, "samples")), 5);
    assert_int_equal(json_array_size(json_object_get(cell, "server_cpu_s_per_byte_samples")),
                     5);
    assert_float_equal(number(cell, "server_cpu_s_per_gb"), 0.6, 1e-6);
    assert_float_equal(number(json_object_get(cell, "noop"), "p99_ms"), 0.48, 1e-6);
    assert_float_equal(number(json_object_get(cell, "ratio"), "value"), (1234.5 / 1200), 1e-6);
    assert_string_equal(json_string_value(json_object_get(cell, "verdict")), "met");
    assert_string_equal(json_string_value(json_object_get(cell, "judged_by")), "ratio");
    assert_null(json_object_get(json_array_get(cells, 0), "verdict"));
    assert_int_equal(json_array_size(json_object_get(report, "goals")), 3);
    json_decref(report);

    report = report_json(&alone, &results);
    assert_null(json_object_get(report, "goals"));
    char *text = json_dumps(report, 0);
    assert_has(text, "files.example.org");
    assert_null(strstr(text, "s3cr3t"));
    free(text);
    json_decref(report);
}

static void json_leaves_out_what_was_not_measured(void **state)
{
    (void)state;
    json_t *report = report_json(&together, &results);
    const json_t *list = json_object_get(report, "rows");
    const json_t *cell = json_array_get(at(list, 1, "servers"), 0);
    assert_null(json_object_get(cell, "server_cpu_s"));
    assert_null(json_object_get(cell, "memory_bytes"));
    assert_null(json_object_get(cell, "noop"));
    assert_null(json_object_get(cell, "ratio"));
    cell = json_array_get(at(list, 0, "servers"), 4);
    assert_string_equal(json_string_value(json_object_get(cell, "error")),
                        "login 51 of 300: the server says: 421 No");
    assert_null(json_object_get(cell, "value"));
    json_decref(report);
}

static void json_survives_a_server_s_bytes_and_numbers_that_are_none(void **state)
{
    (void)state;
    results.is_complete = false;
    snprintf(results.error, sizeof(results.error), "the server says: caf\xe9 \xc3\xa9");
    rows[0].cells[0].samples[0] = 1 / (rows[0].cells[0].slope_bytes * 1.0);
    json_t *report = report_json(&together, &results);
    assert_non_null(report);
    assert_true(json_is_false(json_object_get(report, "complete")));
    assert_string_equal(json_string_value(json_object_get(report, "error")),
                        "the server says: caf? \xc3\xa9");
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(alone_the_first_line_is_ftpbench_s, setup_alone),
        cmocka_unit_test_setup(alone_what_else_is_known_follows, setup_alone),
        cmocka_unit_test_setup(alone_a_client_that_is_the_limit_is_named, setup_alone),
        cmocka_unit_test_setup(alone_a_row_that_failed_shows_why_and_no_number, setup_alone),
        cmocka_unit_test_setup(
            alone_the_head_names_the_server_and_its_memory_and_nothing_ends_it, setup_alone),
        cmocka_unit_test_setup(together_each_server_has_a_line_beneath_the_label,
                               setup_together),
        cmocka_unit_test_setup(together_what_was_not_measured_is_a_dash, setup_together),
        cmocka_unit_test_setup(together_what_takes_milliseconds_has_more_decimals,
                               setup_together),
        cmocka_unit_test_setup(together_the_widest_values_fit_80_columns, setup_together),
        cmocka_unit_test_setup(together_a_floor_that_no_goal_names_has_a_ratio_alone,
                               setup_together),
        cmocka_unit_test_setup(together_a_limited_client_s_verdict_says_what_it_is_from,
                               setup_together),
        cmocka_unit_test_setup(colour_marks_verdicts_alone, setup_together),
        cmocka_unit_test_setup(together_the_head_of_ssh_has_its_files_and_question_and_no_floor,
                               setup_together),
        cmocka_unit_test_setup(together_the_head_tells_the_servers_and_who_is_missing,
                               setup_together),
        cmocka_unit_test_setup(the_summary_puts_ferryd_beside_the_best_peer_then_lists_goals,
                               setup_together),
        cmocka_unit_test_setup(the_summary_cuts_labels_and_shows_what_failed, setup_together),
        cmocka_unit_test_setup(the_summary_has_no_row_without_ferryd, setup_together),
        cmocka_unit_test_setup(together_cpu_is_at_most_seven_columns_wide, setup_together),
        cmocka_unit_test_setup(a_goal_says_that_there_were_too_few_descriptors, setup_together),
        cmocka_unit_test_setup(an_earlier_run_that_has_nothing_of_this_one_is_seen,
                               setup_together),
        cmocka_unit_test_setup(an_earlier_run_stands_beneath_each_server_that_it_had,
                               setup_together),
        cmocka_unit_test_setup(json_holds_all_that_was_measured_and_no_password,
                               setup_together),
        cmocka_unit_test_setup(json_leaves_out_what_was_not_measured, setup_together),
        cmocka_unit_test_setup(json_survives_a_server_s_bytes_and_numbers_that_are_none,
                               setup_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
