#include "check.h"
#include "ground.h"

static int rename_to(struct ground *g, const char *from, const char *to)
{
    struct vpath target = vpath_of(to);
    int r = WITH_PATH(from, vfs_rename(g->t.vfs, &path, &target));
    vpath_done(&target);
    return r;
}

#define MKDIR(g, text)  WITH_PATH(text, vfs_mkdir((g)->t.vfs, &path))
#define RMDIR(g, text)  WITH_PATH(text, vfs_rmdir((g)->t.vfs, &path))
#define UNLINK(g, text) WITH_PATH(text, vfs_unlink((g)->t.vfs, &path))

static void body_directories_count_as_files(struct ground *g)
{
    TASK_ASSERT(MKDIR(g, "/d") == 0);
    TASK_ASSERT(MKDIR(g, "/d") == -EEXIST);
    TASK_ASSERT(used(g, 0, 1));
    TASK_ASSERT(quota_take(g->quota, 0, 9) == 0);
    TASK_ASSERT(MKDIR(g, "/e") == -FERRY_EQUOTA);
    TASK_ASSERT(RMDIR(g, "/d") == 0);
    TASK_ASSERT(RMDIR(g, "/d") == -ENOENT);
    TASK_ASSERT(used(g, 0, 9));
    TASK_ASSERT(MKDIR(g, "/e") == 0);
}
ON_FRESH_GROUND(directories_count_as_files)

static void body_unlink_gives_bytes_back_with_the_last_name(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "12345") == 0);
    TASK_ASSERT(quota_take(g->quota, 0, 1) == 0);
    TASK_ASSERT(link(tree_path(&g->t, "root/f"), tree_path(&g->t, "root/g")) == 0);
    TASK_ASSERT(UNLINK(g, "/f") == 0);
    TASK_ASSERT(used(g, 5, 1));
    TASK_ASSERT(UNLINK(g, "/g") == 0);
    TASK_ASSERT(used(g, 0, 0));
    TASK_ASSERT(UNLINK(g, "/g") == -ENOENT);
}
ON_FRESH_GROUND(unlink_gives_bytes_back_with_the_last_name)

static void body_unlink_removes_a_kept_partial(struct ground *g)
{
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "12345") == 0);
    TASK_ASSERT(used(g, 5, 0));
    TASK_ASSERT(UNLINK(g, "/f") == 0);
    TASK_ASSERT(used(g, 0, 0));
    TASK_ASSERT(tree_count(&g->t, "root", "") == 2);
    TASK_ASSERT(UNLINK(g, "/f") == -ENOENT);
}
ON_FRESH_GROUND(unlink_removes_a_kept_partial)

static void body_a_directory_of_partials_alone_is_empty_to_its_user(struct ground *g)
{
    TASK_ASSERT(MKDIR(g, "/d") == 0);
    TASK_ASSERT(break_after(&g->t, "/d/one", REPLACE, "12345") == 0);
    TASK_ASSERT(break_after(&g->t, "/d/two", REPLACE, "12345") == 0);
    tree_file(&g->t, "root/d/file", "");
    TASK_ASSERT(RMDIR(g, "/d") == -ENOTEMPTY);
    TASK_ASSERT(tree_count(&g->t, "root/d", VFS_PART_PREFIX) == 2);
    TASK_ASSERT(unlink(tree_path(&g->t, "root/d/file")) == 0);
    struct vupload *u = NULL;
    TASK_ASSERT(begin(&g->t, "/d/three", REPLACE, &u) == 0);
    TASK_ASSERT(RMDIR(g, "/d") == -ENOTEMPTY);
    TASK_ASSERT(tree_count(&g->t, "root/d", VFS_PART_PREFIX) == 2);
    vupload_break(u, 0);
    TASK_ASSERT(RMDIR(g, "/d") == 0);
    TASK_ASSERT(used(g, 0, 0));
}
ON_FRESH_GROUND(a_directory_of_partials_alone_is_empty_to_its_user)

static void body_rename_moves_and_gives_back_what_it_replaces(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "12345") == 0);
    TASK_ASSERT(store(&g->t, "/g", REPLACE, "123") == 0);
    TASK_ASSERT(MKDIR(g, "/d") == 0);
    TASK_ASSERT(rename_to(g, "/f", "/d/f") == 0);
    TASK_ASSERT(used(g, 8, 3));
    TASK_ASSERT(rename_to(g, "/d/f", "/g") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/g", "12345"));
    TASK_ASSERT(used(g, 5, 2));
    TASK_ASSERT(rename_to(g, "/g", "/g") == 0);
    TASK_ASSERT(used(g, 5, 2));
    TASK_ASSERT(rename_to(g, "/d", "/d/e") == -EINVAL);
    TASK_ASSERT(rename_to(g, "/none", "/g") == -ENOENT);
}
ON_FRESH_GROUND(rename_moves_and_gives_back_what_it_replaces)

static void body_rename_over_a_file_needs_the_right_to_overwrite(struct ground *g)
{
    tree_file(&g->t, "root/f", "f");
    tree_file(&g->t, "root/g", "g");
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_RENAME) == 0);
    TASK_ASSERT(rename_to(g, "/f", "/g") == -FERRY_ERIGHTS);
    TASK_ASSERT(tree_holds(&g->t, "root/g", "g") && tree_holds(&g->t, "root/f", "f"));
    TASK_ASSERT(rename_to(g, "/f", "/h") == 0);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_RENAME | RIGHT_OVERWRITE) == 0);
    TASK_ASSERT(rename_to(g, "/h", "/g") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/g", "f"));
}
ON_FRESH_GROUND(rename_over_a_file_needs_the_right_to_overwrite)

static void body_rename_needs_its_right_at_both_ends(struct ground *g)
{
    tree_file(&g->t, "root/f", "f");
    tree_dir(&g->t, "root/ro");
    tree_file(&g->t, "root/ro/g", "g");
    tree_dir(&g->t, "root/up");
    tree_dir(&g->t, "root/up/ro");
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/ro"), RIGHTS_READ_ONLY) == 0);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/up/ro"), RIGHTS_READ_ONLY) == 0);
    TASK_ASSERT(rename_to(g, "/f", "/ro/f") == -FERRY_ERIGHTS);
    TASK_ASSERT(rename_to(g, "/ro/g", "/g") == -FERRY_ERIGHTS);
    /* what carries rules stays under them */
    TASK_ASSERT(rename_to(g, "/up", "/moved") == -FERRY_ERIGHTS);
    TASK_ASSERT(rename_to(g, "/f", "/up") == -FERRY_ERIGHTS);
    TASK_ASSERT(rename_to(g, "/f", "/up/f") == 0);
}
ON_FRESH_GROUND(rename_needs_its_right_at_both_ends)

static void body_each_operation_asks_for_its_right(struct ground *g)
{
    struct vstat st;
    struct vdir *d = NULL;
    struct vfile *f = NULL;
    tree_file(&g->t, "root/f", "f");
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), 0) == 0);
    TASK_ASSERT(MKDIR(g, "/d") == -FERRY_ERIGHTS);
    TASK_ASSERT(RMDIR(g, "/d") == -FERRY_ERIGHTS);
    TASK_ASSERT(UNLINK(g, "/f") == -FERRY_ERIGHTS);
    TASK_ASSERT(WITH_PATH("/f", vfs_chmod(g->t.vfs, &path, 0)) == -FERRY_ERIGHTS);
    TASK_ASSERT(WITH_PATH("/f", vfs_set_mtime(g->t.vfs, &path, 0)) == -FERRY_ERIGHTS);
    TASK_ASSERT(WITH_PATH("/f", vfs_stat(g->t.vfs, &path, true, &st)) == -FERRY_ERIGHTS);
    TASK_ASSERT(WITH_PATH("/", vfs_dir_open(g->t.vfs, &path, &d)) == -FERRY_ERIGHTS);
    TASK_ASSERT(WITH_PATH("/f", vfs_open(g->t.vfs, &path, &f)) == -FERRY_ERIGHTS);
    /* one that may only upload finds its directory */
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_WRITE) == 0);
    TASK_ASSERT(WITH_PATH("/", vfs_stat(g->t.vfs, &path, true, &st)) == 0);
    TASK_ASSERT(WITH_PATH("/", vfs_dir_open(g->t.vfs, &path, &d)) == -FERRY_ERIGHTS);
}
ON_FRESH_GROUND(each_operation_asks_for_its_right)

static mode_t mode_of(struct ground *g, const char *name)
{
    struct stat st;
    TASK_ASSERT(stat(tree_path(&g->t, name), &st) == 0);
    return st.st_mode & 07777;
}

static void body_chmod_sets_no_special_bits(struct ground *g)
{
    tree_file(&g->t, "root/f", "f");
    tree_dir(&g->t, "root/d");
    TASK_ASSERT(WITH_PATH("/f", vfs_chmod(g->t.vfs, &path, 07751)) == 0);
    TASK_ASSERT(mode_of(g, "root/f") == 0751);
    TASK_ASSERT(WITH_PATH("/d", vfs_chmod(g->t.vfs, &path, 07711)) == 0);
    TASK_ASSERT(mode_of(g, "root/d") == 0711);
    TASK_ASSERT(chmod(tree_path(&g->t, "root/d"), 02755) == 0);
    TASK_ASSERT(WITH_PATH("/d", vfs_chmod(g->t.vfs, &path, 0700)) == 0);
    TASK_ASSERT(mode_of(g, "root/d") == 02700);
}
ON_FRESH_GROUND(chmod_sets_no_special_bits)

static void body_the_mode_of_the_root_stays(struct ground *g)
{
    const struct vattr none = {.has_mode = true}, aged = {.has_times = true};
    const mode_t mode = mode_of(g, "root");
    TASK_ASSERT(WITH_PATH("/", vfs_chmod(g->t.vfs, &path, 0)) == -EPERM);
    TASK_ASSERT(WITH_PATH("/", vfs_set(g->t.vfs, &path, true, &none)) == -EPERM);
    TASK_ASSERT(WITH_PATH("/d/..", vfs_set(g->t.vfs, &path, false, &none)) == -EPERM);
    TASK_ASSERT(symlink(".", tree_path(&g->t, "root/self")) == 0);
    TASK_ASSERT(WITH_PATH("/self", vfs_chmod(g->t.vfs, &path, 0)) == -EPERM);
    TASK_ASSERT(mode_of(g, "root") == mode);
    TASK_ASSERT(WITH_PATH("/", vfs_set(g->t.vfs, &path, true, &aged)) == 0);
}
ON_FRESH_GROUND(the_mode_of_the_root_stays)

static void body_who_owns_the_root_sets_its_mode(struct ground *g)
{
    g->t.policy.owns_root = true;
    TASK_ASSERT(WITH_PATH("/", vfs_chmod(g->t.vfs, &path, 0710)) == 0);
    TASK_ASSERT(mode_of(g, "root") == 0710);
}
ON_FRESH_GROUND(who_owns_the_root_sets_its_mode)

static void body_times_are_set_to_the_microsecond_and_before_1970(struct ground *g)
{
    static const int64_t times[] = {0, 1, 1700000000123456, -1, -1500000};
    struct vstat st;
    tree_file(&g->t, "root/f", "f");
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        TASK_ASSERT(WITH_PATH("/f", vfs_set_mtime(g->t.vfs, &path, times[i])) == 0);
        TASK_ASSERT(WITH_PATH("/f", vfs_stat(g->t.vfs, &path, true, &st)) == 0);
        TASK_ASSERT(st.mtime_us == times[i]);
    }
}
ON_FRESH_GROUND(times_are_set_to_the_microsecond_and_before_1970)

static void body_a_cancelled_task_gets_no_answer(struct ground *g)
{
    struct vstat st;
    task_cancel(task_self());
    TASK_ASSERT(MKDIR(g, "/d") == -ECANCELED);
    TASK_ASSERT(WITH_PATH("/", vfs_stat(g->t.vfs, &path, true, &st)) == -ECANCELED);
    TASK_ASSERT(!tree_has(&g->t, "root/d"));
}
ON_FRESH_GROUND(a_cancelled_task_gets_no_answer)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_count_as_files),
        cmocka_unit_test(unlink_gives_bytes_back_with_the_last_name),
        cmocka_unit_test(unlink_removes_a_kept_partial),
        cmocka_unit_test(a_directory_of_partials_alone_is_empty_to_its_user),
        cmocka_unit_test(rename_moves_and_gives_back_what_it_replaces),
        cmocka_unit_test(rename_over_a_file_needs_the_right_to_overwrite),
        cmocka_unit_test(rename_needs_its_right_at_both_ends),
        cmocka_unit_test(each_operation_asks_for_its_right),
        cmocka_unit_test(chmod_sets_no_special_bits),
        cmocka_unit_test(the_mode_of_the_root_stays),
        cmocka_unit_test(who_owns_the_root_sets_its_mode),
        cmocka_unit_test(times_are_set_to_the_microsecond_and_before_1970),
        cmocka_unit_test(a_cancelled_task_gets_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
