#include "client/copy/progress.h"

#include <string.h>

#include "base/text.h"
#include "check.h"

/* Columns of what was laid out: the names below have characters of one and of two. */
static unsigned columns(const char *text)
{
    unsigned n = 0;
    struct bytes s = bytes_str(text);
    while (s.len > 0) {
        size_t len = text_utf8_len(s);
        assert_int_not_equal(len, 0);                        /* no broken character */
        assert_true(s.data[0] >= 0x20 && s.data[0] != 0x7f); /* no control */
        assert_false(len == 2 && s.data[0] == 0xc2 && s.data[1] < 0xa0);
        n += len == 3 && s.data[0] >= 0xe3 ? 2 : 1;
        s = bytes_skip(s, len);
    }
    return n;
}

static const char *const names[] = {"a",
                                    "report-2026-final-version-of-all-that-was-said.pdf",
                                    "\xc3\xbc\xc3\xb6\xc3\xa4-\xc3\x9f\xc3\xbc\xc3\xb6\xc3\xa4-"
                                    "\xc3\x9f\xc3\xbc\xc3\xb6\xc3\xa4-\xc3\x9f",
                                    "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe6\x96"
                                    "\x87\xe6\x9b\xb8\xe6\x97\xa5\xe6\x9c\xac"
                                    "\xe8\xaa\x9e",
                                    "bad\xff\xfe\nname\x1b[31m\xc2\x9b"
                                    "x\x7f",
                                    ""};

static void every_width_has_its_line(void **state)
{
    (void)state;
    static char text[COPY_LINE_MAX * 4];
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (unsigned width = 1; width <= 200; width++)
            for (unsigned has_size = 0; has_size < 2; has_size++) {
                const struct copy_line line = {.name = bytes_str(names[i]),
                                               .done_bytes = 123456789,
                                               .of_bytes = 400000000,
                                               .has_size = has_size,
                                               .bytes_per_s = 98100000};
                unsigned said = copy_line_layout(&line, width, text);
                assert_true(said <= width);
                assert_int_equal(columns(text), said);
                if (has_size && width >= 4)
                    assert_non_null(strstr(text, "30%"));
            }
}

static void fields_leave_from_the_last_on(void **state)
{
    (void)state;
    char text[COPY_LINE_MAX * 4];
    const struct copy_line line = {.name = BYTES_LIT("file.bin"),
                                   .done_bytes = 1200000000,
                                   .of_bytes = 3900000000,
                                   .has_size = true,
                                   .bytes_per_s = 100000000};
    copy_line_layout(&line, 60, text);
    assert_string_equal(text, "file.bin                    30%    00:27   100 MB/s   1.2 GB");
    copy_line_layout(&line, 40, text);
    assert_string_equal(text, "file.bin         30%    00:27   100 MB/s");
    copy_line_layout(&line, 20, text);
    assert_string_equal(text, "file.bin         30%");
    copy_line_layout(&line, 10, text);
    assert_string_equal(text, "f..in  30%");
    copy_line_layout(&line, 5, text);
    assert_string_equal(text, " 30%");
    assert_int_equal(copy_line_layout(&line, 3, text), 0);
}

static void amounts_are_short(void **state)
{
    (void)state;

    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0 B"},         {999, "999 B"},         {1000, "1.0 kB"},
                {99949, "99.9 kB"}, {99950, "100 kB"},      {999949, "1000 kB"},
                {999950, "1.0 MB"}, {3900000000, "3.9 GB"}, {UINT64_MAX, "18.4 EB"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[COPY_AMOUNT_MAX];
        copy_amount_text(rows[i].bytes, text);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_has_its_line),
        cmocka_unit_test(fields_leave_from_the_last_on),
        cmocka_unit_test(amounts_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
