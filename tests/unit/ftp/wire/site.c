#include "ftp/wire/site.h"

#include <errno.h>

#include "check.h"

static void chmod_reads_octal_mode_and_path(void **state)
{
    (void)state;

    static const struct {
        const char *argument;
        uint32_t mode;
        const char *path;
    } rows[] = {
        {"644 a", 0644, "a"},     {"0644 a b ", 0644, "a b "}, {"000  a", 0, " a"},
        {"7777 /x", 07777, "/x"}, {"755  ", 0755, " "},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t mode;
        struct bytes path;
        assert_int_equal(ftp_chmod_parse(bytes_str(rows[i].argument), &mode, &path), 0);
        assert_int_equal(mode, rows[i].mode);
        assert_int_equal(path.len, strlen(rows[i].path));
        assert_memory_equal(path.data, rows[i].path, path.len);
    }
}

static void chmod_refuses_anything_else(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",      " ",      "644",   "644 ",   "64 a",  "00644 a", "688 a", "8 a",
        "+64 a", "-644 a", "u+x a", " 644 a", "0x4 a", "644\ta",  "a 644",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t mode = 7;
        struct bytes path;
        assert_int_equal(ftp_chmod_parse(bytes_str(rows[i]), &mode, &path), -EINVAL);
        assert_int_equal(mode, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chmod_reads_octal_mode_and_path),
        cmocka_unit_test(chmod_refuses_anything_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
