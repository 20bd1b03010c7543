#include "vfs/rights.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "check.h"

static unsigned at(const struct rights *r, const char *path)
{
    return rights_at(r, bytes_str(path));
}

static void the_root_rules_without_prefixes(void **state)
{
    (void)state;
    struct rights r;
    rights_init(&r, RIGHTS_READ_ONLY);
    assert_int_equal(at(&r, "/"), RIGHTS_READ_ONLY);
    assert_int_equal(at(&r, "/a/b"), RIGHTS_READ_ONLY);
    rights_done(&r);
}

static void the_longest_prefix_of_whole_components_rules(void **state)
{
    (void)state;
    struct rights r;
    rights_init(&r, RIGHT_LIST);
    assert_int_equal(rights_set(&r, BYTES_LIT("/a/b/c"), RIGHT_DELETE), 0);
    assert_int_equal(rights_set(&r, BYTES_LIT("/a//"), RIGHT_READ), 0);
    assert_int_equal(at(&r, "/"), RIGHT_LIST);
    assert_int_equal(at(&r, "/a"), RIGHT_READ);
    assert_int_equal(at(&r, "/ab"), RIGHT_LIST);
    assert_int_equal(at(&r, "/a/b"), RIGHT_READ);
    assert_int_equal(at(&r, "/a/b/c"), RIGHT_DELETE);
    assert_int_equal(at(&r, "/a/b/cd"), RIGHT_READ);
    assert_int_equal(at(&r, "/a/b/c/d"), RIGHT_DELETE);
    assert_int_equal(rights_set(&r, BYTES_LIT("/a"), 0), 0);
    assert_int_equal(at(&r, "/a/x"), 0);
    assert_int_equal(rights_set(&r, BYTES_LIT("/"), RIGHTS_ALL), 0);
    assert_int_equal(at(&r, "/x"), RIGHTS_ALL);
    assert_int_equal(r.count, 3);
    rights_done(&r);
}

static void rules_at_or_below_a_path_are_found(void **state)
{
    (void)state;
    struct rights r;
    rights_init(&r, RIGHTS_ALL);
    assert_int_equal(rights_set(&r, BYTES_LIT("/a/b"), 0), 0);
    assert_true(rights_rule_within(&r, BYTES_LIT("/a")));
    assert_true(rights_rule_within(&r, BYTES_LIT("/a/b")));
    assert_false(rights_rule_within(&r, BYTES_LIT("/a/b/c")));
    assert_false(rights_rule_within(&r, BYTES_LIT("/a/bc")));
    assert_false(rights_rule_within(&r, BYTES_LIT("/x")));
    rights_done(&r);
}

static void a_name_in_a_directory_has_the_rights_of_the_joined_path(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"/axb", "/a", "/a/b", "/a/b/c", "/x/yz", "/ab"};
    static const char *const directories[] = {"/", "/a", "/a/b", "/x", "/x/y", "/a/b/c/d"};
    static const char *const names[] = {"a", "b", "c", "x", "y", "z", "yz", "ab", "b\n"};
    struct rights r;
    rights_init(&r, 1);
    for (unsigned i = 0; i < ARRAY_LEN(prefixes); i++)
        assert_int_equal(rights_set(&r, bytes_str(prefixes[i]), 2u + i), 0);
    for (unsigned i = 0; i < ARRAY_LEN(directories) * ARRAY_LEN(names); i++) {
        const char *directory = directories[i / ARRAY_LEN(names)];
        const char *name = names[i % ARRAY_LEN(names)];
        char path[64];
        (void)snprintf(path, sizeof(path), "%s/%s", directory[1] ? directory : "", name);
        if (rights_at_name(&r, bytes_str(directory), bytes_str(name)) != at(&r, path))
            fail_msg("\"%s\" in \"%s\"", name, directory);
    }
    rights_done(&r);
}

static void refuses_what_is_no_prefix(void **state)
{
    (void)state;
    struct rights r;
    rights_init(&r, 0);
    assert_int_equal(rights_set(&r, BYTES_LIT(""), 0), -EINVAL);
    assert_int_equal(rights_set(&r, BYTES_LIT("a"), 0), -EINVAL);
    for (unsigned i = 1; i < RIGHTS_PREFIXES_MAX; i++) {
        char prefix[16];
        (void)snprintf(prefix, sizeof(prefix), "/%u", i);
        assert_int_equal(rights_set(&r, bytes_str(prefix), i), 0);
    }
    assert_int_equal(rights_set(&r, BYTES_LIT("/one-more"), 0), -FERRY_ELIMIT);
    assert_int_equal(rights_set(&r, BYTES_LIT("/7"), 99), 0);
    assert_int_equal(at(&r, "/7/x"), 99);
    rights_done(&r);
}

static void every_right_has_its_name(void **state)
{
    (void)state;
    static const char *const names[] = {"list",   "read",   "write", "append", "overwrite",
                                        "delete", "rename", "mkdir", "link",   "setattr"};
    unsigned all = 0, one = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(right_parse(bytes_str(names[i]), &one), 0);
        assert_int_equal(one, 1u << i);
        all |= one;
    }
    assert_int_equal(all, RIGHTS_ALL);
    assert_int_equal(right_parse(BYTES_LIT("Read"), &one), -EINVAL);
    assert_int_equal(right_parse(BYTES_LIT(""), &one), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_rules_without_prefixes),
        cmocka_unit_test(the_longest_prefix_of_whole_components_rules),
        cmocka_unit_test(rules_at_or_below_a_path_are_found),
        cmocka_unit_test(a_name_in_a_directory_has_the_rights_of_the_joined_path),
        cmocka_unit_test(refuses_what_is_no_prefix),
        cmocka_unit_test(every_right_has_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
