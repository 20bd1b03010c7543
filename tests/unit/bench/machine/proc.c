#include "bench/machine/proc.h"

#include <errno.h>

#include "base/attr.h"
#include "base/err.h"
#include "unit/bench/folder_fixture.h"

static struct proc proc;
static struct buf pids;

static int setup(void **state)
{
    proc_init(&proc, fixture_folder);
    buf_init(&pids, PROC_PIDS_MAX);
    return folder_fixture_setup(state);
}

static int teardown(void **state)
{
    proc_done(&proc);
    buf_done(&pids);
    return folder_fixture_teardown(state);
}

static void a_file_is_read_as_it_is(void **state)
{
    (void)state;
    struct bytes text;
    put("7/statm", "1 2 3");
    assert_int_equal(proc_read(&proc, 7, "statm", &text), 0);
    assert_true(bytes_equal(text, BYTES_LIT("1 2 3")));
    assert_int_equal(proc_read(&proc, 7, "stat", &text), -ENOENT);
    assert_int_equal(proc_read(&proc, 8, "statm", &text), -ENOENT);
}

static void children_are_appended_as_numbers(void **state)
{
    (void)state;
    put("7/task/7/children", "12 345 ");
    put("7/task/8/children", "");
    put("7/task/9/children", "6 ");
    assert_int_equal(proc_list_children(&proc, 7, "task/7", &pids), 0);
    assert_int_equal(proc_list_children(&proc, 7, "task/8", &pids), 0);
    assert_int_equal(proc_list_children(&proc, 7, "task/9", &pids), 0);
    static const unsigned expected[] = {12, 345, 6};
    assert_int_equal(pids.len, sizeof(expected));
    assert_memory_equal(pids.data, expected, sizeof(expected));
}

static void a_list_that_is_none_of_numbers_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"x ", "1 2x ", "-1 ", " 1 ", "1  2 ", "99999999999 "};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        put("7/task/7/children", wrong[i]);
        assert_int_equal(proc_list_children(&proc, 7, "task/7", &pids), -FERRY_EPROTO);
    }
}

static int count_two(void *arg, unsigned pid, const char *thread)
{
    unsigned *count = arg;
    char file[64];
    struct bytes text;
    snprintf(file, sizeof(file), "%s/children", thread);
    assert_int_equal(proc_read(&proc, pid, file, &text), 0);
    return ++*count == 2 ? -EIO : 0;
}

static void threads_are_gone_through_until_one_fails(void **state)
{
    (void)state;
    unsigned count = 0;
    assert_int_equal(proc_each_thread(&proc, 7, count_two, &count), -ENOENT);
    put("7/task/7/children", "");
    assert_int_equal(proc_each_thread(&proc, 7, count_two, &count), 0);
    assert_int_equal(count, 1);
    put("7/task/8/children", "");
    put("7/task/9/children", "");
    count = 0;
    assert_int_equal(proc_each_thread(&proc, 7, count_two, &count), -EIO);
    assert_int_equal(count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(children_are_appended_as_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_is_none_of_numbers_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(threads_are_gone_through_until_one_fails, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
