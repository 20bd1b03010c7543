#include "bench/options/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "bench/ftp/suite.h"
#include "check.h"

#define WORDS_MAX 24

static char *complaint; /* of the last parse */
static char words[2048];
static char *argv_of_test[WORDS_MAX + 1];

/* The line is cut at blanks into words that may be written to. */
static int parse(const char *line, struct bench_options *ret)
{
    int argc = 0;
    snprintf(words, sizeof(words), "%s", line);
    for (char *at = words; *at != '\0' && argc < WORDS_MAX;) {
        argv_of_test[argc++] = at;
        at += strcspn(at, " ");
        if (*at == ' ')
            *at++ = '\0';
    }
    argv_of_test[argc] = NULL;
    free(complaint);
    size_t len;
    FILE *err = open_memstream(&complaint, &len);
    int r = bench_options_parse(&bench_suite_ftp, argc, argv_of_test, err, ret);
    fclose(err);
    return r;
}

static int teardown(void **state)
{
    (void)state;
    free(complaint);
    complaint = NULL;
    return 0;
}

static void defaults_are_those_of_ftpbench(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(parse("ftp -u anna -p secret", &o), 0);
    assert_string_equal(complaint, "");
    assert_string_equal(o.server.host, "localhost");
    assert_int_equal(o.server.port, 21);
    assert_int_equal(o.kind, BENCH_TRANSFER);
    assert_int_equal(o.clients, 200);
    assert_int_equal(o.file_bytes, 10 * 1024 * 1024);
    assert_int_equal(o.pid, 0);
    assert_int_equal(o.window, 40);
    assert_int_equal(o.pairs, 21);
    assert_true(o.has_server);
    assert_false(o.has_kind || o.quick || o.tls || o.compat || o.list_rows);
    assert_null(o.json);
    assert_null(o.rows);
}

static void without_a_server_everything_stands_side_by_side_as_in_the_study(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(parse("ftp", &o), 0);
    assert_false(o.has_server);
    assert_int_equal(o.kind, BENCH_ALL);
    assert_int_equal(o.clients, 300);
    assert_int_equal(o.pairs, 21);
    assert_int_equal(parse("ftp --quick --peers vsftpd,floor --disk /srv --row retr,stor "
                           "--baseline old.json",
                           &o),
                     0);
    assert_false(o.has_server);
    assert_int_equal(o.clients, 50);
    assert_int_equal(o.pairs, 3);
    assert_string_equal(o.peers, "vsftpd,floor");
    assert_string_equal(o.disk, "/srv");
    assert_string_equal(o.rows, "retr,stor");
    assert_string_equal(o.baseline, "old.json");
    assert_int_equal(parse("ftp --pairs 41 --quick", &o), 0);
    assert_int_equal(o.pairs, 41);
}

static void each_option_about_a_server_says_that_there_is_one(void **state)
{
    (void)state;
    static const char *const lines[] = {"ftp -H host -u a -p b", "ftp -P 21 -u a -p b",
                                        "ftp -k 5 -u a -p b", "ftp --url ftp://a:b@c"};
    struct bench_options o;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(parse(lines[i], &o), 0);
        assert_true(o.has_server);
    }
    /* One of them is not enough to log in. */
    assert_int_equal(parse("ftp -k 5", &o), -1);
    assert_int_equal(parse("ftp -H host", &o), -1);
}

static void rows_are_listed_without_a_server(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(parse("ftp --row help", &o), 0);
    assert_true(o.list_rows);
    assert_int_equal(parse("ftp --row help -u anna", &o), 0);
    assert_true(o.list_rows);
    assert_int_equal(parse("ftp --row retr", &o), 0);
    assert_false(o.list_rows);
}

static void compat_and_tls_are_taken_with_a_server(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(parse("ftp -u a -p b -S --compat -b all", &o), 0);
    assert_true(o.tls && o.compat && o.has_kind);
    /* Word for word, wherever --compat stands. */
    assert_int_equal(parse("ftp -b nope -u a -p b --compat", &o), -1);
    assert_string_equal(complaint, "invalid 'benchmark' parameter 'nope'\n");
}

static void a_list_has_the_names_between_its_commas(void **state)
{
    (void)state;
    assert_true(bench_list_has("retr,stor", "retr"));
    assert_true(bench_list_has("retr,stor", "stor"));
    assert_false(bench_list_has("retr_idle,stor", "retr"));
    assert_false(bench_list_has("retr", "retr_idle"));
    assert_false(bench_list_has("retr,", "r"));
    assert_true(bench_list_has(NULL, "anything"));
}

static void every_option_of_ftpbench_is_taken(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(parse("ftp -H host -P 2121 -u anna -p secret -b all -n 300 -s 64k -k 77 "
                           "-t 5",
                           &o),
                     0);
    assert_string_equal(o.server.host, "host");
    assert_int_equal(o.server.port, 2121);
    assert_string_equal(o.server.user, "anna");
    assert_string_equal(o.server.password, "secret");
    assert_int_equal(o.kind, BENCH_ALL);
    assert_int_equal(o.clients, 300);
    assert_int_equal(o.file_bytes, 64 * 1024);
    assert_int_equal(o.pid, 77);
    assert_int_equal(o.timeout_us, 5 * USEC_PER_S);
}

static void sizes_have_a_letter_of_either_case_or_none(void **state)
{
    (void)state;

    static const struct {
        const char *line;
        uint64_t bytes;
    } rows[] = {
        {"ftp -u a -p b -s 1000B", 1000},    {"ftp -u a -p b -s 1000b", 1000},
        {"ftp -u a -p b -s 1000", 1000},     {"ftp -u a -p b -s 2M", 2097152},
        {"ftp -u a -p b -s 1g", 1073741824},
    };
    struct bench_options o;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(parse(rows[i].line, &o), 0);
        assert_int_equal(o.file_bytes, rows[i].bytes);
    }
}

static void an_option_replaces_its_part_of_the_url(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(
        parse("ftp --url ftp://anna:secret@host:99 -P 2121 --quick --window 7", &o), 0);
    assert_string_equal(o.server.host, "host");
    assert_int_equal(o.server.port, 2121);
    assert_string_equal(o.server.user, "anna");
    assert_true(o.quick);
    assert_int_equal(o.clients, 50);
    assert_int_equal(o.window, 7);
    assert_int_equal(parse("ftp --url ftp://anna@host -p x -n 3 --json -", &o), 0);
    assert_string_equal(o.server.password, "x");
    assert_int_equal(o.window, 3); /* no more than there are clients */
    assert_string_equal(o.json, "-");
}

static void a_password_does_not_stay_in_the_list_of_processes(void **state)
{
    (void)state;
    struct bench_options o;
    assert_int_equal(parse("ftp --url ftp://anna:topsecret@host -p evenmore", &o), 0);
    assert_string_equal(o.server.password, "evenmore");
    for (size_t i = 0; i + 8 < sizeof(words); i++) {
        assert_memory_not_equal(words + i, "topsec", 6);
        assert_memory_not_equal(words + i, "evenmor", 7);
    }
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;

    static const struct {
        const char *line, *says;
    } rows[] = {
        {"ftp -P 21", "which account"},
        {"ftp --compat", "--compat is for a server that runs"},
        {"ftp -u a -p b --compat --json x", "--json and --compat"},
        {"ftp -u a -p b --row stor --compat", "--row and --compat"},
        {"ftp -u a -p b --compat --pairs 3", "--pairs and --compat"},
        {"ftp -u a -p b --compat --quick", "--quick and --compat"},
        {"ftp -u a -p b --compat --window 3", "--window and --compat"},
        {"ftp -u a -p b --compat --baseline x", "--baseline and --compat"},
        {"ftp -S", "--ssl is for a server that runs"},
        {"ftp -u a -p b --peers vsftpd", "--peers and --pass: the one starts servers"},
        {"ftp --url ftp://a:b@c --disk /x", "--disk and --url: the one starts servers"},
        {"ftp --pairs 42", "--pairs takes a number from 1 to 41"},
        {"ftp --pairs 0", "--pairs takes"},
        {"ftp --row", "value is missing after --row"},
        {"ftp -u anna", "password is missing"},
        {"ftp -u a -p b -b nonsense", "no benchmark nonsense"},
        {"ftp -u a -p b -n 0", "--clients takes a number from 1"},
        {"ftp -u a -p b -n 100001", "--clients takes a number from 1"},
        {"ftp -u a -p b -n -3", "--clients takes a number from 1"},
        {"ftp -u a -p b -s 0K", "--filesize"},
        {"ftp -u a -p b -s 10MB", "--filesize"},
        {"ftp -u a -p b -s B", "--filesize"},
        {"ftp -u a -p b -s 99999999999999999999999999K", "--filesize"},
        {"ftp -u a -p b -P 65536", "--port"},
        {"ftp -u a -p b -k x", "--pid"},
        {"ftp -u a -p b -t 0", "--timeout"},
        {"ftp -u a -p b --window 1001", "--window"},
        {"ftp -u a -p b extra", "one argument too many: extra"},
        {"ftp -u a -p b -x", "unknown option"},
        {"ftp -u a -p b --nope", "unknown option --nope"},
        {"ftp -u a -p", "value is missing after -p"},
        {"ftp --url http://a:b@c", "does not begin with ftp://"},
    };
    struct bench_options o;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(parse(rows[i].line, &o), -1);
        if (strstr(complaint, rows[i].says) == NULL)
            fail_msg("%s: %s", rows[i].line, complaint);
    }
}

static void help_names_every_option_within_80_columns(void **state)
{
    (void)state;
    static const char *const names[] = {
        "--url URL",     "--host, -H HOST",  "--benchmark, -b KIND",
        "--pid, -k PID", "--quick",          "--json FILE",
        "--ssl, -S",     "--compat",         "--baseline FILE",
        "--row NAMES",   "--peers NAMES",    "--pairs N",
        "--disk DIR",    "ferry bench peers"};
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    bench_options_print_help(out);
    fclose(out);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_non_null(strstr(text, names[i]));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
    struct bench_options o;
    assert_int_equal(parse("ftp --help", &o), 0);
    assert_true(o.help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(defaults_are_those_of_ftpbench, teardown),
        cmocka_unit_test_teardown(
            without_a_server_everything_stands_side_by_side_as_in_the_study, teardown),
        cmocka_unit_test_teardown(each_option_about_a_server_says_that_there_is_one, teardown),
        cmocka_unit_test_teardown(rows_are_listed_without_a_server, teardown),
        cmocka_unit_test_teardown(compat_and_tls_are_taken_with_a_server, teardown),
        cmocka_unit_test_teardown(a_list_has_the_names_between_its_commas, teardown),
        cmocka_unit_test_teardown(every_option_of_ftpbench_is_taken, teardown),
        cmocka_unit_test_teardown(sizes_have_a_letter_of_either_case_or_none, teardown),
        cmocka_unit_test_teardown(an_option_replaces_its_part_of_the_url, teardown),
        cmocka_unit_test_teardown(a_password_does_not_stay_in_the_list_of_processes, teardown),
        cmocka_unit_test_teardown(what_is_wrong_is_said, teardown),
        cmocka_unit_test_teardown(help_names_every_option_within_80_columns, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
