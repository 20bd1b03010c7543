#include <errno.h>

#include "base/err.h"
#include "check.h"
#include "client/remote/scp.h"

static void a_complaint_says_what_failed(void **state)
{
    (void)state;

    const struct {
        const char *text;
        int result;
    } rows[] = {
        {"scp: /a: No such file or directory", -ENOENT},
        {"scp: /a: no such file or directory", -ENOENT},
        {"scp: a b: Permission denied", -EACCES},
        {"scp: /a: not a regular file", -FERRY_ENOTREG},
        {"scp: No such file or directory: something else", -FERRY_EREFUSED},
        {"directory", -FERRY_EREFUSED},
        {"", -FERRY_EREFUSED},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(scp_complaint_result(bytes_str(rows[i].text)), rows[i].result);
}

static void a_complaint_names_one_component_or_nothing(void **state)
{
    (void)state;

    const struct {
        const char *text, *name;
    } rows[] = {
        {"scp: /d/file: Permission denied", "file"},
        {"scp: file: Permission denied", "file"},
        {"scp: d/a: b: Permission denied", "a: b"},
        {"scp: d/..: Permission denied", ""}, /* nobody goes there */
        {"scp: d/.: Permission denied", ""},
        {"scp: d/: Permission denied", ""},
        {"scp: : x", ""},
        {"scp: ", ""},
        {"scp: no path", ""},
        {"other: d/file: Permission denied", ""},
        {"", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bytes name = scp_complaint_name(bytes_str(rows[i].text));
        assert_true(bytes_equal(name, bytes_str(rows[i].name)));
    }
}

static void a_directory_may_have_no_name_to_ask_for(void **state)
{
    static const char *const nameless[] = {"", ".", "..", "/", "a/.", "a/..", "a/./", "//"};
    static const char *const named[] = {"a", "/a", "a/", "a/.b", "...", "a/b..//"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(nameless); i++)
        assert_true(scp_is_nameless(bytes_str(nameless[i])));
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        assert_false(scp_is_nameless(bytes_str(named[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complaint_says_what_failed),
        cmocka_unit_test(a_complaint_names_one_component_or_nothing),
        cmocka_unit_test(a_directory_may_have_no_name_to_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
