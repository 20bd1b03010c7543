#include "vfs/quota.h"

#include <pthread.h>

#include "base/err.h"
#include "check.h"

static void expect_used(struct quota *q, uint64_t bytes, uint64_t files)
{
    uint64_t used_bytes = 0, used_files = 0;
    quota_used(q, &used_bytes, &used_files);
    assert_int_equal(used_bytes, bytes);
    assert_int_equal(used_files, files);
}

static void takes_both_or_nothing(void **state)
{
    (void)state;
    struct quota *q = NULL;
    assert_int_equal(quota_new(100, 2, &q), 0);
    assert_int_equal(quota_take(q, 60, 1), 0);
    assert_int_equal(quota_left_bytes(q), 40);
    assert_int_equal(quota_take(q, 41, 1), -FERRY_EQUOTA);
    assert_int_equal(quota_take(q, UINT64_MAX, 0), -FERRY_EQUOTA);
    expect_used(q, 60, 1);
    assert_int_equal(quota_take(q, 40, 1), 0);
    assert_int_equal(quota_take(q, 0, 1), -FERRY_EQUOTA);
    assert_int_equal(quota_take(q, 0, 0), 0);
    quota_give(q, 10, 1);
    expect_used(q, 90, 1);
    quota_give(q, 1000, 1000); /* more than was counted */
    expect_used(q, 0, 0);
    quota_unref(q);
}

static void nothing_and_zero_are_unlimited(void **state)
{
    (void)state;
    struct quota *q = NULL;
    assert_int_equal(quota_take(NULL, UINT64_MAX, UINT64_MAX), 0);
    assert_int_equal(quota_left_bytes(NULL), UINT64_MAX);
    quota_give(NULL, 1, 1);
    expect_used(NULL, 0, 0);
    quota_unref(NULL);
    assert_int_equal(quota_new(0, 0, &q), 0);
    assert_int_equal(quota_take(q, UINT64_MAX - 1, 5), 0);
    assert_int_equal(quota_left_bytes(q), UINT64_MAX);
    assert_ptr_equal(quota_ref(q), q);
    quota_unref(q);
    expect_used(q, UINT64_MAX - 1, 5);
    quota_unref(q);
}

static void a_file_without_a_name_gives_all_back_when_it_is_closed(void **state)
{
    (void)state;
    struct quota *q = NULL;
    struct quota_file *f = NULL;
    struct stat st = {.st_mode = S_IFREG, .st_ino = 7};
    assert_int_equal(quota_new(100, 0, &q), 0);
    for (unsigned links = 0; links < 2; links++) {
        st.st_nlink = links;
        assert_int_equal(quota_file_open(q, &st, &f), 0);
        assert_int_equal(quota_file_grow(q, f, 60), 0);
        assert_int_equal(quota_file_grow(q, f, 101), -FERRY_EQUOTA);
        quota_file_close(q, f, 50);
        expect_used(q, links == 0 ? 0 : 50, 0);
    }
    quota_unref(q);
}

static void what_was_given_back_is_not_given_back_again(void **state)
{
    (void)state;
    struct quota *q = NULL;
    struct quota_file *f = NULL;
    const struct stat removed = {.st_mode = S_IFREG, .st_size = 20};
    assert_int_equal(quota_new(100, 0, &q), 0);
    assert_int_equal(quota_take(q, 30, 1), 0); /* other files */
    assert_int_equal(quota_file_open(q, &removed, &f), 0);
    assert_int_equal(quota_file_grow(q, f, 40), 0);
    expect_used(q, 70, 1);
    quota_file_close(q, f, 40);
    expect_used(q, 30, 1);
    quota_unref(q);
}

static void a_file_whose_size_nobody_knows_keeps_what_it_has(void **state)
{
    (void)state;
    struct quota *q = NULL;
    struct quota_file *f = NULL;
    const struct stat st = {.st_mode = S_IFREG, .st_nlink = 1};
    assert_int_equal(quota_new(100, 0, &q), 0);
    assert_int_equal(quota_file_open(q, &st, &f), 0);
    assert_int_equal(quota_file_grow(q, f, 60), 0);
    quota_file_close(q, f, UINT64_MAX);
    expect_used(q, 60, 0);
    assert_int_equal(quota_file_open(NULL, &st, &f), 0);
    assert_null(f);
    assert_int_equal(quota_file_grow(NULL, f, UINT64_MAX), 0);
    assert_int_equal(quota_file_append(NULL, f, UINT64_MAX), 0);
    quota_file_cut(NULL, f);
    quota_file_close(NULL, f, 0);
    quota_give_file(NULL, &st);
    quota_unref(q);
}

static void appended_bytes_add_up_and_what_came_besides_is_counted_at_the_end(void **state)
{
    (void)state;
    struct quota *q = NULL;
    struct quota_file *a = NULL, *b = NULL;
    const struct stat st = {.st_mode = S_IFREG, .st_nlink = 1, .st_size = 10};
    assert_int_equal(quota_new(100, 0, &q), 0);
    assert_int_equal(quota_take(q, 10, 1), 0);
    assert_int_equal(quota_file_open(q, &st, &a), 0);
    assert_int_equal(quota_file_open(q, &st, &b), 0);
    assert_int_equal(quota_file_append(q, a, 20), 0);
    assert_int_equal(quota_file_append(q, b, 30), 0);
    expect_used(q, 60, 1);
    assert_int_equal(quota_file_append(q, b, 41), -FERRY_EQUOTA);
    expect_used(q, 60, 1);
    quota_file_close(q, a, 55);
    expect_used(q, 60, 1);
    quota_file_close(q, b, 120); /* more than the limit allows, but it is there */
    expect_used(q, 120, 1);
    quota_give_file(q, &(struct stat){.st_mode = S_IFREG, .st_nlink = 1, .st_size = 120});
    expect_used(q, 0, 1);
    quota_unref(q);
}

static pthread_barrier_t start;

static void *take_all(void *arg)
{
    uintptr_t taken = 0;
    (void)pthread_barrier_wait(&start);
    for (int i = 0; i < 50000; i++)
        taken += quota_take(arg, 3, 1) == 0;
    return (void *)taken;
}

static void threads_never_pass_the_limit_together(void **state)
{
    (void)state;
    struct quota *q = NULL;
    pthread_t threads[3];
    uintptr_t taken = 0;
    assert_int_equal(quota_new(300000, 0, &q), 0);
    assert_int_equal(pthread_barrier_init(&start, NULL, 3), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_all, q), 0);
    for (int i = 0; i < 3; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        taken += (uintptr_t)result;
    }
    assert_int_equal(taken, 300000 / 3);
    expect_used(q, 3 * (300000 / 3), 300000 / 3);
    quota_unref(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_both_or_nothing),
        cmocka_unit_test(nothing_and_zero_are_unlimited),
        cmocka_unit_test(a_file_without_a_name_gives_all_back_when_it_is_closed),
        cmocka_unit_test(what_was_given_back_is_not_given_back_again),
        cmocka_unit_test(a_file_whose_size_nobody_knows_keeps_what_it_has),
        cmocka_unit_test(appended_bytes_add_up_and_what_came_besides_is_counted_at_the_end),
        cmocka_unit_test(threads_never_pass_the_limit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
