#include "bench/options/url.h"

#include <string.h>

#include "base/attr.h"
#include "check.h"

static const char *parse(const char *text, struct bench_url *u)
{
    return bench_url_parse(bytes_str(text), u);
}

static void all_parts_are_taken(void **state)
{
    (void)state;
    struct bench_url u;
    assert_null(parse("ftp://anna:secret@files.example.org:2121", &u));
    assert_string_equal(u.host, "files.example.org");
    assert_string_equal(u.user, "anna");
    assert_string_equal(u.password, "secret");
    assert_int_equal(u.port, 2121);
    assert_null(parse("FTP://anna:secret@[::1]:21/", &u));
    assert_string_equal(u.host, "::1");
    assert_int_equal(u.port, 21);
}

static void what_is_left_out_is_empty(void **state)
{
    (void)state;
    struct bench_url u;
    assert_null(parse("ftp://host", &u));
    assert_string_equal(u.host, "host");
    assert_string_equal(u.user, "");
    assert_string_equal(u.password, "");
    assert_int_equal(u.port, 0);
    assert_null(parse("ftp://anna@[fe80::1]", &u));
    assert_string_equal(u.user, "anna");
    assert_string_equal(u.host, "fe80::1");
}

static void escapes_are_undone_and_a_password_may_hold_anything(void **state)
{
    (void)state;
    struct bench_url u;
    assert_null(parse("ftp://a%40b:p%3a%2F%20q@host:1", &u));
    assert_string_equal(u.user, "a@b");
    assert_string_equal(u.password, "p:/ q");
    assert_null(parse("ftp://a:x@y:z@host:1", &u));
    assert_string_equal(u.password, "x@y:z");
    assert_string_equal(u.host, "host");
}

static void what_is_no_url_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "ftp:",          "ftp:/host",       "http://host",   "host",
        "ftp://",     "ftp://:21",     "ftp://u:p@",      "ftp://[::1",    "ftp://[]",
        "ftp://h:",   "ftp://h:0",     "ftp://h:65536",   "ftp://h:21x",   "ftp://h/dir",
        "ftp://h:-1", "ftp://[::1]21", "ftp://u:%4@h",    "ftp://u:%zz@h", "ftp://u:%00@h",
        "ftp://%@h",  "ftp://u%4",     "ftp://h%00.org/",
    };
    struct bench_url u;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (parse(wrong[i], &u) == NULL)
            fail_msg("was taken: %s", wrong[i]);
}

static void long_parts_are_refused(void **state)
{
    (void)state;
    struct bench_url u;
    char text[1024] = "ftp://";
    memset(text + 6, 'h', BENCH_HOST_MAX);
    assert_null(parse(text, &u));
    assert_int_equal(strlen(u.host), BENCH_HOST_MAX);
    text[6 + BENCH_HOST_MAX] = 'h';
    assert_non_null(parse(text, &u));
    memset(text + 6, 'u', USER_NAME_MAX + 1);
    memcpy(text + 6 + USER_NAME_MAX + 1, "@h", 3);
    assert_non_null(parse(text, &u));
    memcpy(text + 6, "u:", 2);
    memset(text + 8, 'p', PASSWORD_MAX + 1);
    memcpy(text + 8 + PASSWORD_MAX + 1, "@h", 3);
    assert_non_null(parse(text, &u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_are_taken),
        cmocka_unit_test(what_is_left_out_is_empty),
        cmocka_unit_test(escapes_are_undone_and_a_password_may_hold_anything),
        cmocka_unit_test(what_is_no_url_is_refused_with_a_reason),
        cmocka_unit_test(long_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
