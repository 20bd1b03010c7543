/* Size, mode and times: of a handle, where they hold after the close, and by path. */
#include "handle_ground.h"

#define HOUR     ((int64_t)3600 * 1000000)
#define AGED     ((struct vattr){.has_times = true, .atime_us = 5 * HOUR, .mtime_us = 3 * HOUR + 7})
#define SIZED(n) ((struct vattr){.has_size = true, .size_bytes = (n)})
#define MODED(m) ((struct vattr){.has_mode = true, .mode = (m)})

static mode_t mode_of(const struct ground *g, const char *name)
{
    struct stat st;
    TASK_ASSERT(lstat(tree_path(&g->t, name), &st) == 0);
    return st.st_mode & 07777;
}

/* As AGED says, to the microsecond. */
static bool is_aged(const struct ground *g, const char *name)
{
    struct stat st;
    TASK_ASSERT(lstat(tree_path(&g->t, name), &st) == 0);
    return st.st_mtim.tv_sec == 3 * 3600 && st.st_mtim.tv_nsec == 7000 &&
           st.st_atim.tv_sec == 5 * 3600 && st.st_atim.tv_nsec == 0;
}

static int set(struct vhandle *h, struct vattr attr)
{
    return vhandle_set(h, &attr);
}

static int set_path(struct ground *g, const char *name, bool follow, struct vattr attr)
{
    return WITH_PATH(name, vfs_set(g->t.vfs, &path, follow, &attr));
}

/* -- of a handle -- */

static void body_times_set_before_the_close_survive_it(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/over", REPLACE, "old") == 0);

    static const char *const names[] = {"/new", "/over"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        TASK_ASSERT(open_handle(&g->t, names[i], REWRITES, &h) == 0);
        TASK_ASSERT(put(h, 0, "01") == 0);
        TASK_ASSERT(set(h, AGED) == 0);
        TASK_ASSERT(put(h, 2, "23") == 0); /* the clock's time again */
        TASK_ASSERT(vhandle_close(h, true) == 0);
    }
    TASK_ASSERT(is_aged(g, "root/new") && tree_holds(&g->t, "root/new", "0123"));
    TASK_ASSERT(is_aged(g, "root/over") && tree_holds(&g->t, "root/over", "0123"));
    TASK_ASSERT(open_handle(&g->t, "/over", UPDATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "x") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0 && !is_aged(g, "root/over"));
    g->t.policy.sync = VFS_SYNC_FILE;
    TASK_ASSERT(open_handle(&g->t, "/over", UPDATES, &h) == 0);
    TASK_ASSERT(set(h, AGED) == 0 && put(h, 0, "y") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0 && is_aged(g, "root/over"));
}
ON_FRESH_GROUND(times_set_before_the_close_survive_it)

static void body_a_mode_that_was_set_wins_over_the_old_one(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(set(h, MODED(07640)) == 0);
    TASK_ASSERT(mode_of(g, "root/f") == 0644);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(mode_of(g, "root/f") == 0640);
    g->t.policy.sync = VFS_SYNC_FILE; /* the other way to the end */
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(set(h, MODED(0600)) == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(mode_of(g, "root/f") == 0600);
}
ON_FRESH_GROUND(a_mode_that_was_set_wins_over_the_old_one)

static void body_a_hidden_file_is_cut_and_made_longer(struct ground *g)
{
    struct vhandle *h;
    struct vstat st;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123456789") == 0);
    TASK_ASSERT(set(h, SIZED(4)) == 0);
    TASK_ASSERT(vhandle_stat(h, &st) == 0 && st.size_bytes == 4);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123") && used(g, 4, 1));
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(set(h, SIZED(2000)) == -FERRY_EQUOTA);
    TASK_ASSERT(set(h, SIZED(UINT64_MAX)) == -EFBIG);
    TASK_ASSERT(set(h, SIZED(500)) == 0 && used(g, 504, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 500 && used(g, 500, 1));
}
ON_FRESH_GROUND(a_hidden_file_is_cut_and_made_longer)

static void body_a_file_is_cut_in_place(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == 0);
    TASK_ASSERT(set(h, SIZED(4)) == 0 && tree_holds(&g->t, "root/f", "0123"));
    TASK_ASSERT(vhandle_close(h, true) == 0 && used(g, 4, 1));
    TASK_ASSERT(open_handle(&g->t, "/f", EXTENDS, &h) == 0);
    TASK_ASSERT(set(h, SIZED(2)) == 0 && put(h, 0, "ab") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01ab") && used(g, 4, 1));
}
ON_FRESH_GROUND(a_file_is_cut_in_place)

static void body_what_is_cut_off_is_not_kept_of_a_partial(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123456789") == 0);
    TASK_ASSERT(set(h, SIZED(4)) == 0 && set(h, SIZED(8)) == 0);
    TASK_ASSERT(vhandle_close(h, false) == 0 && used(g, 4, 0));
}
ON_FRESH_GROUND(what_is_cut_off_is_not_kept_of_a_partial)

static void body_a_reader_has_its_facts_and_sets_mode_and_times_alone(struct ground *g)
{
    struct vhandle *h;
    struct vstat st;
    uint64_t at = 0;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", READS, &h) == 0);
    TASK_ASSERT(!vhandle_is_hidden(h));
    TASK_ASSERT(vhandle_reserve(h, &at, 1) == -EBADF && set(h, SIZED(1)) == -EBADF);
    TASK_ASSERT(set(h, MODED(0600)) == 0 && set(h, AGED) == 0);
    TASK_ASSERT(vhandle_stat(h, &st) == 0 && st.size_bytes == 4 && st.mode == 0600);
    TASK_ASSERT(st.mtime_us == 3 * HOUR + 7 && st.atime_us == 5 * HOUR);
    TASK_ASSERT(vhandle_sync(h) == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(is_aged(g, "root/f") && used(g, 4, 1));
    TASK_ASSERT(open_handle(&g->t, "/f", READS, &h) == 0);
    TASK_ASSERT(vhandle_free(h) == NULL);
}
ON_FRESH_GROUND(a_reader_has_its_facts_and_sets_mode_and_times_alone)

static void body_a_handle_syncs(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0") == 0 && vhandle_sync(h) == 0);
    TASK_ASSERT(vhandle_is_hidden(h) && put(h, 1, "1") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0 && tree_holds(&g->t, "root/f", "01"));
}
ON_FRESH_GROUND(a_handle_syncs)

/* A cancelled task leaves its upload behind, and does not come upon it again. */
static void body_a_cancelled_question_ends_the_upload(struct ground *g)
{
    struct vhandle *h;
    struct vattr attr = SIZED(1);
    uint64_t at = 4;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123") == 0);
    task_cancel(task_self());
    TASK_ASSERT(vhandle_set(h, &attr) == -ECANCELED);
    TASK_ASSERT(vhandle_file(h) != NULL && !vhandle_is_hidden(h));
    TASK_ASSERT(vhandle_reserve(h, &at, 1) == -ECANCELED);
    TASK_ASSERT(vhandle_set(h, &attr) == -ECANCELED);
    TASK_ASSERT(vhandle_sync(h) == -ECANCELED);
    TASK_ASSERT(vhandle_close(h, true) == -ECANCELED);
    TASK_ASSERT(!tree_has(&g->t, "root/f") && temps(g) == 0);
}
ON_FRESH_GROUND(a_cancelled_question_ends_the_upload)

/* -- by path -- */

static void body_a_path_is_cut_and_made_longer_within_the_quota(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(set_path(g, "/f", true, SIZED(4)) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123") && used(g, 4, 1));
    TASK_ASSERT(set_path(g, "/f", true, SIZED(1001)) == -FERRY_EQUOTA && used(g, 4, 1));
    TASK_ASSERT(set_path(g, "/f", true, SIZED(1000)) == 0 && used(g, 1000, 1));
    TASK_ASSERT(set_path(g, "/f", true, SIZED(UINT64_MAX)) == -EFBIG);
    TASK_ASSERT(set_path(g, "/f", true, SIZED(0)) == 0 && used(g, 0, 1));
    tree_dir(&g->t, "root/d");
    TASK_ASSERT(set_path(g, "/d", true, SIZED(0)) == -EISDIR);
}
ON_FRESH_GROUND(a_path_is_cut_and_made_longer_within_the_quota)

static void body_without_a_quota_all_sizes_are_fine(struct ground *g)
{
    struct vhandle *h;
    (void)vfs_free(g->t.vfs);
    tree_file(&g->t, "root/f", "0123");
    TASK_ASSERT(vfs_new(g->t.root, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &g->t.vfs) == 0);
    TASK_ASSERT(set_path(g, "/f", true, SIZED(5000)) == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 5000);
    TASK_ASSERT(open_handle(&g->t, "/f", EXTENDS, &h) == 0);
    TASK_ASSERT(put(h, 0, "x") == 0 && set(h, SIZED(6000)) == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0 && tree_size(&g->t, "root/f") == 6000);
}
ON_FRESH_GROUND(without_a_quota_all_sizes_are_fine)

static void body_what_a_cut_costs_is_shared_with_who_writes(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == 0);
    TASK_ASSERT(set_path(g, "/f", true, SIZED(2)) == 0);
    TASK_ASSERT(put(h, 2, "xyz") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01xyz") && used(g, 5, 1));
}
ON_FRESH_GROUND(what_a_cut_costs_is_shared_with_who_writes)

static void body_all_is_set_at_once_and_the_times_last(struct ground *g)
{
    struct vattr all = AGED;
    all.has_size = all.has_mode = true;
    all.size_bytes = 2;
    all.mode = 07600;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123") == 0);
    TASK_ASSERT(set_path(g, "/f", true, all) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01") && mode_of(g, "root/f") == 0600);
    tree_file(&g->t, "root/g", "0123");
    TASK_ASSERT(set_path(g, "/g", true, all) == 0 && is_aged(g, "root/g"));
}
ON_FRESH_GROUND(all_is_set_at_once_and_the_times_last)

static void body_a_link_is_followed_or_itself_aged(struct ground *g)
{
    tree_file(&g->t, "root/f", "0123");
    tree_link(&g->t, "f", "root/link");
    TASK_ASSERT(set_path(g, "/link", false, AGED) == 0);
    TASK_ASSERT(is_aged(g, "root/link") && !is_aged(g, "root/f"));
    TASK_ASSERT(set_path(g, "/link", false, MODED(0600)) == -EOPNOTSUPP);
    TASK_ASSERT(set_path(g, "/link", false, SIZED(0)) == -EOPNOTSUPP);
    TASK_ASSERT(mode_of(g, "root/f") == 0644 && tree_size(&g->t, "root/f") == 4);
    TASK_ASSERT(set_path(g, "/link", true, MODED(0600)) == 0);
    TASK_ASSERT(mode_of(g, "root/f") == 0600);
    TASK_ASSERT(set_path(g, "/f", false, AGED) == 0 && is_aged(g, "root/f"));
    TASK_ASSERT(set_path(g, "/", false, AGED) == 0 && is_aged(g, "root"));
}
ON_FRESH_GROUND(a_link_is_followed_or_itself_aged)

static void body_mtime_alone_leaves_the_time_of_the_last_access(struct ground *g)
{
    struct vstat st;
    tree_file(&g->t, "root/f", "0123");
    TASK_ASSERT(set_path(g, "/f", true, AGED) == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_set_mtime(g->t.vfs, &path, HOUR)) == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_stat(g->t.vfs, &path, true, &st)) == 0);
    TASK_ASSERT(st.mtime_us == HOUR && st.atime_us == 5 * HOUR);
}
ON_FRESH_GROUND(mtime_alone_leaves_the_time_of_the_last_access)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_set_before_the_close_survive_it),
        cmocka_unit_test(a_mode_that_was_set_wins_over_the_old_one),
        cmocka_unit_test(a_hidden_file_is_cut_and_made_longer),
        cmocka_unit_test(a_file_is_cut_in_place),
        cmocka_unit_test(what_is_cut_off_is_not_kept_of_a_partial),
        cmocka_unit_test(a_reader_has_its_facts_and_sets_mode_and_times_alone),
        cmocka_unit_test(a_handle_syncs),
        cmocka_unit_test(a_cancelled_question_ends_the_upload),
        cmocka_unit_test(a_path_is_cut_and_made_longer_within_the_quota),
        cmocka_unit_test(without_a_quota_all_sizes_are_fine),
        cmocka_unit_test(what_a_cut_costs_is_shared_with_who_writes),
        cmocka_unit_test(all_is_set_at_once_and_the_times_last),
        cmocka_unit_test(a_link_is_followed_or_itself_aged),
        cmocka_unit_test(mtime_alone_leaves_the_time_of_the_last_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
