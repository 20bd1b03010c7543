#include "ftp/wire/list_argument.h"

#include "base/attr.h"
#include "check.h"

static void expect_bytes(struct bytes s, const char *text)
{
    assert_int_equal(s.len, strlen(text));
    if (s.len > 0)
        assert_memory_equal(s.data, text, s.len);
}

static void leading_options_are_dropped_and_l_is_noted(void **state)
{
    (void)state;

    static const struct {
        const char *argument;
        bool is_long;
        const char *path;
    } rows[] = {
        {"", false, ""},
        {"dir", false, "dir"},
        {"-la", true, ""},
        {"-la ", true, ""},
        {"-la dir", true, "dir"},
        {"-l -a dir", true, "dir"},
        {"-R dir", false, "dir"},
        {"-1tF dir", false, "dir"},
        {"-aa -a x", false, "x"},
        {"-la  dir", true, " dir"},
        {"-a dir -l", false, "dir -l"},
        {"-", false, "-"},
        {"- a", false, "- a"},
        {"-a.txt", false, "-a.txt"},
        {"--", false, ""},
        {"-- -a", false, "-a"},
        {"-l -- -- x", true, "-- x"},
        {"--all x", false, "--all x"},
        {" -a", false, " -a"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_list_argument a;
        ftp_list_argument_parse(bytes_str(rows[i].argument), &a);
        assert_int_equal(a.long_format, rows[i].is_long);
        expect_bytes(a.path, rows[i].path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leading_options_are_dropped_and_l_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
