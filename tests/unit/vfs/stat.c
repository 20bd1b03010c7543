#include "check.h"
#include "vfs/job.h"

static int64_t mtime_of(time_t seconds, long ns)
{
    const struct stat st = {.st_mtim = {.tv_sec = seconds, .tv_nsec = ns}};
    struct vstat v;
    vstat_from(&st, &v);
    return v.mtime_us;
}

static void times_that_do_not_fit_are_the_nearest_that_do(void **state)
{
    (void)state;
    assert_true(mtime_of(0, 1999) == 1);
    assert_true(mtime_of(-1, 999999999) == -1);
    assert_true(mtime_of(253402300799, 0) == INT64_C(253402300799000000)); /* 9999 */
    assert_true(mtime_of(INT64_MAX, 0) > INT64_C(9000000000000000000));
    assert_true(mtime_of(INT64_MIN, 0) < INT64_C(-9000000000000000000));
    assert_true(mtime_of(INT64_MAX, 999999999) >= mtime_of(INT64_MAX / 2, 0));
}

static void kinds_are_told_apart(void **state)
{
    (void)state;

    static const struct {
        mode_t mode;
        enum vstat_kind kind;
    } rows[] = {
        {S_IFREG, VSTAT_FILE},  {S_IFDIR, VSTAT_DIRECTORY}, {S_IFLNK, VSTAT_LINK},
        {S_IFIFO, VSTAT_OTHER}, {S_IFSOCK, VSTAT_OTHER},    {S_IFCHR, VSTAT_OTHER},
        {S_IFBLK, VSTAT_OTHER},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct stat st = {.st_mode = rows[i].mode | 04640, .st_size = 7, .st_nlink = 2};
        struct vstat v;
        vstat_from(&st, &v);
        assert_int_equal(v.kind, rows[i].kind);
        assert_int_equal(v.mode, 04640);
        assert_int_equal(v.size_bytes, 7);
        assert_int_equal(v.links, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_that_do_not_fit_are_the_nearest_that_do),
        cmocka_unit_test(kinds_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
