#include "bench/machine/usage.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "unit/bench/folder_fixture.h"

/* A process of one thread more than it has (tid pid + 1), with times in ticks. */
static void put_process(unsigned pid, unsigned ticks, unsigned long long ns, unsigned kilobytes,
                        const char *children)
{
    char path[128], text[256];
    snprintf(path, sizeof(path), "%u/stat", pid);
    snprintf(text, sizeof(text), "%u (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 %u 0 0 0 20 0 2 0\n", pid,
             ticks);
    put(path, text);
    snprintf(path, sizeof(path), "%u/smaps_rollup", pid);
    snprintf(text, sizeof(text), "Rss: 1 kB\nPrivate_Clean: 5 kB\nPrivate_Dirty: %10u kB\n",
             kilobytes);
    put(path, text);
    for (unsigned tid = pid; tid <= pid + 1; tid++) {
        snprintf(path, sizeof(path), "%u/task/%u/schedstat", pid, tid);
        snprintf(text, sizeof(text), "%llu 0 1\n", ns / 2);
        put(path, text);
        snprintf(path, sizeof(path), "%u/task/%u/children", pid, tid);
        put(path, tid == pid + 1 ? children : "");
    }
}

static void stat_is_read_behind_a_name_with_blanks_and_brackets(void **state)
{
    (void)state;
    static const char line[] =
        "77 (x) y (z)) S 1 77 77 0 -1 4194560 1 2 3 4 11 22 33 44 20 0 1";
    uint64_t own, children;
    assert_int_equal(usage_parse_stat(bytes_str(line), &own, &children), 0);
    assert_int_equal(own, 33);
    assert_int_equal(children, 77);
    uint64_t ticks[USAGE_TICKS];
    assert_int_equal(usage_parse_ticks(bytes_str(line), ticks), 0);
    assert_int_equal(ticks[USAGE_USER], 11);
    assert_int_equal(ticks[USAGE_SYSTEM], 22);
    assert_int_equal(ticks[USAGE_CHILD_USER], 33);
    assert_int_equal(ticks[USAGE_CHILD_SYSTEM], 44);
}

static void stat_of_another_shape_is_refused(void **state)
{
    (void)state;
    uint64_t own, children;
    static const char *const wrong[] = {"",
                                        "77",
                                        "77 (x",
                                        "77 (x)",
                                        "77 (x) S 1 2 3",
                                        "77 (x) S 1 1 1 0 -1 0 1 2 3 4 a b c d 20"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(usage_parse_stat(bytes_str(wrong[i]), &own, &children), -FERRY_EPROTO);
}

static void dirty_memory_is_the_line_of_that_name(void **state)
{
    (void)state;
    uint64_t bytes;
    assert_int_equal(usage_parse_dirty(BYTES_LIT("a\nPrivate_Dirty:     12 kB\nb\n"), &bytes),
                     0);
    assert_int_equal(bytes, 12 * 1024);
    assert_int_equal(usage_parse_dirty(BYTES_LIT("Private_Clean: 12 kB\n"), &bytes),
                     -FERRY_EPROTO);
    assert_int_equal(usage_parse_dirty(BYTES_LIT("Private_Dirty: x kB\n"), &bytes),
                     -FERRY_EPROTO);
    assert_int_equal(usage_parse_dirty(BYTES_NONE, &bytes), -FERRY_EPROTO);
}

static void a_tree_is_summed_to_its_last_grandchild(void **state)
{
    (void)state;
    put_process(100, 0, 4000000, 10, "200 300 ");
    put_process(200, 0, 2000000, 20, "400 ");
    put_process(300, 0, 1000000, 30, "");
    put_process(400, 0, 500000, 40, "");
    put_process(500, 0, 900000000, 1000, ""); /* of somebody else */
    struct usage m;
    assert_int_equal(usage_read_tree(fixture_folder, 100, true, &m), 0);
    assert_int_equal(m.processes, 4);
    assert_int_equal(m.dirty_bytes, 100 * 1024);
    assert_int_equal(m.cpu_us, 7500);
    assert_int_equal(m.dirty_result, 0);
}

static void time_of_ended_threads_is_in_the_ticks(void **state)
{
    (void)state;
    put_process(100, 100, 1000, 10, "");
    struct usage m;
    assert_int_equal(usage_read_tree(fixture_folder, 100, true, &m), 0);
    assert_int_equal(m.cpu_us, 100 * (USEC_PER_S / (usec_t)sysconf(_SC_CLK_TCK)));
}

static void a_child_that_ended_meanwhile_is_left_out(void **state)
{
    (void)state;
    put_process(100, 0, 4000000, 10, "200 ");
    struct usage m;
    assert_int_equal(usage_read_tree(fixture_folder, 100, true, &m), 0);
    assert_int_equal(m.processes, 1);
}

static void a_process_that_is_not_there_is_said_so(void **state)
{
    (void)state;
    struct usage m;
    assert_int_equal(usage_read_tree(fixture_folder, 100, true, &m), -ENOENT);
}

static void this_process_can_be_measured(void **state)
{
    (void)state;
    struct usage m;
    assert_int_equal(usage_read_tree("/proc", (unsigned)getpid(), true, &m), 0);
    assert_true(m.processes >= 1);
    assert_true(m.dirty_bytes > 10 * 1024 && m.dirty_bytes < UINT64_C(1) << 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_read_behind_a_name_with_blanks_and_brackets),
        cmocka_unit_test(stat_of_another_shape_is_refused),
        cmocka_unit_test(dirty_memory_is_the_line_of_that_name),
        cmocka_unit_test_setup_teardown(a_tree_is_summed_to_its_last_grandchild,
                                        folder_fixture_setup, folder_fixture_teardown),
        cmocka_unit_test_setup_teardown(time_of_ended_threads_is_in_the_ticks,
                                        folder_fixture_setup, folder_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_child_that_ended_meanwhile_is_left_out,
                                        folder_fixture_setup, folder_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_process_that_is_not_there_is_said_so,
                                        folder_fixture_setup, folder_fixture_teardown),
        cmocka_unit_test(this_process_can_be_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
