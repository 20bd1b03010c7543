#include "server/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "check.h"

#define WORDS_MAX 24

static struct options o;
static struct refusal why;
static char words[WORDS_MAX][128]; /* writable, as main()'s are */

static int setup(void **state)
{
    (void)state;
    memset(&o, 0, sizeof(o));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    options_done(&o);
    return 0;
}

/* Splits at single blanks. */
static int parse(const char *line)
{
    char *argv[WORDS_MAX + 1] = {words[0]};
    int argc = 1;
    strcpy(words[0], "ferryd");
    while (*line != '\0') {
        size_t len = strcspn(line, " ");
        memcpy(words[argc], line, len);
        words[argc][len] = '\0';
        argv[argc] = words[argc];
        argc++;
        line += len + (line[len] == ' ');
    }
    options_done(&o);
    return options_parse(argc, argv, &o, &why);
}

static void every_option_is_read(void **state)
{
    (void)state;
    assert_int_equal(parse("/srv --listen ftp://127.0.0.1:0 --listen=ftp://[::1]:0 --user anna "
                           "--user bob:@file --anonymous --read-only --workers 3 --state /s "
                           "--log-format json"),
                     0);
    assert_int_equal(o.action, OPTIONS_SERVE);
    assert_string_equal(o.dir, "/srv");
    assert_int_equal(o.listen_count, 2);
    assert_string_equal(o.listen[1], "ftp://[::1]:0");
    assert_int_equal(o.user_count, 2);
    assert_true(bytes_equal(o.users[0].name, BYTES_LIT("anna")));
    assert_null(o.users[0].file);
    assert_true(bytes_equal(o.users[1].name, BYTES_LIT("bob")));
    assert_string_equal(o.users[1].file, "file");
    assert_true(o.anonymous);
    assert_true(o.read_only);
    assert_int_equal(o.workers, 3);
    assert_string_equal(o.state, "/s");
    assert_true(o.log_format_given);
    assert_int_equal(o.log_format, LOG_JSON);
    assert_false(o.password_was_visible);
}

static void a_password_is_wiped_from_the_vector(void **state)
{
    (void)state;
    assert_int_equal(parse("/srv --user anna:secret --user=bob:other"), 0);
    assert_string_equal((const char *)o.users[0].password.data, "secret");
    assert_string_equal((const char *)o.users[1].password.data, "other");
    assert_string_equal(words[3], "anna:");
    assert_string_equal(words[4], "--user=bob:");
    for (size_t i = strlen("anna:"); i < strlen("anna:secret"); i++)
        assert_int_equal(words[3][i], '\0');
    assert_true(o.password_was_visible);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;

    static const struct {
        const char *line, *says;
    } refused[] = {
        {"", "a directory, or --config"},
        {"/a /b", "'/b' is one too many"},
        {"/a --no-such", "unknown option --no-such"},
        {"/a --no-such=1", "unknown option --no-such=1"},
        {"/a -x", "unknown option -x"},
        {"/a --listen", "--listen needs a value"},
        {"/a --anonymous=yes", "--anonymous takes no value"},
        {"/a --workers 0", "--workers: '0'"},
        {"/a --workers 9", "--workers: '9'"},
        {"/a --workers two", "--workers: 'two'"},
        {"/a --log-format xml", "'xml' is neither text nor json"},
        {"/a --user anna:", "the password is empty"},
        {"/a --state=", "--state"},
        {"--config a --config b", "--config is given twice"},
        {"/a --check-config", "--check-config takes no directory"},
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(parse(refused[i].line), -EINVAL);
        if (strstr(why.text, refused[i].says) == NULL)
            fail_msg("'%s': %s", refused[i].line, why.text);
    }
}

static void help_and_version_need_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(parse("--help"), 0);
    assert_int_equal(o.action, OPTIONS_HELP);
    assert_int_equal(parse("--version"), 0);
    assert_int_equal(o.action, OPTIONS_VERSION);
    assert_int_equal(parse("--version --check-config --help"), 0);
    assert_int_equal(o.action, OPTIONS_HELP);
}

static void check_config_alone_reads_the_usual_file(void **state)
{
    (void)state;
    assert_int_equal(parse("--check-config"), 0);
    assert_int_equal(o.action, OPTIONS_CHECK_CONFIG);
    assert_string_equal(o.config, OPTIONS_CONFIG_FILE);
    assert_int_equal(parse("--check-config --config x"), 0);
    assert_string_equal(o.config, "x");
}

static void the_command_line_wins_over_the_file(void **state)
{
    (void)state;
    static struct settings s;
    assert_int_equal(settings_init(&s), 0);
    assert_int_equal(settings_add_listener(&s, "ftp://10.0.0.1:21", &why), 0);
    assert_int_equal(settings_set_text(&s.state_dir, "/of-the-file"), 0);
    s.workers = 2;
    s.log_format = LOG_JSON;
    assert_int_equal(parse("--config x --listen ftp://127.0.0.1:0 --state /s --workers 4 "
                           "--log-format text --read-only --user anna --user bob:pw"),
                     0);
    assert_int_equal(options_apply(&o, &s, &why), 0);
    assert_int_equal(s.listener_count, 1);
    assert_true(addr_is_loopback(&s.listeners[0].addr));
    assert_string_equal(s.state_dir, "/s");
    assert_int_equal(s.workers, 4);
    assert_int_equal(s.log_format, LOG_TEXT);
    assert_true(s.read_only);
    assert_int_equal(s.account_count, 2);
    assert_true(s.accounts[0].generated);
    assert_false(s.accounts[1].generated);
    assert_string_equal((const char *)s.accounts[1].password.data, "pw");
    settings_done(&s);
}

static void what_is_not_said_stays_as_it_was(void **state)
{
    (void)state;
    static struct settings s;
    assert_int_equal(settings_init(&s), 0);
    assert_int_equal(settings_add_listener(&s, "ftp://10.0.0.1:21", &why), 0);
    s.workers = 2;
    s.log_format = LOG_JSON;
    s.anonymous = true;
    assert_int_equal(parse("--config x"), 0);
    assert_int_equal(options_apply(&o, &s, &why), 0);
    assert_int_equal(s.listener_count, 1);
    assert_int_equal(s.workers, 2);
    assert_int_equal(s.log_format, LOG_JSON);
    assert_true(s.anonymous);
    settings_done(&s);
}

static void every_option_is_in_the_help(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    options_print_help(out);
    fclose(out);
    static const char *const names[] = {"--listen URL", "--user NAME",   "--anonymous",
                                        "--read-only",  "--workers N",   "--state DIR",
                                        "--log-format", "--config FILE", "--check-config",
                                        "--help",       "--version"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_non_null(strstr(text, names[i]));
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_option_is_read),
        TEST(a_password_is_wiped_from_the_vector),
        TEST(what_is_wrong_is_named),
        TEST(help_and_version_need_nothing_else),
        TEST(check_config_alone_reads_the_usual_file),
        TEST(the_command_line_wins_over_the_file),
        TEST(what_is_not_said_stays_as_it_was),
        TEST(every_option_is_in_the_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
