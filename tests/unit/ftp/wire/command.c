#include "ftp/wire/command.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"

static void splits_verb_and_argument(void **state)
{
    (void)state;

    static const struct {
        const char *line, *verb, *argument;
    } rows[] = {
        {"NOOP", "NOOP", ""},
        {"noop", "NOOP", ""},
        {"nOoP ", "NOOP", ""},
        {"  USER joe", "USER", "joe"},
        {"STOR  two spaces", "STOR", " two spaces"},
        {"STOR ends in spaces  ", "STOR", "ends in spaces  "},
        {"CWD \ttab", "CWD", "\ttab"},
        {"LIST -la a b", "LIST", "-la a b"},
        {"a", "A", ""},
        {"XSHA256 f", "XSHA256", "f"},
        {"UTF-8 on", "UTF-8", "on"}, /* after OPTS */
        {"GET / HTTP/1.1", "GET", "/ HTTP/1.1"},
        {"PASS \xc3\xa9\xff\x01", "PASS", "\xc3\xa9\xff\x01"},
        {"ABCDEFG", "ABCDEFG", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_request r;
        memset(&r, 0x5a, sizeof(r));
        assert_int_equal(ftp_command_parse(bytes_str(rows[i].line), &r), 0);
        assert_string_equal(r.verb, rows[i].verb);
        for (size_t at = strlen(r.verb); at < sizeof(r.verb); at++)
            assert_int_equal(r.verb[at], 0);
        assert_int_equal(r.argument.len, strlen(rows[i].argument));
        if (r.argument.len > 0)
            assert_memory_equal(r.argument.data, rows[i].argument, r.argument.len);
    }
}

static void refuses_what_is_no_verb(void **state)
{
    (void)state;

    static const struct {
        const char *line;
        int result;
    } rows[] = {
        {"", -EINVAL},
        {" ", -EINVAL},
        {"   ", -EINVAL},
        {"1USER x", -EINVAL},
        {"-la", -EINVAL},
        {"\tNOOP", -EINVAL},
        {"NOOP\t", -EINVAL},
        {"NOOP\r", -EINVAL},
        {"CWD/etc", -EINVAL},
        {"\xc3\x89SER", -EINVAL},
        {"Host: x", -EINVAL},
        {"ABCDEFGH", -FERRY_ELIMIT},
        {"ABCDEFGH x", -FERRY_ELIMIT},
        {"ABCDEFGH:", -EINVAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_request r = {.verb = "KEPT"};
        assert_int_equal(ftp_command_parse(bytes_str(rows[i].line), &r), rows[i].result);
        assert_string_equal(r.verb, "KEPT");
    }
    struct ftp_request r;
    assert_int_equal(ftp_command_parse(BYTES_LIT("US\0R x"), &r), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_verb_and_argument),
        cmocka_unit_test(refuses_what_is_no_verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
