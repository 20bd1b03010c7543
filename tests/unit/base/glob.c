#include "base/glob.h"

#include "base/err.h"
#include "base/limits.h"
#include "check.h"

static int match(const char *pattern, const char *name)
{
    uint64_t steps = GLOB_STEPS_MAX;
    return glob_match(bytes_str(pattern), bytes_str(name), &steps);
}

static void matches_as_people_expect(void **state)
{
    (void)state;

    static const struct {
        const char *pattern, *name;
        int result;
    } rows[] = {
        {"", "", 1},
        {"", "a", 0},
        {"a", "", 0},
        {"abc", "abc", 1},
        {"abc", "abcd", 0},
        {"abcd", "abc", 0},
        {"ABC", "abc", 0},
        {"*", "", 1},
        {"*", "anything", 1},
        {"*", ".hidden", 1},
        {"**", "a", 1},
        {"*a", "a", 1},
        {"a*", "a", 1},
        {"*a*", "bab", 1},
        {"*.c", "x.c", 1},
        {"*.c", "x.h", 0},
        {"*.c", "x.c.c", 1},
        {"*ab*ab", "abxabab", 1},
        {"*ab*ab", "abb", 0},
        {"?", "", 0},
        {"?", "a", 1},
        {"?", "\xc3\xa9", 0}, /* bytes */
        {"??", "\xc3\xa9", 1},
        {"*?", "", 0},
        {"*?*", "a", 1},
        {"[abc]", "b", 1},
        {"[abc]", "d", 0},
        {"[a-c]x", "bx", 1},
        {"[a-c]x", "dx", 0},
        {"[c-a]", "b", 0},
        {"[!a-c]", "b", 0},
        {"[!a-c]", "d", 1},
        {"[^a-c]", "d", 1},
        {"[]]", "]", 1},
        {"[]a]", "a", 1},
        {"[!]]", "]", 0},
        {"[!]]", "a", 1},
        {"[a-]", "-", 1},
        {"[-a]", "-", 1},
        {"[a\\]b]", "]", 1},
        {"[a\\-c]", "b", 0},
        {"[a\\-c]", "-", 1},
        {"[!", "[!", 1}, /* never closed */
        {"[", "[", 1},
        {"[]", "[]", 1},
        {"[a", "[a", 1},
        {"[a", "a", 0},
        {"[a-", "[a-", 1},
        {"[\\", "[\\", 1},
        {"[\x80-\xff]", "\xc3", 1},
        {"\\*", "*", 1},
        {"\\*", "a", 0},
        {"\\[a]", "[a]", 1},
        {"\\\\", "\\", 1},
        {"\\", "\\", 1},
        {"a\\", "a", 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (match(rows[i].pattern, rows[i].name) != rows[i].result)
            fail_msg("%s on %s is not %d", rows[i].pattern, rows[i].name, rows[i].result);
}

/* "*a*a*a...b" is what a matcher that recurses into each star never finishes; "*aaa...b" is
 * what costs this one most. */
static void a_glob_bomb_costs_no_more_than_pattern_times_name(void **state)
{
    (void)state;
    static const char *const units[] = {"*a", "a"};
    char name[NAME_LEN_MAX];
    memset(name, 'a', sizeof(name));
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        char pattern[130] = "*";
        size_t len = 1;
        for (; len + 2 < sizeof(pattern); len += strlen(units[i]))
            memcpy(pattern + len, units[i], strlen(units[i]));
        pattern[len++] = 'b';
        uint64_t steps = len * sizeof(name);
        assert_int_equal(
            glob_match(bytes_of(pattern, len), bytes_of(name, sizeof(name)), &steps), 0);
    }
}

static void stops_when_the_steps_are_used_up(void **state)
{
    (void)state;

    static const struct {
        const char *pattern, *name;
        uint64_t needed;
    } rows[] = {
        {"abc", "abc", 3},       {"a", "b", 1},       {"***", "", 3},  {"[abc]", "c", 5},
        {"[abc", "[abc", 4 + 3}, {"*", "abc", 1 + 3}, {"\\a", "a", 2},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bytes pattern = bytes_str(rows[i].pattern), name = bytes_str(rows[i].name);
        for (uint64_t budget = 0; budget < rows[i].needed; budget++) {
            uint64_t steps = budget;
            assert_int_equal(glob_match(pattern, name, &steps), -FERRY_ELIMIT);
            assert_true(steps == 0);
        }
        uint64_t steps = rows[i].needed;
        assert_true(glob_match(pattern, name, &steps) >= 0);
        assert_true(steps == 0);
    }
}

static void knows_a_pattern_from_a_name(void **state)
{
    (void)state;
    static const char *const magic[] = {"*", "a?", "[", "x\\y", "a/b*/c"};
    static const char *const plain[] = {"", "a", "a]", "a/b", "-la", "!^~"};
    for (size_t i = 0; i < ARRAY_LEN(magic); i++)
        assert_true(glob_has_magic(bytes_str(magic[i])));
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        assert_false(glob_has_magic(bytes_str(plain[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_as_people_expect),
        cmocka_unit_test(a_glob_bomb_costs_no_more_than_pattern_times_name),
        cmocka_unit_test(stops_when_the_steps_are_used_up),
        cmocka_unit_test(knows_a_pattern_from_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
