/* The commands that a server's shell gets. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "check.h"
#include "scp/client.h"

static void expect(const struct buf *command, const char *text)
{
    if (command->len != strlen(text))
        print_message("%.*s\n", (int)command->len, (const char *)command->data);
    assert_int_equal(command->len, strlen(text));
    assert_memory_equal(command->data, text, command->len);
}

static void get_of(const char *path, bool is_pattern, const char *command)
{
    const struct scp_path paths[] = {{bytes_str(path), is_pattern}};
    const struct scp_request request = {.paths = paths, .count = 1};
    struct buf out;
    buf_init(&out, 256);
    assert_int_equal(scp_client_get_command(&request, &out), 0);
    expect(&out, command);
    buf_done(&out);
}

static void a_path_is_itself_for_a_shell(void **state)
{
    (void)state;
    get_of("a b", false, "scp -f -- 'a b'");
    get_of("-x", false, "scp -f -- '-x'");
    get_of("it's $(rm *)", false, "scp -f -- 'it'\\''s $(rm *)'");
    get_of("a*", false, "scp -f -- 'a*'");
}

static void of_a_pattern_only_the_pattern_is_bare(void **state)
{
    (void)state;

    static const struct {
        const char *pattern, *word;
    } rows[] = {
        {"*", "*"},
        {"d/*.c", "'d'/*'.c'"},
        {"~/$x;`y`{1,2}?", "'~'/'$x;`y`{1,2}'?"},
        {"it's*", "'it'\\''s'*"},
        {"[a-z]", "['a'-'z']"},
        {"[!a;-]", "[!'a;-']"},
        {"[^$]", "[!'$']"},
        {"[]$]x", "[']$']'x'"},
        {"[[:alpha:]]", "['[:alpha:']']'"},
        {"[a/b]*", "'[a'/'b]'*"},
        {"[!]", "'[!]'"},
        {"[a-\\]]", "['a'-']']"},
        {"\\*[\\]*]\\", "'*'[']*']'\\'"},
        {"a\nb?", "'a\nb'?"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char command[64];
        (void)snprintf(command, sizeof(command), "scp -f -- %s", rows[i].word);
        get_of(rows[i].pattern, true, command);
    }
}

static void flags_and_paths_are_in_their_order(void **state)
{
    (void)state;
    const struct scp_path paths[] = {{BYTES_LIT("/a"), false}, {BYTES_LIT("b/*"), true}};
    const struct scp_request request = {.is_recursive = true,
                                        .keeps_times = true,
                                        .needs_directory = true,
                                        .paths = paths,
                                        .count = 2};
    struct buf out;
    buf_init(&out, 256);
    assert_int_equal(scp_client_get_command(&request, &out), 0);
    expect(&out, "scp -f -r -p -- '/a' 'b'/*");
    buf_clear(&out);
    assert_int_equal(scp_client_put_command(&request, &out), 0);
    expect(&out, "scp -t -r -p -d -- '/a' 'b'/*");
    buf_done(&out);
}

static void what_no_file_is_called_is_refused(void **state)
{
    (void)state;
    static const struct bytes paths[] = {BYTES_LIT(""),   BYTES_LIT("/"),     BYTES_LIT("."),
                                         BYTES_LIT(".."), BYTES_LIT("a/../"), BYTES_LIT("a/.")};
    struct buf out;
    buf_init(&out, 20);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const struct scp_path path = {paths[i], false};
        const struct scp_request request = {.paths = &path, .count = 1};
        assert_int_equal(scp_client_get_command(&request, &out), -FERRY_EBADNAME);
        assert_int_equal(scp_client_put_command(&request, &out), 0);
        buf_clear(&out);
    }
    const struct scp_path nul = {BYTES_LIT("a\0b"), false},
                          longer = {BYTES_LIT("123456789"), true};
    const struct scp_request hidden = {.paths = &nul, .count = 1},
                             too_long = {.paths = &longer, .count = 1};
    assert_int_equal(scp_client_get_command(&hidden, &out), -EINVAL);
    buf_clear(&out);
    assert_int_equal(scp_client_put_command(&hidden, &out), -EINVAL);
    buf_clear(&out);
    assert_int_equal(scp_client_get_command(&too_long, &out), -FERRY_ELIMIT);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_itself_for_a_shell),
        cmocka_unit_test(of_a_pattern_only_the_pattern_is_bare),
        cmocka_unit_test(flags_and_paths_are_in_their_order),
        cmocka_unit_test(what_no_file_is_called_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
