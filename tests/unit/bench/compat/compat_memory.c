#include "bench/compat/compat_memory.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "unit/bench/folder_fixture.h"

/* A process of two threads, the second of which has the children. */
static void put_process(unsigned pid, const char *statm, const char *children)
{
    char path[128];
    snprintf(path, sizeof(path), "%u/statm", pid);
    put(path, statm);
    snprintf(path, sizeof(path), "%u/task/%u/children", pid, pid);
    put(path, "");
    snprintf(path, sizeof(path), "%u/task/%u/children", pid, pid + 1);
    put(path, children);
}

static uint64_t pages(uint64_t count)
{
    return count * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* -- the pile -- */

static void the_last_sample_comes_off_first(void **state)
{
    (void)state;
    struct compat_samples s = {0};
    uint64_t bytes = 0;
    compat_samples_push(&s, 1); /* of the start */
    for (unsigned row = 10; row < 30; row++) {
        compat_samples_push(&s, row);
        assert_true(compat_samples_pop(&s, &bytes));
        assert_int_equal(bytes, row);
    }
    assert_true(compat_samples_pop(&s, &bytes)); /* a row without a sample of its own */
    assert_int_equal(bytes, 1);
    assert_false(compat_samples_pop(&s, &bytes));
}

/* -- /proc -- */

static void shared_pages_are_taken_off_and_children_added(void **state)
{
    (void)state;
    put_process(100, "5368747801 50 20 1 0 30 0\n", "200 300 ");
    put_process(200, "9999 10 4 1 0 30 0\n", "400 "); /* whose own child does not count */
    put_process(300, "9999 7 9 1 0 30 0\n", "");      /* more shared than resident: none */
    put_process(400, "9999 1000 0 1 0 30 0\n", "");
    struct compat_memory memory;
    assert_int_equal(compat_memory_read(fixture_folder, 100, &memory), 0);
    assert_int_equal(memory.resident_bytes, pages(50));
    assert_int_equal(memory.own_bytes, pages(30 + 6));
}

static void a_child_that_is_gone_is_left_out(void **state)
{
    (void)state;
    put_process(100, "9999 50 20 1 0 30 0\n", "200 ");
    struct compat_memory memory;
    assert_int_equal(compat_memory_read(fixture_folder, 100, &memory), 0);
    assert_int_equal(memory.own_bytes, pages(30));
}

static void a_process_that_is_not_there_is_said(void **state)
{
    (void)state;
    struct compat_memory memory;
    assert_int_equal(compat_memory_read(fixture_folder, 100, &memory), -ENOENT);
}

static void files_of_another_form_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "9999", "9999 50", "9999 50 20", "9999 -5 20 ", "a b c ", "9999  20 1 "};
    struct compat_memory memory;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        put_process(100, wrong[i], "");
        assert_int_equal(compat_memory_read(fixture_folder, 100, &memory), -FERRY_EPROTO);
    }
    put_process(100, "9999 50 20 1 0 30 0\n", "20x ");
    assert_int_equal(compat_memory_read(fixture_folder, 100, &memory), -FERRY_EPROTO);
}

static void our_own_process_can_be_read(void **state)
{
    (void)state;
    struct compat_memory memory;
    assert_int_equal(compat_memory_read("/proc", (unsigned)getpid(), &memory), 0);
    assert_true(memory.resident_bytes > 100000 && memory.own_bytes > 0);
    assert_true(memory.own_bytes < memory.resident_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_sample_comes_off_first),
        cmocka_unit_test_setup_teardown(shared_pages_are_taken_off_and_children_added,
                                        folder_fixture_setup, folder_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_child_that_is_gone_is_left_out, folder_fixture_setup,
                                        folder_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_process_that_is_not_there_is_said,
                                        folder_fixture_setup, folder_fixture_teardown),
        cmocka_unit_test_setup_teardown(files_of_another_form_are_refused, folder_fixture_setup,
                                        folder_fixture_teardown),
        cmocka_unit_test(our_own_process_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
