#include "client/copy/names.h"

#include "base/mem.h"
#include "check.h"
#include "client/copy/resume.h"

static void paths_are_taken_apart(void **state)
{
    (void)state;

    static const struct {
        const char *path, *parent, *last;
    } rows[] = {{"a", "", "a"},       {"a/b", "a", "b"}, {"/a", "/", "a"}, {"/a/b/", "/a", "b"},
                {"a//b//", "a", "b"}, {"/", "", ""},     {"", "", ""},     {".", "", ""},
                {"a/..", "a", ""},    {"a/.", "a", ""},  {"-x", "", "-x"}, {"a/\n", "a", "\n"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(
            bytes_equal(copy_name_last(bytes_str(rows[i].path)), bytes_str(rows[i].last)));
        assert_true(
            bytes_equal(copy_name_parent(bytes_str(rows[i].path)), bytes_str(rows[i].parent)));
    }
}

static void paths_are_joined(void **state)
{
    (void)state;

    static const struct {
        const char *directory, *name, *joined;
    } rows[] = {{"a", "b", "a/b"},  {"", "b", "b"}, {"/", "b", "/b"},
                {"a/", "b", "a/b"}, {"a", "", "a"}, {"", "", ""}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *joined = copy_name_join(bytes_str(rows[i].directory), bytes_str(rows[i].name));
        assert_string_equal(joined, rows[i].joined);
        mem_free(joined);
    }
}

static void a_part_has_a_name_that_a_file_can_have(void **state)
{
    (void)state;
    char *part = copy_name_part(BYTES_LIT("d/file"));
    assert_string_equal(part, "d/file.ferry-part");
    mem_free(part);
    char name[2 + 255];
    for (size_t len = 200; len <= 255; len++) {
        name[0] = 'd';
        name[1] = '/';
        for (size_t i = 0; i < len; i += 2)
            memcpy(name + 2 + i, "\xc3\xbc", i + 1 < len ? 2 : 1);
        part = copy_name_part(bytes_of(name, 2 + len));
        assert_non_null(part);
        assert_true(strlen(part) <= 2 + 255);
        name[10] ^= 1;
        char *other = copy_name_part(bytes_of(name, 2 + len));
        assert_string_not_equal(part, other);
        mem_free(other);
        mem_free(part);
    }
}

static void a_part_is_gone_on_with_only_if_it_is_of_the_same_source(void **state)
{
    (void)state;
    const int64_t day = INT64_C(86400000000);
    const struct endpoint_facts source = {
        .has_size = true, .size_bytes = 1000, .has_times = true, .mtime_us = day + 250000};

    const struct {
        struct endpoint_facts part;
        bool verifies;
        enum copy_resume rule;
    } rows[] = {
        {{.has_size = true, .size_bytes = 10, .has_times = true, .mtime_us = day},
         false,
         COPY_RESUME_YES},
        {{.has_size = true, .size_bytes = 1000, .has_times = true, .mtime_us = day},
         false,
         COPY_RESUME_YES},
        {{.has_size = true, .size_bytes = 10, .has_times = true, .mtime_us = day},
         true,
         COPY_RESUME_COMPARE},
        {{.has_size = true, .size_bytes = 10, .has_times = true, .mtime_us = 2 * day},
         false,
         COPY_RESUME_COMPARE},
        {{.has_size = true, .size_bytes = 10}, false, COPY_RESUME_COMPARE},
        {{.has_size = true, .size_bytes = 1001, .has_times = true, .mtime_us = day},
         false,
         COPY_RESUME_NO},
        {{.has_size = true, .has_times = true, .mtime_us = day}, false, COPY_RESUME_NO},
        {{.has_times = true, .mtime_us = day}, false, COPY_RESUME_NO},
        {{.kind = ENDPOINT_LINK,
          .has_size = true,
          .size_bytes = 10,
          .has_times = true,
          .mtime_us = day},
         false,
         COPY_RESUME_NO},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(copy_resume_rule(&source, &rows[i].part, rows[i].verifies),
                         rows[i].rule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_taken_apart),
        cmocka_unit_test(paths_are_joined),
        cmocka_unit_test(a_part_has_a_name_that_a_file_can_have),
        cmocka_unit_test(a_part_is_gone_on_with_only_if_it_is_of_the_same_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
