#include "server/config_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static void comments_become_blanks_and_lines_stay(void **state)
{
    (void)state;

    static const struct {
        const char *before, *after;
    } cases[] = {
        {"", ""},
        {"a = 1 # one\nb", "a = 1      \nb"},
        {"# one\n# two\nb", "     \n     \nb"},
        {"a // x\nb", "a     \nb"},
        {"a /* x\ny */ b", "a     \n     b"},
        {"/**/b", "    b"},
        {"/*/ b", "/*/ b"}, /* it never ends */
        {"a /* x", "a /* x"},
        {"a = \"# no\" # yes", "a = \"# no\"      "},
        {"a = '/* no */'", "a = '/* no */'"},
        {"a = \"\\\"# no\" b", "a = \"\\\"# no\" b"},
        {"root = /srv//x b", "root = /srv//x b"},
        {"a = \"open # no", "a = \"open # no"},
        {"a = \"\\", "a = \"\\"},
        {"#", " "},
        {"/", "/"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[64];
        strcpy(text, cases[i].before);
        config_text_blank_comments(text, strlen(text));
        assert_string_equal(text, cases[i].after);
    }
}

static void what_is_never_closed_is_found(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        unsigned line;
        const char *opener;
    } cases[] = {
        {"", 0, "'{'"},
        {"a { }\nb { c = {1, 2} }\n", 0, "'{'"},
        {"a { }\nb { c = {1, 2}\n", 2, "'{'"},
        {"a {\nb { c = {1, 2\n", 1, "'{'"},
        {"a = \"{\"\n", 0, "'{'"},
        {"a = \"\n\n\" b {", 3, "'{'"},
        {"} {", 1, "'{'"},
        {"a {\nb = \"x }\n", 2, "a quote"},
        {"a = '\\", 1, "a quote"},
        {"a\n/* b }\n", 2, "a comment"},
        {"root = /srv/*\n", 0, "'{'"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *opener;
        assert_int_equal(config_text_open_line(cases[i].text, strlen(cases[i].text), &opener),
                         cases[i].line);
        assert_string_equal(opener, cases[i].opener);
    }
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-config-text-XXXXXX";
    int fd = mkstemp(path);
    struct buf text;
    struct refusal why;
    assert_int_equal(write(fd, "a\0b", 3), 3);
    assert_int_equal(config_text_read(path, &text, &why), -EINVAL);
    buf_done(&text);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(config_text_read(path, &text, &why), 0);
    assert_string_equal((const char *)text.data, "");
    buf_done(&text);
    assert_int_equal(ftruncate(fd, 3 * CONFIG_BYTES_MAX), 0);
    assert_int_equal(config_text_read(path, &text, &why), -EINVAL);
    assert_non_null(strstr(why.text, path));
    buf_done(&text);
    close(fd);
    unlink(path);
    assert_int_equal(config_text_read("/tmp", &text, &why), -EINVAL);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_become_blanks_and_lines_stay),
        cmocka_unit_test(what_is_never_closed_is_found),
        cmocka_unit_test(what_is_no_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
