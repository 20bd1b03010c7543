#include "base/fault.h"
#include "check.h"
#include "ground.h"

static unsigned partials(const struct ground *g)
{
    return tree_count(&g->t, "root", VFS_PART_PREFIX);
}

/* -- replace -- */

static void body_a_new_file_appears_when_it_is_complete(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(vupload_offset(u) == 0);
    TASK_ASSERT(!vupload_replaces(u));
    TASK_ASSERT(upload_write(u, &at, "contents") == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/f"));
    TASK_ASSERT(tree_count(&g->t, "root", VFS_TEMP_PREFIX) == 1);
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "contents"));
    TASK_ASSERT(used(g, 8, 1));
}
ON_FRESH_GROUND(a_new_file_appears_when_it_is_complete)

static void body_an_empty_file_is_stored(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "") == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 0);
    TASK_ASSERT(used(g, 0, 1));
}
ON_FRESH_GROUND(an_empty_file_is_stored)

static void body_replacing_keeps_mode_and_gives_the_old_bytes_back(struct ground *g)
{
    struct stat st;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old contents") == 0);
    TASK_ASSERT(used(g, 12, 1));
    TASK_ASSERT(chmod(tree_path(&g->t, "root/f"), 06604) == 0);
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(vupload_replaces(u));
    TASK_ASSERT(upload_write(u, &at, "new") == 0);
    TASK_ASSERT(used(g, 15, 1));
    TASK_ASSERT(tree_holds(&g->t, "root/f", "old contents"));
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "new"));
    TASK_ASSERT(stat(tree_path(&g->t, "root/f"), &st) == 0 && (st.st_mode & 07777) == 0604);
    TASK_ASSERT(used(g, 3, 1));
}
ON_FRESH_GROUND(replacing_keeps_mode_and_gives_the_old_bytes_back)

static void body_a_link_is_replaced_and_its_target_is_left(struct ground *g)
{
    tree_file(&g->t, "root/target", "target");
    tree_link(&g->t, "target", "root/link");
    TASK_ASSERT(quota_take(g->quota, 6, 2) == 0);
    TASK_ASSERT(store(&g->t, "/link", REPLACE, "new") == 0);
    TASK_ASSERT(used(g, 9, 2));
    TASK_ASSERT(tree_holds(&g->t, "root/target", "target"));
    TASK_ASSERT(tree_holds(&g->t, "root/link", "new") && tree_size(&g->t, "root/link") == 3);
}
ON_FRESH_GROUND(a_link_is_replaced_and_its_target_is_left)

static void body_more_than_was_written_is_cut_and_less_is_refused(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "123456") == 0);
    TASK_ASSERT(vupload_commit(u, 4) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "1234"));
    TASK_ASSERT(used(g, 4, 1));
    TASK_ASSERT(begin(&g->t, "/g", REPLACE, &u) == 0);
    TASK_ASSERT(vupload_commit(u, 4) == -EIO);
    TASK_ASSERT(!tree_has(&g->t, "root/g"));
    TASK_ASSERT(used(g, 4, 1));
}
ON_FRESH_GROUND(more_than_was_written_is_cut_and_less_is_refused)

static void body_a_synced_upload_is_stored_too(struct ground *g)
{
    g->t.policy.sync = VFS_SYNC_FILE;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "contents") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "contents"));
}
ON_FRESH_GROUND(a_synced_upload_is_stored_too)

static void body_without_temporary_names_the_file_is_written_in_place(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    g->t.policy.atomic_upload = false;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "part") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "part"));
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(used(g, 4, 1));
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "x") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "x"));
    TASK_ASSERT(used(g, 1, 1));
    TASK_ASSERT(break_after(&g->t, "/kept", REPLACE, "half") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/kept", "half"));
    TASK_ASSERT(used(g, 5, 2));
    g->t.policy.keep_partial = false;
    TASK_ASSERT(break_after(&g->t, "/gone", REPLACE, "half") == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/gone"));
    TASK_ASSERT(used(g, 5, 2));
}
ON_FRESH_GROUND(without_temporary_names_the_file_is_written_in_place)

/* -- broken and resumed -- */

static void body_a_broken_upload_leaves_the_old_file(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old") == 0);
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "half of the new") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "old"));
    TASK_ASSERT(partials(g) == 0); /* SIZE and REST speak of the file */
    TASK_ASSERT(used(g, 3, 1));
}
ON_FRESH_GROUND(a_broken_upload_leaves_the_old_file)

static int resumable(struct ground *g, const char *name, uint64_t *ret_size, bool *ret_partial)
{
    struct vstat st = {0};
    struct vpath path = vpath_of(name);
    int r = vfs_stat_resumable(g->t.vfs, &path, &st, ret_partial);
    vpath_done(&path);
    *ret_size = st.size_bytes;
    return r;
}

static void body_a_broken_new_file_is_kept_and_resumed(struct ground *g)
{
    uint64_t size = 0;
    bool partial = false;
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/f"));
    TASK_ASSERT(partials(g) == 1);
    TASK_ASSERT(used(g, 10, 0));
    TASK_ASSERT(resumable(g, "/f", &size, &partial) == 0 && size == 10 && partial);
    TASK_ASSERT(resumable(g, "/other", &size, &partial) == -ENOENT);
    TASK_ASSERT(store(&g->t, "/f", FROM(11), "") == -EINVAL);
    TASK_ASSERT(store(&g->t, "/other", FROM(1), "") == -ENOENT);
    TASK_ASSERT(partials(g) == 1);
    TASK_ASSERT(store(&g->t, "/f", FROM(4), "abc") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123abc"));
    TASK_ASSERT(partials(g) == 0);
    TASK_ASSERT(used(g, 7, 1));
    TASK_ASSERT(resumable(g, "/f", &size, &partial) == 0 && size == 7 && !partial);
}
ON_FRESH_GROUND(a_broken_new_file_is_kept_and_resumed)

static void body_a_resumed_partial_that_breaks_again_ends_where_it_was_written(struct ground *g)
{
    uint64_t size = 0;
    bool partial = false;
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(break_after(&g->t, "/f", FROM(4), "ab") == 0);
    TASK_ASSERT(resumable(g, "/f", &size, &partial) == 0 && size == 6 && partial);
    TASK_ASSERT(used(g, 6, 0));
    TASK_ASSERT(store(&g->t, "/f", FROM(6), "") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123ab"));
    TASK_ASSERT(used(g, 6, 1));
}
ON_FRESH_GROUND(a_resumed_partial_that_breaks_again_ends_where_it_was_written)

static void body_a_newer_partial_takes_the_place_of_an_older(struct ground *g)
{
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "abc") == 0);
    TASK_ASSERT(partials(g) == 1);
    TASK_ASSERT(used(g, 3, 0));
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "whole") == 0);
    TASK_ASSERT(partials(g) == 0);
    TASK_ASSERT(used(g, 5, 1));
}
ON_FRESH_GROUND(a_newer_partial_takes_the_place_of_an_older)

static void body_what_must_not_be_kept_is_removed(struct ground *g)
{
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "") == 0);
    TASK_ASSERT(partials(g) == 0);
    g->t.policy.keep_partial = false;
    TASK_ASSERT(break_after(&g->t, "/f", REPLACE, "half") == 0);
    TASK_ASSERT(partials(g) == 0);
    TASK_ASSERT(tree_count(&g->t, "root", "") == 2); /* . and .. */
    TASK_ASSERT(used(g, 0, 0));
}
ON_FRESH_GROUND(what_must_not_be_kept_is_removed)

static void body_a_file_is_resumed_in_place(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(store(&g->t, "/f", FROM(11), "") == -EINVAL);
    TASK_ASSERT(break_after(&g->t, "/f", FROM(4), "ab") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123ab6789"));
    TASK_ASSERT(used(g, 10, 1));
    TASK_ASSERT(store(&g->t, "/f", FROM(4), "xy") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123xy"));
    TASK_ASSERT(used(g, 6, 1));
    TASK_ASSERT(store(&g->t, "/f", FROM(6), "z") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123xyz"));
    TASK_ASSERT(used(g, 7, 1));
    TASK_ASSERT(store(&g->t, "/f", FROM(0), "new") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "new"));
    TASK_ASSERT(used(g, 3, 1));
}
ON_FRESH_GROUND(a_file_is_resumed_in_place)

static void body_append_continues_files_partials_and_nothing(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", APPENDED, "one") == 0);
    TASK_ASSERT(store(&g->t, "/f", APPENDED, "two") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "onetwo"));
    TASK_ASSERT(used(g, 6, 1));
    TASK_ASSERT(break_after(&g->t, "/f", APPENDED, "three") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "onetwothree"));
    TASK_ASSERT(used(g, 11, 1));

    TASK_ASSERT(break_after(&g->t, "/p", REPLACE, "part") == 0);
    TASK_ASSERT(store(&g->t, "/p", TOLD, "rest") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/p", "partrest"));
    TASK_ASSERT(used(g, 19, 2));

    TASK_ASSERT(break_after(&g->t, "/q", REPLACE, "part") == 0);
    TASK_ASSERT(store(&g->t, "/q", APPENDED, "rest") == 0); /* it was told of no partial */
    TASK_ASSERT(tree_holds(&g->t, "root/q", "rest"));
    TASK_ASSERT(partials(g) == 0);
    TASK_ASSERT(used(g, 23, 3));
}
ON_FRESH_GROUND(append_continues_files_partials_and_nothing)

/* -- unique -- */

static void body_unique_names_are_held_from_the_start(struct ground *g)
{
    struct vupload *first = NULL, *second = NULL;
    uint64_t at = 0;
    tree_file(&g->t, "root/f", "there");
    TASK_ASSERT(begin(&g->t, "/f", UNIQUE, &first) == 0);
    TASK_ASSERT(begin(&g->t, "/f", UNIQUE, &second) == 0);
    TASK_ASSERT(bytes_equal(vpath_bytes(vupload_path(first)), BYTES_LIT("/f.1")));
    TASK_ASSERT(bytes_equal(vpath_bytes(vupload_path(second)), BYTES_LIT("/f.2")));
    TASK_ASSERT(used(g, 0, 2));
    TASK_ASSERT(upload_write(second, &at, "second") == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f.2") == 0);
    TASK_ASSERT(vupload_commit(second, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f.2", "second"));
    vupload_break(first, 0);
    TASK_ASSERT(!tree_has(&g->t, "root/f.1"));
    TASK_ASSERT(tree_holds(&g->t, "root/f", "there"));
    TASK_ASSERT(used(g, 6, 1));
}
ON_FRESH_GROUND(unique_names_are_held_from_the_start)

static void body_unique_never_overwrites(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", UNIQUE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "mine") == 0);
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "theirs") == 0);
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "theirs"));
    TASK_ASSERT(tree_holds(&g->t, "root/f.1", "mine"));
    TASK_ASSERT(used(g, 10, 2));

    at = 0;
    TASK_ASSERT(begin(&g->t, "/g", UNIQUE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "mine") == 0);
    TASK_ASSERT(store(&g->t, "/g", REPLACE, "theirs") == 0);
    vupload_break(u, at);
    TASK_ASSERT(tree_holds(&g->t, "root/g", "theirs"));
    TASK_ASSERT(used(g, 16, 3));

    at = 0;
    TASK_ASSERT(begin(&g->t, "/h", UNIQUE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "mine") == 0);
    TASK_ASSERT(WITH_PATH("/h", vfs_unlink(g->t.vfs, &path)) == 0);
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/h", "mine"));
    TASK_ASSERT(used(g, 20, 4));
}
ON_FRESH_GROUND(unique_never_overwrites)

static void body_unique_works_in_place(struct ground *g)
{
    g->t.policy.atomic_upload = false;
    TASK_ASSERT(store(&g->t, "/f", UNIQUE, "one") == 0);
    TASK_ASSERT(store(&g->t, "/f", UNIQUE, "two") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "one") && tree_holds(&g->t, "root/f.1", "two"));
    TASK_ASSERT(used(g, 6, 2));
}
ON_FRESH_GROUND(unique_works_in_place)

/* -- quota -- */

static void body_the_quota_holds_while_bytes_are_written(struct ground *g)
{
    struct vupload *u = NULL;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(vupload_reserve(u, 900) == 0);
    TASK_ASSERT(vupload_reserve(u, 800) == 0);
    TASK_ASSERT(vupload_reserve(u, 1001) == -FERRY_EQUOTA);
    TASK_ASSERT(vupload_reserve(u, 1000) == 0);
    TASK_ASSERT(used(g, 1000, 1));
    vupload_break(u, 0);
    TASK_ASSERT(used(g, 0, 0));
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(vupload_reserve(u, 600) == 0);
    TASK_ASSERT(vupload_commit(u, 0) == 0);
    TASK_ASSERT(used(g, 0, 1)); /* what was reserved and not written */
}
ON_FRESH_GROUND(the_quota_holds_while_bytes_are_written)

static void body_announced_sizes_are_refused_at_once(struct ground *g)
{
    struct vupload_request big = {.kind = VUPLOAD_REPLACE, .expect_bytes = 1001};
    TASK_ASSERT(store(&g->t, "/f", big, "") == -FERRY_EQUOTA);
    big.expect_bytes = 1000;
    TASK_ASSERT(store(&g->t, "/f", big, "") == 0);
    struct vfs *unlimited = NULL;
    TASK_ASSERT(vfs_new(g->t.root, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &unlimited) == 0);
    struct vfs *limited = g->t.vfs;
    g->t.vfs = unlimited;
    big.expect_bytes = UINT64_MAX / 2;
    TASK_ASSERT(store(&g->t, "/g", big, "") == -ENOSPC);
    g->t.vfs = vfs_free(unlimited);
    g->t.vfs = limited;
    TASK_ASSERT(!tree_has(&g->t, "root/g"));
    TASK_ASSERT(used(g, 0, 1));
}
ON_FRESH_GROUND(announced_sizes_are_refused_at_once)

static void body_the_number_of_files_is_bounded_and_replacing_is_not(struct ground *g)
{
    TASK_ASSERT(quota_take(g->quota, 0, 9) == 0);
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "one") == 0);
    TASK_ASSERT(store(&g->t, "/g", REPLACE, "two") == -FERRY_EQUOTA);
    TASK_ASSERT(store(&g->t, "/g", UNIQUE, "two") == -FERRY_EQUOTA);
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "three") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "three"));
    TASK_ASSERT(used(g, 5, 10));
}
ON_FRESH_GROUND(the_number_of_files_is_bounded_and_replacing_is_not)

/* -- commit that fails -- */

static void body_a_name_that_becomes_a_directory_fails_the_commit(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "new") == 0);
    tree_dir(&g->t, "root/f");
    TASK_ASSERT(vupload_commit(u, at) == -EISDIR);
    TASK_ASSERT(partials(g) == 0);
    TASK_ASSERT(used(g, 0, 0));
    TASK_ASSERT(rmdir(tree_path(&g->t, "root/f")) == 0);
}
ON_FRESH_GROUND(a_name_that_becomes_a_directory_fails_the_commit)

static void body_a_replaced_file_that_goes_meanwhile_is_counted_as_new(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old") == 0);
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "newer") == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_unlink(g->t.vfs, &path)) == 0);
    TASK_ASSERT(used(g, 5, 0));
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "newer"));
    TASK_ASSERT(used(g, 5, 1));
}
ON_FRESH_GROUND(a_replaced_file_that_goes_meanwhile_is_counted_as_new)

static void body_a_unique_name_that_goes_is_not_counted_when_the_commit_fails(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", UNIQUE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "new") == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_unlink(g->t.vfs, &path)) == 0);
    TASK_ASSERT(used(g, 3, 0));
    fault_arm(FAULT_SYSCALL, 3); /* the size, the name, and the rename */
    TASK_ASSERT(vupload_commit(u, at) == -EIO);
    fault_arm(FAULT_SYSCALL, 0);
    TASK_ASSERT(partials(g) == 1);
    TASK_ASSERT(used(g, 3, 0));
}
ON_FRESH_GROUND(a_unique_name_that_goes_is_not_counted_when_the_commit_fails)

static void body_a_file_that_comes_meanwhile_needs_the_right_to_overwrite(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_WRITE) == 0);
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "mine") == 0);
    tree_file(&g->t, "root/f", "theirs");
    TASK_ASSERT(vupload_commit(u, at) == -FERRY_ERIGHTS);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "theirs"));
    TASK_ASSERT(used(g, 0, 0));
}
ON_FRESH_GROUND(a_file_that_comes_meanwhile_needs_the_right_to_overwrite)

static void body_a_file_that_comes_meanwhile_is_replaced_and_counted_once(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(!vupload_replaces(u));
    TASK_ASSERT(upload_write(u, &at, "second") == 0);
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "first") == 0);
    TASK_ASSERT(used(g, 11, 2));
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "second"));
    TASK_ASSERT(used(g, 6, 1));
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(vupload_replaces(u));
    vupload_break(u, 0);
}
ON_FRESH_GROUND(a_file_that_comes_meanwhile_is_replaced_and_counted_once)

/* -- rights -- */

struct right_row {
    unsigned rights;
    const char *path;
    struct vupload_request request;
    int expected;
};

#define NO_WRITING (RIGHTS_ALL & ~(unsigned)(RIGHT_WRITE | RIGHT_APPEND | RIGHT_OVERWRITE))

static void body_each_kind_asks_for_its_right(struct ground *g)
{
    static const struct right_row rows[] = {
        {NO_WRITING, "/new", REPLACE, -FERRY_ERIGHTS},
        {NO_WRITING, "/file", APPENDED, -FERRY_ERIGHTS},
        {RIGHT_WRITE, "/new", REPLACE, 0},
        {RIGHT_WRITE, "/new", APPENDED, 0},
        {RIGHT_WRITE, "/new", UNIQUE, 0},
        {RIGHT_WRITE, "/file", UNIQUE, 0},
        {RIGHT_WRITE, "/file", REPLACE, -FERRY_ERIGHTS},
        {RIGHT_WRITE, "/file", APPENDED, -FERRY_ERIGHTS},
        {RIGHT_WRITE, "/file", FROM(4), -FERRY_ERIGHTS},
        {RIGHT_WRITE, "/link", REPLACE, -FERRY_ERIGHTS},
        {RIGHT_WRITE, "/part", FROM(2), 0},
        {RIGHT_WRITE, "/part", TOLD, 0},
        {RIGHT_APPEND, "/file", APPENDED, 0},
        {RIGHT_APPEND, "/file", FROM(4), 0},
        {RIGHT_APPEND, "/file", FROM(3), -FERRY_ERIGHTS},
        {RIGHT_APPEND, "/file", REPLACE, -FERRY_ERIGHTS},
        {RIGHT_APPEND, "/new", APPENDED, -FERRY_ERIGHTS},
        {RIGHT_APPEND, "/part", TOLD, -FERRY_ERIGHTS},
        {RIGHT_OVERWRITE, "/file", REPLACE, 0},
        {RIGHT_OVERWRITE, "/file", FROM(3), 0},
        {RIGHT_OVERWRITE, "/file", APPENDED, 0},
        {RIGHT_OVERWRITE, "/link", REPLACE, 0},
        {RIGHT_OVERWRITE, "/new", REPLACE, -FERRY_ERIGHTS},
        {RIGHT_OVERWRITE, "/new", UNIQUE, -FERRY_ERIGHTS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)unlink(tree_path(&g->t, "root/new"));
        (void)unlink(tree_path(&g->t, "root/part"));
        (void)unlink(tree_path(&g->t, "root/link"));
        (void)unlink(tree_path(&g->t, "root/file.1"));
        tree_file(&g->t, "root/file", "file");
        tree_link(&g->t, "file", "root/link");
        TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
        TASK_ASSERT(break_after(&g->t, "/part", REPLACE, "part") == 0);
        TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), rows[i].rights) == 0);
        int r = store(&g->t, rows[i].path, rows[i].request, "x");
        if (r != rows[i].expected) {
            (void)fprintf(stderr, "row %zu: %s\n", i, err_name(r));
            abort();
        }
        quota_give(g->quota, UINT64_MAX, UINT64_MAX);
    }
}
ON_FRESH_GROUND(each_kind_asks_for_its_right)

/* -- left behind -- */

static void begin_and_leave(struct ground *g, bool commits)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "half") == 0);
    task_cancel(task_self());
    if (commits)
        TASK_ASSERT(vupload_commit(u, at) == -ECANCELED);
    else
        vupload_break(u, at);
}

static void body_a_cancelled_task_leaves_no_temporary_file(struct ground *g)
{
    begin_and_leave(g, false);
    TASK_ASSERT(!tree_has(&g->t, "root/f") && partials(g) == 1);
    TASK_ASSERT(tree_count(&g->t, "root", VFS_TEMP_PREFIX) == 0);
    TASK_ASSERT(used(g, 4, 0));
}
ON_FRESH_GROUND(a_cancelled_task_leaves_no_temporary_file)

static void body_a_cancelled_commit_is_a_break(struct ground *g)
{
    g->t.policy.keep_partial = false;
    begin_and_leave(g, true);
    TASK_ASSERT(tree_count(&g->t, "root", "") == 2);
    TASK_ASSERT(used(g, 0, 0));
}
ON_FRESH_GROUND(a_cancelled_commit_is_a_break)

static void body_in_a_shield_a_cancelled_task_commits(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "whole") == 0);
    task_cancel(task_self());
    task_shield_begin(USEC_NEVER);
    TASK_ASSERT(vupload_commit(u, at) == 0);
    task_shield_end();
    TASK_ASSERT(tree_holds(&g->t, "root/f", "whole"));
}
ON_FRESH_GROUND(in_a_shield_a_cancelled_task_commits)

static void body_nothing_is_counted_after_the_end(struct ground *g)
{
    struct vupload *u = NULL;
    uint64_t at = 0;
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "1234") == 0);
    struct vfile *f = vfile_ref(vupload_file(u)); /* as a detached move job would */
    vupload_break(u, at);
    TASK_ASSERT(write(vfile_fd(f), "late", 4) == 4);
    vfile_unref(f);
    TASK_ASSERT(used(g, 4, 0));
}
ON_FRESH_GROUND(nothing_is_counted_after_the_end)

/* -- with threads -- */

static void many_uploads(void *arg)
{
    struct ground *g = arg;
    if (worker_index(worker_self()) != 0)
        return;
    tree_serve(&g->t, g->quota);
    for (unsigned i = 0; i < 50; i++) {
        TASK_ASSERT(store(&g->t, "/f", REPLACE, i % 2 ? "odd" : "even") == 0);
        TASK_ASSERT(break_after(&g->t, "/g", REPLACE, "half") == 0);
    }
    begin_and_leave(g, false); /* the break runs after this task has gone */
    g->t.vfs = vfs_free(g->t.vfs);
}

static void uploads_run_on_pool_threads(void **state)
{
    (void)state;
    struct ground g = {0};
    tree_init(&g.t);
    TASK_ASSERT(quota_new(1000, 10, &g.quota) == 0);
    run_threaded(1, many_uploads, &g);
    TASK_ASSERT(tree_holds(&g.t, "root/f", "odd"));
    TASK_ASSERT(tree_count(&g.t, "root", VFS_TEMP_PREFIX) == 0);
    TASK_ASSERT(partials(&g) == 1);
    tree_done(&g.t);
    quota_unref(g.quota);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_appears_when_it_is_complete),
        cmocka_unit_test(an_empty_file_is_stored),
        cmocka_unit_test(replacing_keeps_mode_and_gives_the_old_bytes_back),
        cmocka_unit_test(a_link_is_replaced_and_its_target_is_left),
        cmocka_unit_test(more_than_was_written_is_cut_and_less_is_refused),
        cmocka_unit_test(a_synced_upload_is_stored_too),
        cmocka_unit_test(without_temporary_names_the_file_is_written_in_place),
        cmocka_unit_test(a_broken_upload_leaves_the_old_file),
        cmocka_unit_test(a_broken_new_file_is_kept_and_resumed),
        cmocka_unit_test(a_resumed_partial_that_breaks_again_ends_where_it_was_written),
        cmocka_unit_test(a_newer_partial_takes_the_place_of_an_older),
        cmocka_unit_test(what_must_not_be_kept_is_removed),
        cmocka_unit_test(a_file_is_resumed_in_place),
        cmocka_unit_test(append_continues_files_partials_and_nothing),
        cmocka_unit_test(unique_names_are_held_from_the_start),
        cmocka_unit_test(unique_never_overwrites),
        cmocka_unit_test(unique_works_in_place),
        cmocka_unit_test(the_quota_holds_while_bytes_are_written),
        cmocka_unit_test(announced_sizes_are_refused_at_once),
        cmocka_unit_test(the_number_of_files_is_bounded_and_replacing_is_not),
        cmocka_unit_test(a_name_that_becomes_a_directory_fails_the_commit),
        cmocka_unit_test(a_replaced_file_that_goes_meanwhile_is_counted_as_new),
        cmocka_unit_test(a_unique_name_that_goes_is_not_counted_when_the_commit_fails),
        cmocka_unit_test(a_file_that_comes_meanwhile_needs_the_right_to_overwrite),
        cmocka_unit_test(a_file_that_comes_meanwhile_is_replaced_and_counted_once),
        cmocka_unit_test(each_kind_asks_for_its_right),
        cmocka_unit_test(a_cancelled_task_leaves_no_temporary_file),
        cmocka_unit_test(a_cancelled_commit_is_a_break),
        cmocka_unit_test(in_a_shield_a_cancelled_task_commits),
        cmocka_unit_test(nothing_is_counted_after_the_end),
        cmocka_unit_test(uploads_run_on_pool_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
