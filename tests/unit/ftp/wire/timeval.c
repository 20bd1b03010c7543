#include "ftp/wire/timeval.h"

#include <errno.h>

#include "check.h"

#define S INT64_C(1000000)

static void reads_a_time(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"19700101000000", 0},
        {"19691231235959", -S},
        {"20000229123456", 951827696 * S},
        {"20380119031408", 2147483648 * S},
        {"00010101000000", -62135596800 * S},
        {"99991231235959.999999", 253402300799 * S + 999999},
        {"19700101000000.5", S / 2},
        {"19700101000000.123456789", 123456},
        {"19700101000000.000", 0},
        {"20161231235960", 1483228800 * S}, /* a leap second */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us = 7;
        assert_int_equal(ftp_timeval_parse(bytes_str(rows[i].text), &us), 0);
        assert_true(us == rows[i].us);
    }
}

static void refuses_what_is_no_time(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "1970010100000",
        "197001010000000",
        "19700101000000.",
        "19700101000000.x",
        "19700101000000.1x",
        "19700101000000.1.2",
        "19700101000000 ",
        " 19700101000000",
        "-9700101000000",
        "+9700101000000",
        "1970010100000x",
        "1970011/000000",
        "1970-1-1000000",
        "19700001000000",
        "19701301000000",
        "19700100000000",
        "19700132000000",
        "19700229000000",
        "19000229000000",
        "19700101240000",
        "19700101006000",
        "19700101000061",
        "00000101000000",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us = 7;
        assert_int_equal(ftp_timeval_parse(bytes_str(rows[i]), &us), -EINVAL);
        assert_true(us == 7);
    }
}

static void formats_what_it_reads(void **state)
{
    (void)state;

    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {0, "19700101000000"},
        {-1, "19691231235959.999"},
        {-S, "19691231235959"},
        {999, "19700101000000"}, /* no whole millisecond */
        {1000, "19700101000000.001"},
        {951827696 * S + 999999, "20000229123456.999"},
        {253402300799 * S, "99991231235959"},
        {INT64_MAX, "99991231235959.999"},
        {INT64_MIN, "00010101000000"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[FTP_TIMEVAL_TEXT_MAX];
        assert_string_equal(ftp_timeval_format(rows[i].us, text), rows[i].text);
        int64_t back;
        assert_int_equal(ftp_timeval_parse(bytes_str(text), &back), 0);
    }
}

static void splits_time_and_path_at_the_first_space(void **state)
{
    (void)state;

    static const struct {
        const char *argument;
        int result;
        const char *path;
    } rows[] = {
        {"19700101000001 a", 0, "a"},
        {"19700101000001  a b ", 0, " a b "},
        {"19700101000001.000  ", 0, " "},
        {"19700101000001 ", -EINVAL, ""},
        {"19700101000001", -EINVAL, ""},
        {" 19700101000001 a", -EINVAL, ""},
        {"a 19700101000001", -EINVAL, ""},
        {"", -EINVAL, ""},
        {" ", -EINVAL, ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us;
        struct bytes path = BYTES_NONE;
        assert_int_equal(ftp_timeval_split(bytes_str(rows[i].argument), &us, &path),
                         rows[i].result);
        assert_int_equal(path.len, strlen(rows[i].path));
        if (rows[i].result == 0) {
            assert_true(us == S);
            assert_memory_equal(path.data, rows[i].path, path.len);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_time),
        cmocka_unit_test(refuses_what_is_no_time),
        cmocka_unit_test(formats_what_it_reads),
        cmocka_unit_test(splits_time_and_path_at_the_first_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
