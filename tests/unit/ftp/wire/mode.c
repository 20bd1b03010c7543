#include "ftp/wire/mode.h"

#include <errno.h>

#include "check.h"

static void reads_each_parameter_in_any_case_and_resets_what_is_not_named(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int level;
    } rows[] = {
        {"Z", FTP_MODE_LEVEL_AUTO},
        {"z ", FTP_MODE_LEVEL_AUTO},
        {"Z LEVEL AUTO", FTP_MODE_LEVEL_AUTO},
        {"Z LEVEL 0", 0},
        {"Z LEVEL 9", 9},
        {"z  level   7 ", 7},
        {"Z ENGINE ZLIB", FTP_MODE_LEVEL_AUTO},
        {"Z ENGINE zlib LEVEL 3", 3},
        {"Z LEVEL 3 ENGINE ZLIB LEVEL 4", 4},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int level = 77;
        assert_int_equal(ftp_mode_parse(bytes_str(rows[i].text), &level), 0);
        assert_int_equal(level, rows[i].level);
    }
}

static void refuses_everything_else_and_leaves_the_level(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        " Z",
        "S",
        "ZLEVEL 1",
        "Z LEVEL",
        "Z 9",
        "Z LEVEL 10",
        "Z LEVEL -1",
        "Z LEVEL 1x",
        "Z ENGINE LZO",
        "Z LEVEL 1 ENGINE",
        "Z SPEED 1",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int level = 77;
        assert_int_equal(ftp_mode_parse(bytes_str(rows[i]), &level), -EINVAL);
        assert_int_equal(level, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_parameter_in_any_case_and_resets_what_is_not_named),
        cmocka_unit_test(refuses_everything_else_and_leaves_the_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
