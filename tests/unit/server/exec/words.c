#include "server/exec/words.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"

static struct words split(const char *line)
{
    struct words w = {0};
    assert_int_equal(words_split(bytes_str(line), &w), 0);
    return w;
}

static void words_are_cut_as_a_shell_cuts_them(void **state)
{
    (void)state;

    static const struct {
        const char *line, *words[4];
    } rows[] = {
        {"", {NULL}},
        {" \t\n ", {NULL}},
        {"cat a", {"cat", "a"}},
        {"  cat\ta\n", {"cat", "a"}},
        {"cat 'a b' \"c d\" e\\ f", {"cat", "a b", "c d", "e f"}},
        {"a'b'\"c\"\\d", {"abcd"}},
        {"'' \"\" a", {"", "", "a"}},
        {"'\\' \"\\a\\\"\\\\\\$\" \\'", {"\\", "\\a\"\\$", "'"}},
        {"'*' \\? \"[\"", {"*", "?", "["}},
        {"~", {"/"}},
        {"~ ~/x ~x a~", {"/", "/x", "~x", "a~"}},
        {"'~' \\~/x \"~\"/x", {"~", "~/x", "~/x"}},
        {"#a {b,c} d!", {"#a", "{b,c}", "d!"}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct words w = split(rows[i].line);
        for (unsigned j = 0; j < 4 && rows[i].words[j]; j++) {
            assert_true(j < w.count);
            assert_string_equal(w.at[j], rows[i].words[j]);
        }
        assert_null(w.at[w.count]);
        assert_true(w.count == 4 || !rows[i].words[w.count]);
        words_done(&w);
    }
}

static void a_pattern_is_kept_with_what_was_quoted_escaped(void **state)
{
    (void)state;

    static const struct {
        const char *line, *pattern;
    } rows[] = {
        {"a", NULL},      {"'*'\\?\"[\"", NULL},    {"a*", "a*"},
        {"'*'*", "\\**"}, {"[a'-'c]", "[a\\-c]"},   {"?\\\\'x'", "?\\\\x"},
        {"~/*", "/*"},    {"'a b'*'!'", "a b*\\!"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct words w = split(rows[i].line);
        assert_int_equal(w.count, 1);
        if (rows[i].pattern)
            assert_string_equal(w.patterns[0], rows[i].pattern);
        else
            assert_null(w.patterns[0]);
        words_done(&w);
    }
    struct words w = split("x a* 'b' ?c");
    assert_null(w.patterns[0]);
    assert_string_equal(w.patterns[1], "a*");
    assert_null(w.patterns[2]);
    assert_string_equal(w.patterns[3], "?c");
    words_done(&w);
}

static void what_needs_a_shell_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"a;b", "a|b", "a&",  "a<b",    "a>b",
                                      "(a)", "`a`", "$a",  "\"$a\"", "\"`a`\"",
                                      "'a",  "\"a", "a\\", "a \"b\\"};
    struct words w;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(words_split(bytes_str(bad[i]), &w), -EINVAL);
    assert_int_equal(words_split(BYTES_LIT("a\0b"), &w), -EINVAL);
    assert_int_equal(words_split(BYTES_LIT("'a\0b'"), &w), -EINVAL);
    assert_int_equal(words_split(BYTES_LIT("a\\\0b"), &w), -EINVAL);
}

/* The text has place for all of a line's bytes, whatever they become. */
static void the_longest_forms_fit(void **state)
{
    (void)state;
    char line[2 * WORDS_MAX + 1];
    for (size_t i = 0; i < WORDS_MAX; i++)
        memcpy(line + 2 * i, "* ", 2);
    struct words w;
    assert_int_equal(words_split(bytes_of(line, 2 * WORDS_MAX), &w), 0);
    assert_int_equal(w.count, WORDS_MAX);
    words_done(&w);
    line[2 * WORDS_MAX] = 'x';
    assert_int_equal(words_split(bytes_of(line, sizeof(line)), &w), -FERRY_ELIMIT);
    memset(line, '\'', sizeof(line));
    memset(line + 1, '-', sizeof(line) - 3);
    line[sizeof(line) - 1] = '*';
    assert_int_equal(words_split(bytes_of(line, sizeof(line)), &w), 0);
    assert_int_equal(strlen(w.patterns[0]), 2 * (sizeof(line) - 3) + 1);
    words_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_cut_as_a_shell_cuts_them),
        cmocka_unit_test(a_pattern_is_kept_with_what_was_quoted_escaped),
        cmocka_unit_test(what_needs_a_shell_is_refused),
        cmocka_unit_test(the_longest_forms_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
