#include "bench/ssh/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "bench/engine/row_kind.h"
#include "bench/options/options.h"
#include "bench/peers/recipe_text.h"
#include "bench/report/goals.h"
#include "check.h"

static const struct row_kind *row_of(const char *name)
{
    for (size_t i = 0; i < ssh_rows.count; i++)
        if (strcmp(ssh_rows.kinds[i].name, name) == 0)
            return &ssh_rows.kinds[i];
    return NULL;
}

static void every_row_has_a_name_of_its_own_and_says_its_cipher(void **state)
{
    (void)state;
    for (size_t i = 0; i < ssh_rows.count; i++) {
        const struct row_kind *kind = &ssh_rows.kinds[i];
        const struct ssh_row_detail *detail = kind->detail;
        assert_ptr_equal(row_of(kind->name), kind);
        assert_non_null(detail);
        assert_non_null(detail->cipher);
        /* a cipher without a tag of its own has a MAC */
        bool has_tag = strstr(detail->cipher, "gcm") || strstr(detail->cipher, "poly1305");
        assert_int_equal(has_tag, detail->mac == NULL);
        assert_non_null(kind->sample);
        assert_true(kind->traits & ROW_STAGED);
    }
}

static void every_goal_is_about_a_row_and_a_server_that_are_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < ssh_goals.count; i++) {
        const struct goal *goal = &ssh_goals.goals[i];
        assert_non_null(row_of(goal->row));
        assert_true(strlen(goal->what) <= 32);
        assert_true(goal->peer == NULL || recipe_find(&ssh_recipes, goal->peer) != NULL);
    }
}

static void ferryd_is_the_first_server_and_the_settings_of_all_can_be_filled_in(void **state)
{
    (void)state;
    static struct stage stage;
    struct addr listen;
    assert_int_equal(addr_parse(BYTES_LIT("127.0.0.5:2222"), &listen), 0);
    assert_string_equal(ssh_recipes.recipes[0].name, "ferryd");
    for (size_t i = 0; i < ssh_recipes.count; i++) {
        const struct recipe_words words = {
            .stage = &stage, .work = "/w", .root = "/r", .listen = &listen, .accounts = 2};
        struct buf text;
        buf_init(&text, RECIPE_TEXT_MAX);
        assert_int_equal(recipe_text_fill(ssh_recipes.recipes[i].files[0].text, &words, &text),
                         0);
        assert_int_equal(buf_append_byte(&text, '\0'), 0);
        const char *filled = (const char *)text.data;
        assert_non_null(strstr(filled, "2222"));
        assert_non_null(strstr(filled, "127.0.0.5"));
        assert_non_null(strstr(filled, "/w/../ssh/"));
        assert_null(strchr(filled, '@'));
        buf_done(&text);
    }
}

static int parse(const char *option, const char *value, char *said, size_t cap)
{
    struct bench_options *o = calloc(1, sizeof(*o));
    char text[64];
    snprintf(text, sizeof(text), "%s", value);
    char *argv[] = {(char[]){"ssh"}, NULL, text[0] != '\0' ? text : NULL, NULL};
    char word[64];
    snprintf(word, sizeof(word), "%s", option);
    argv[1] = word;
    FILE *err = fmemopen(said, cap, "w");
    assert_non_null(o);
    assert_non_null(err);
    int r = bench_options_parse(&bench_suite_ssh, text[0] != '\0' ? 3 : 2, argv, err, o);
    fclose(err);
    bench_options_done(o);
    free(o);
    return r;
}

static void what_makes_no_sense_for_ssh_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        {"--url", "ftp://a:b@c:1"},
        {"--host", "h"},
        {"-P", "22"},
        {"--user", "u"},
        {"--pass", "p"},
        {"--pid", "1"},
        {"--ssl", ""},
        {"--compat", ""},
        {"--filesize", "1M"},
    };
    char said[512];
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(parse(refused[i][0], refused[i][1], said, sizeof(said)), -1);
        assert_memory_equal(said, "ferry bench ssh: --", 19);
        assert_non_null(strstr(said, ": "));
        assert_non_null(strstr(said, "Try 'ferry bench ssh --help'."));
    }
    assert_int_equal(parse("--quick", "", said, sizeof(said)), 0);
    assert_int_equal(parse("--disk", "/tmp", said, sizeof(said)), 0);
    assert_int_equal(parse("--row", "login", said, sizeof(said)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_name_of_its_own_and_says_its_cipher),
        cmocka_unit_test(every_goal_is_about_a_row_and_a_server_that_are_there),
        cmocka_unit_test(ferryd_is_the_first_server_and_the_settings_of_all_can_be_filled_in),
        cmocka_unit_test(what_makes_no_sense_for_ssh_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
