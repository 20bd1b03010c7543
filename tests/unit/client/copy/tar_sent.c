#include "client/copy/tar_sent.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "check.h"

static void names_are_kept_and_bounded(void **state)
{
    (void)state;
    struct copy_sent s = {0};
    char name[16];
    for (unsigned i = 0; i < COPY_SENT_DAMAGED_MAX; i++) {
        (void)snprintf(name, sizeof(name), "d/%u", i);
        assert_false(copy_sent_is_damaged(&s, bytes_str(name)));
        assert_int_equal(copy_sent_add_damaged(&s, bytes_str(name)), 0);
    }
    assert_int_equal(copy_sent_add_damaged(&s, BYTES_LIT("more")), -FERRY_ELIMIT);
    assert_true(copy_sent_is_damaged(&s, BYTES_LIT("d/0")));
    assert_true(copy_sent_is_damaged(&s, BYTES_LIT("d/1023")));
    assert_false(copy_sent_is_damaged(&s, BYTES_LIT("more")));
    copy_sent_done(&s);
    assert_int_equal(s.damaged_count, 0);
}

static void what_was_told_is_known_up_to_a_bound(void **state)
{
    (void)state;
    struct copy_sent s = {0};
    char name[16];
    for (unsigned i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        copy_sent_add_told(&s, bytes_str(name));
    }
    assert_true(copy_sent_was_told(&s, BYTES_LIT("0")));
    assert_true(copy_sent_was_told(&s, BYTES_LIT("2999")));
    assert_false(copy_sent_was_told(&s, BYTES_LIT("3000")));
    s.told_count = COPY_SENT_TOLD_MAX;
    copy_sent_add_told(&s, BYTES_LIT("one more"));
    assert_int_equal(s.told_count, COPY_SENT_TOLD_MAX);
    s.told_count = 3000;
    copy_sent_done(&s);
}

static void words_of_a_full_disk_are_known(void **state)
{
    (void)state;
    static const char *const full[] = {
        "tar: a: Cannot write: No space left on device\ntar: Exiting",
        "tar: a: Wrote only 4096 of 10240 bytes\ntar: b: Cannot open: Disk quota exceeded",
        "tar: b: the quota of the account is used up",
    };
    static const char *const other[] = {"", "tar: a: Cannot open: File exists", "no tar"};
    for (size_t i = 0; i < ARRAY_LEN(full); i++)
        assert_true(copy_sent_words_say_full(bytes_str(full[i])));
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        assert_false(copy_sent_words_say_full(bytes_str(other[i])));
}

/* -- what is there -- */

static struct endpoint_facts there;
static int stat_result;

static int fake_stat(struct endpoint *e, struct bytes path, bool follow,
                     struct endpoint_facts *ret)
{
    (void)e, (void)path;
    assert_false(follow);
    *ret = there;
    return stat_result;
}

static const struct endpoint_ops fake_ops = {.stat = fake_stat};

#define SECOND (int64_t) USEC_PER_S

static void a_file_is_whole_with_its_size_and_time_alone(void **state)
{
    (void)state;
    const struct endpoint_facts source = {.kind = ENDPOINT_FILE,
                                          .has_size = true,
                                          .size_bytes = 100,
                                          .has_times = true,
                                          .mtime_us = 50 * SECOND + 7};
    const struct endpoint_facts whole = {.kind = ENDPOINT_FILE,
                                         .has_size = true,
                                         .size_bytes = 100,
                                         .has_times = true,
                                         .mtime_us = 90 * SECOND};

    const struct {
        bool keeps_times;
        int64_t at_us;
        uint64_t size;
        enum endpoint_kind kind;
        int result, expect;
        bool remains;
    } rows[] = {
        {false, 90 * SECOND, 100, ENDPOINT_FILE, 0, 1, true},
        {false, 90 * SECOND, 99, ENDPOINT_FILE, 0, 0, true},
        {false, 91 * SECOND, 100, ENDPOINT_FILE, 0, 0, true},
        {true, 90 * SECOND, 100, ENDPOINT_FILE, 0, 0, true},
        {true, 50 * SECOND, 100, ENDPOINT_FILE, 0, 1, true}, /* tar has whole seconds */
        {false, 90 * SECOND, 100, ENDPOINT_LINK, 0, 0, false},
        {false, 90 * SECOND, 100, ENDPOINT_FILE, -ENOENT, 0, false},
        {false, 90 * SECOND, 100, ENDPOINT_FILE, -FERRY_ECLOSED, -FERRY_ECLOSED, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct copy_sent s = {.keeps_times = rows[i].keeps_times,
                              .mtime_us = 90 * SECOND + 999999};
        struct endpoint e = {.ops = &fake_ops};
        bool remains;
        there = whole;
        there.kind = rows[i].kind;
        there.size_bytes = rows[i].size;
        there.mtime_us = rows[i].at_us;
        stat_result = rows[i].result;
        assert_int_equal(copy_sent_look(&s, &e, "x", &source, &remains), rows[i].expect);
        assert_int_equal(remains, rows[i].remains);
        assert_int_equal(s.found_files, rows[i].expect == 1);
        assert_int_equal(s.missing_files, rows[i].expect == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_kept_and_bounded),
        cmocka_unit_test(what_was_told_is_known_up_to_a_bound),
        cmocka_unit_test(words_of_a_full_disk_are_known),
        cmocka_unit_test(a_file_is_whole_with_its_size_and_time_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
