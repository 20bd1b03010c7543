#include "client/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "check.h"
#include "client/control_options.h"

static void planned_commands_are_known_and_some_are_built(void **state)
{
    (void)state;
    static const char *const names[] = {"sync", "user", "top", "stats"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_non_null(command_find(names[i]));
        assert_true(command_find(names[i])->run == NULL);
    }
    assert_true(command_find("who")->run == command_who);
    assert_true(command_find("kick")->run == command_kick);
    assert_true(command_find("bench")->run == command_bench);
    assert_true(command_find("ls")->run == command_ls);
    assert_true(command_find("probe")->run == command_probe);
    assert_null(command_find("dance"));
    assert_null(command_find(""));
}

static void help_shows_what_is_built_alone(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    command_print_help(out);
    fclose(out);
    assert_non_null(strstr(text, "\n  who "));
    assert_non_null(strstr(text, "\n  kick "));
    assert_non_null(strstr(text, "\n  bench "));
    assert_non_null(strstr(text, "\n  cp "));
    assert_null(strstr(text, "\n  sync "));
    free(text);
}

static const struct control_usage with_json = {.has_json = true};
static const struct control_usage with_id = {.argument = "ID"};
static const struct control_usage with_both = {.argument = "ID", .has_json = true};

static int parse(char *const *words, int count, const struct control_usage *usage,
                 struct control_options *ret)
{
    char *argv[8];
    memcpy(argv, words, (size_t)count * sizeof(*argv));
    argv[count] = NULL;
    int code = control_options_parse(count, argv, usage, ret);
    return code;
}

static void the_options_of_a_command_are_read(void **state)
{
    (void)state;
    struct control_options o;
    char who[] = "who", json[] = "--json", dir[] = "--state=/s", id[] = "7";
    char *const words[] = {who, json, dir, id};
    assert_int_equal(parse(words, 3, &with_json, &o), EXIT_OK);
    assert_true(o.json);
    assert_string_equal(o.state_dir, "/s");
    assert_null(o.argument);
    control_options_done(&o);
    assert_int_equal(parse(words, 4, &with_both, &o), EXIT_OK);
    assert_string_equal(o.argument, "7");
    control_options_done(&o);
}

static void what_is_too_much_or_missing_is_a_wrong_use(void **state)
{
    (void)state;
    struct control_options o;
    char who[] = "who", extra[] = "x", unknown[] = "--nope", state_word[] = "--state",
         json[] = "--json";
    char *const with_extra[] = {who, extra}, *const with_unknown[] = {who, unknown},
                *const with_half[] = {who, state_word},
                *const with_json_word[] = {who, json, extra};
    assert_int_equal(parse(with_extra, 2, &with_json, &o), EXIT_USAGE);
    control_options_done(&o);
    assert_int_equal(parse(with_unknown, 2, &with_json, &o), EXIT_USAGE);
    control_options_done(&o);
    assert_int_equal(parse(with_half, 2, &with_json, &o), EXIT_USAGE);
    control_options_done(&o);
    assert_int_equal(parse(with_extra, 1, &with_id, &o), EXIT_USAGE);
    control_options_done(&o);
    assert_int_equal(parse(with_json_word, 3, &with_id, &o), EXIT_USAGE);
    control_options_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_commands_are_known_and_some_are_built),
        cmocka_unit_test(help_shows_what_is_built_alone),
        cmocka_unit_test(the_options_of_a_command_are_read),
        cmocka_unit_test(what_is_too_much_or_missing_is_a_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
