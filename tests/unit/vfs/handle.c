/* Handles that make, truncate or change a file, and what their end leaves. */
#include "handle_ground.h"

/* -- what is made or truncated -- */

static void body_a_new_file_appears_when_its_handle_is_closed(struct ground *g)
{
    struct vhandle *h;
    struct vstat st;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(vhandle_is_hidden(h));
    TASK_ASSERT(put(h, 0, "contents") == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/f") && temps(g) == 1);
    TASK_ASSERT(vhandle_stat(h, &st) == 0 && st.size_bytes == 8 && st.kind == VSTAT_FILE);
    TASK_ASSERT(used(g, 8, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "contents"));
    TASK_ASSERT(used(g, 8, 1));
}
ON_FRESH_GROUND(a_new_file_appears_when_its_handle_is_closed)

static void body_truncating_leaves_the_old_file_until_the_close(struct ground *g)
{
    struct vhandle *h;
    struct stat st;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old contents") == 0);
    TASK_ASSERT(chmod(tree_path(&g->t, "root/f"), 0604) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "new") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "old contents") && used(g, 15, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "new") && used(g, 3, 1));
    TASK_ASSERT(stat(tree_path(&g->t, "root/f"), &st) == 0 && (st.st_mode & 07777) == 0604);
}
ON_FRESH_GROUND(truncating_leaves_the_old_file_until_the_close)

static void body_a_handle_that_is_given_up_leaves_the_old_file(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "half of the new") == 0);
    TASK_ASSERT(vhandle_close(h, false) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "old"));
    TASK_ASSERT(partials(g) == 0 && temps(g) == 0);
    TASK_ASSERT(used(g, 3, 1));
}
ON_FRESH_GROUND(a_handle_that_is_given_up_leaves_the_old_file)

static void body_the_policy_decides_whether_a_partial_is_kept(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/kept", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "half") == 0);
    TASK_ASSERT(vhandle_close(h, false) == 0);
    TASK_ASSERT(partials(g) == 1 && used(g, 4, 0));
    TASK_ASSERT(store(&g->t, "/kept", TOLD, " and half") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/kept", "half and half") && used(g, 13, 1));
    g->t.policy.keep_partial = false;
    TASK_ASSERT(open_handle(&g->t, "/gone", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "half") == 0);
    TASK_ASSERT(vhandle_close(h, false) == 0);
    TASK_ASSERT(partials(g) == 0 && !tree_has(&g->t, "root/gone") && used(g, 13, 1));
}
ON_FRESH_GROUND(the_policy_decides_whether_a_partial_is_kept)

static void body_a_partial_ends_where_its_first_hole_begins(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123") == 0);
    TASK_ASSERT(put(h, 8, "89") == 0);
    TASK_ASSERT(put(h, 4, "45") == 0);
    TASK_ASSERT(vhandle_close(h, false) == 0);
    TASK_ASSERT(partials(g) == 1 && used(g, 6, 0));
    TASK_ASSERT(store(&g->t, "/f", TOLD, "67") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01234567"));
}
ON_FRESH_GROUND(a_partial_ends_where_its_first_hole_begins)

static void body_a_handle_that_is_freed_leaves_a_partial_too(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123") == 0);
    TASK_ASSERT(put(h, 8, "89") == 0);
    TASK_ASSERT(vhandle_free(h) == NULL);
    TASK_ASSERT(partials(g) == 1 && used(g, 4, 0));
    TASK_ASSERT(open_handle(&g->t, "/none", CREATES, &h) == 0);
    TASK_ASSERT(vhandle_free(h) == NULL);
    TASK_ASSERT(partials(g) == 1 && used(g, 4, 0));
    TASK_ASSERT(vhandle_free(NULL) == NULL);
}
ON_FRESH_GROUND(a_handle_that_is_freed_leaves_a_partial_too)

static void body_what_was_lost_is_not_stored(struct ground *g)
{
    struct vhandle *h;
    uint64_t at = 4;
    TASK_ASSERT(open_handle(&g->t, "/f", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123") == 0);
    TASK_ASSERT(vhandle_reserve(h, &at, 4) == 0);
    vhandle_lost(h, 4);
    TASK_ASSERT(put(h, 8, "89") == 0);
    TASK_ASSERT(vhandle_close(h, true) == -EIO);
    TASK_ASSERT(!tree_has(&g->t, "root/f"));
    TASK_ASSERT(partials(g) == 1 && used(g, 4, 0));
}
ON_FRESH_GROUND(what_was_lost_is_not_stored)

static void body_what_was_reserved_and_is_not_there_is_not_stored(struct ground *g)
{
    struct vhandle *h;
    uint64_t at = 4;
    TASK_ASSERT(open_handle(&g->t, "/f", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "0123") == 0);
    TASK_ASSERT(vhandle_reserve(h, &at, 4) == 0);
    TASK_ASSERT(vhandle_close(h, true) == -EIO);
    TASK_ASSERT(!tree_has(&g->t, "root/f"));
    TASK_ASSERT(used(g, 4, 0));
}
ON_FRESH_GROUND(what_was_reserved_and_is_not_there_is_not_stored)

static void body_bytes_go_anywhere_and_a_hole_is_stored(struct ground *g)
{
    char data[8] = "";
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 6, "67") == 0);
    TASK_ASSERT(put(h, 0, "01") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 8 && used(g, 8, 1));
    int fd = open(tree_path(&g->t, "root/f"), O_RDONLY | O_CLOEXEC);
    TASK_ASSERT(read(fd, data, 8) == 8 && memcmp(data,
                                                 "01\0\0\0\0"
                                                 "67",
                                                 8) == 0);
    (void)close(fd);
}
ON_FRESH_GROUND(bytes_go_anywhere_and_a_hole_is_stored)

static void body_an_empty_file_is_made(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", CREATES, &h) == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 0 && used(g, 0, 1));
}
ON_FRESH_GROUND(an_empty_file_is_made)

static void body_a_new_file_has_the_mode_that_was_asked_for(struct ground *g)
{
    struct stat st;
    struct vhandle_request q = CREATES;
    q.mode = 07640;
    mode_t mask = umask(0);
    TASK_ASSERT(put_once(&g->t, "/asked", q, 0, "x") == 0);
    TASK_ASSERT(put_once(&g->t, "/policy", CREATES, 0, "x") == 0);
    g->t.policy.atomic_upload = false;
    TASK_ASSERT(put_once(&g->t, "/in-place", q, 0, "x") == 0);
    (void)umask(mask);
    TASK_ASSERT(stat(tree_path(&g->t, "root/asked"), &st) == 0 && (st.st_mode & 07777) == 0640);
    TASK_ASSERT(stat(tree_path(&g->t, "root/policy"), &st) == 0 &&
                (st.st_mode & 07777) == 0644);
    TASK_ASSERT(stat(tree_path(&g->t, "root/in-place"), &st) == 0 &&
                (st.st_mode & 07777) == 0640);
}
ON_FRESH_GROUND(a_new_file_has_the_mode_that_was_asked_for)

static void body_a_hidden_file_is_read_by_its_handle(struct ground *g)
{
    struct vhandle *h;
    char data[8];
    TASK_ASSERT(open_handle(&g->t, "/f", BOTH, &h) == 0);
    TASK_ASSERT(vhandle_is_hidden(h) && put(h, 0, "0123") == 0);
    TASK_ASSERT(pread(vfile_fd(vhandle_file(h)), data, 8, 0) == 4);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", BOTH, &h) == 0);
    TASK_ASSERT(!vhandle_is_hidden(h));
    TASK_ASSERT(pread(vfile_fd(vhandle_file(h)), data, 8, 0) == 4);
    TASK_ASSERT(memcmp(data, "0123", 4) == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
}
ON_FRESH_GROUND(a_hidden_file_is_read_by_its_handle)

/* -- what is there already -- */

static void body_what_is_there_is_changed_in_place(struct ground *g)
{
    struct vhandle *h;
    struct stat before, after;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(stat(tree_path(&g->t, "root/f"), &before) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", CREATES, &h) == 0);
    TASK_ASSERT(!vhandle_is_hidden(h));
    TASK_ASSERT(put(h, 2, "ab") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01ab456789") && used(g, 10, 1));
    TASK_ASSERT(put(h, 9, "xyz") == 0 && used(g, 12, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01ab45678xyz") && used(g, 12, 1));
    TASK_ASSERT(stat(tree_path(&g->t, "root/f"), &after) == 0 && before.st_ino == after.st_ino);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "X") == 0);
    TASK_ASSERT(vhandle_close(h, false) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "X1ab45678xyz") && used(g, 12, 1));
}
ON_FRESH_GROUND(what_is_there_is_changed_in_place)

static void body_what_was_reserved_too_much_goes_back(struct ground *g)
{
    struct vhandle *h;
    uint64_t at = 0;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == 0);
    TASK_ASSERT(vhandle_reserve(h, &at, 500) == 0 && used(g, 500, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0 && used(g, 4, 1));
}
ON_FRESH_GROUND(what_was_reserved_too_much_goes_back)

static void body_a_file_that_is_not_there_is_not_made_unasked(struct ground *g)
{
    const struct vhandle_request cuts = {.writes = true, .truncate = true};
    struct vhandle *h;
    tree_link(&g->t, "nothing", "root/link-none");
    TASK_ASSERT(open_handle(&g->t, "/f", READS, &h) == -ENOENT);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == -ENOENT);
    TASK_ASSERT(open_handle(&g->t, "/f", cuts, &h) == -ENOENT);
    TASK_ASSERT(open_handle(&g->t, "/link-none", UPDATES, &h) == -ENOENT);
    TASK_ASSERT(open_handle(&g->t, "/link-none", cuts, &h) == -ENOENT);
    TASK_ASSERT(tree_count(&g->t, "root", "") == 3);
    TASK_ASSERT(used(g, 0, 0));
}
ON_FRESH_GROUND(a_file_that_is_not_there_is_not_made_unasked)

static void body_requests_without_sense_are_refused(struct ground *g)
{
    struct vhandle *h;
    struct vhandle_request q = {0};
    TASK_ASSERT(open_handle(&g->t, "/f", q, &h) == -EINVAL);
    q = (struct vhandle_request){.reads = true, .create = true};
    TASK_ASSERT(open_handle(&g->t, "/f", q, &h) == -EINVAL);
    q = (struct vhandle_request){.reads = true, .truncate = true};
    TASK_ASSERT(open_handle(&g->t, "/f", q, &h) == -EINVAL);
    q = (struct vhandle_request){.reads = true, .append = true};
    TASK_ASSERT(open_handle(&g->t, "/f", q, &h) == -EINVAL);
    TASK_ASSERT(!tree_has(&g->t, "root/f") && used(g, 0, 0));
}
ON_FRESH_GROUND(requests_without_sense_are_refused)

/* -- exclusive -- */

static void body_exclusive_refuses_whatever_is_there(struct ground *g)
{
    struct vhandle *h;
    struct vhandle_request cuts = CLAIMS;
    cuts.truncate = true;
    tree_file(&g->t, "root/f", "old");
    tree_dir(&g->t, "root/d");
    tree_link(&g->t, "nothing", "root/link-none");
    tree_link(&g->t, "../outside", "root/link-out");
    TASK_ASSERT(mkfifo(tree_path(&g->t, "root/fifo"), 0644) == 0);

    static const char *const names[] = {"/f", "/d", "/link-none", "/link-out", "/fifo"};

    for (size_t i = 0; i < 2 * ARRAY_LEN(names); i++) {
        g->t.policy.atomic_upload = i % 2;
        TASK_ASSERT(open_handle(&g->t, names[i / 2], CLAIMS, &h) == -EEXIST);
        TASK_ASSERT(open_handle(&g->t, names[i / 2], cuts, &h) == -EEXIST);
    }
    TASK_ASSERT(tree_holds(&g->t, "root/f", "old") && temps(g) == 0);
    TASK_ASSERT(used(g, 0, 0));
    for (int atomic = 0; atomic < 2; atomic++) {
        g->t.policy.atomic_upload = atomic;
        TASK_ASSERT(put_once(&g->t, atomic ? "/a" : "/b", cuts, 0, "x") == 0);
    }
    TASK_ASSERT(used(g, 2, 2));
}
ON_FRESH_GROUND(exclusive_refuses_whatever_is_there)

static void body_exclusive_replaces_nobody_who_came_meanwhile(struct ground *g)
{
    struct vhandle *first, *second;
    TASK_ASSERT(open_handle(&g->t, "/f", CLAIMS, &first) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", CLAIMS, &second) == 0);
    TASK_ASSERT(put(first, 0, "first") == 0 && put(second, 0, "second") == 0);
    TASK_ASSERT(used(g, 11, 2));
    TASK_ASSERT(vhandle_close(first, true) == 0);
    TASK_ASSERT(vhandle_close(second, true) == -EEXIST);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "first"));
    TASK_ASSERT(used(g, 5, 1) && partials(g) == 0);
}
ON_FRESH_GROUND(exclusive_replaces_nobody_who_came_meanwhile)

/* -- append -- */

static void body_appended_bytes_go_to_the_end_whatever_the_offset(struct ground *g)
{
    struct vhandle *h;
    uint64_t at = 0;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", EXTENDS, &h) == 0);
    TASK_ASSERT(put(h, 0, "45") == 0);
    TASK_ASSERT(put(h, 900, "67") == 0);
    TASK_ASSERT(vhandle_reserve(h, &at, 0) == 0 && at == 8);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01234567") && used(g, 8, 1));
    TASK_ASSERT(open_handle(&g->t, "/new", EXTENDS, &h) == 0);
    TASK_ASSERT(vhandle_is_hidden(h));
    TASK_ASSERT(put(h, 50, "ab") == 0 && put(h, 0, "cd") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/new", "abcd") && used(g, 12, 2));
}
ON_FRESH_GROUND(appended_bytes_go_to_the_end_whatever_the_offset)

static void body_two_who_append_lose_and_owe_nothing(struct ground *g)
{
    struct vhandle *a, *b;
    TASK_ASSERT(store(&g->t, "/log", REPLACE, "0") == 0);
    TASK_ASSERT(open_handle(&g->t, "/log", EXTENDS, &a) == 0);
    TASK_ASSERT(open_handle(&g->t, "/log", EXTENDS, &b) == 0);
    TASK_ASSERT(put(a, 0, "aa") == 0 && put(b, 0, "bb") == 0 && put(a, 0, "AA") == 0);
    TASK_ASSERT(used(g, 7, 1));
    TASK_ASSERT(vhandle_close(a, true) == 0 && vhandle_close(b, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/log", "0aabbAA") && used(g, 7, 1));
    TASK_ASSERT(WITH_PATH("/log", vfs_unlink(g->t.vfs, &path)) == 0 && used(g, 0, 0));
}
ON_FRESH_GROUND(two_who_append_lose_and_owe_nothing)

/* -- without temporary names -- */

static void body_without_temporary_names_a_handle_writes_in_place(struct ground *g)
{
    struct vhandle *h;
    g->t.policy.atomic_upload = false;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(!vhandle_is_hidden(h));
    TASK_ASSERT(put(h, 4, "45") == 0 && put(h, 0, "0123") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "012345"));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(used(g, 6, 1));
    TASK_ASSERT(put_once(&g->t, "/f", REWRITES, 0, "x") == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "x") && used(g, 1, 1));
    TASK_ASSERT(open_handle(&g->t, "/kept", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "half") == 0 && vhandle_close(h, false) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/kept", "half") && used(g, 5, 2));
    g->t.policy.keep_partial = false;
    TASK_ASSERT(open_handle(&g->t, "/gone", CREATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "half") == 0 && vhandle_close(h, false) == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/gone") && used(g, 5, 2));
}
ON_FRESH_GROUND(without_temporary_names_a_handle_writes_in_place)

/* -- others -- */

static void body_a_file_removed_meanwhile_is_stored_again(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "newer") == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_unlink(g->t.vfs, &path)) == 0 && used(g, 5, 0));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "newer") && used(g, 5, 1));
}
ON_FRESH_GROUND(a_file_removed_meanwhile_is_stored_again)

static void body_a_file_removed_under_a_handle_in_place_owes_nothing(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "old") == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == 0);
    TASK_ASSERT(put(h, 0, "longer") == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_unlink(g->t.vfs, &path)) == 0);
    TASK_ASSERT(put(h, 6, "again") == 0);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/f") && used(g, 0, 0));
}
ON_FRESH_GROUND(a_file_removed_under_a_handle_in_place_owes_nothing)

/* -- quota -- */

static void body_the_quota_holds_while_bytes_are_written(struct ground *g)
{
    struct vhandle *h;
    uint64_t at = 0;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(vhandle_reserve(h, &at, 1001) == -FERRY_EQUOTA);
    at = 996;
    TASK_ASSERT(put(h, at, "1234") == 0);
    TASK_ASSERT(put(h, 999, "12") == -FERRY_EQUOTA);
    TASK_ASSERT(put(h, 0, "1234") == 0 && used(g, 1000, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0 && used(g, 1000, 1));
    TASK_ASSERT(open_handle(&g->t, "/f", EXTENDS, &h) == 0);
    TASK_ASSERT(put(h, 0, "1") == -FERRY_EQUOTA);
    TASK_ASSERT(vhandle_close(h, true) == 0 && used(g, 1000, 1));
    TASK_ASSERT(quota_take(g->quota, 0, 9) == 0);
    TASK_ASSERT(open_handle(&g->t, "/g", CREATES, &h) == -FERRY_EQUOTA);
    TASK_ASSERT(tree_count(&g->t, "root", "") == 3);
}
ON_FRESH_GROUND(the_quota_holds_while_bytes_are_written)

static void body_an_offset_that_no_file_has_is_refused(struct ground *g)
{
    static const uint64_t offsets[] = {UINT64_MAX, (uint64_t)INT64_MAX + 1, INT64_MAX,
                                       INT64_MAX - 3};
    struct vhandle *h;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
        uint64_t at = offsets[i];
        TASK_ASSERT(vhandle_reserve(h, &at, 4) == -EFBIG);
        at = offsets[i];
        TASK_ASSERT(vhandle_reserve(h, &at, SIZE_MAX) == -EFBIG);
    }
    uint64_t last = INT64_MAX - 4;
    TASK_ASSERT(vhandle_reserve(h, &last, 4) == -FERRY_EQUOTA);
    TASK_ASSERT(vhandle_close(h, true) == 0 && used(g, 0, 1));
}
ON_FRESH_GROUND(an_offset_that_no_file_has_is_refused)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_appears_when_its_handle_is_closed),
        cmocka_unit_test(truncating_leaves_the_old_file_until_the_close),
        cmocka_unit_test(a_handle_that_is_given_up_leaves_the_old_file),
        cmocka_unit_test(the_policy_decides_whether_a_partial_is_kept),
        cmocka_unit_test(a_partial_ends_where_its_first_hole_begins),
        cmocka_unit_test(a_handle_that_is_freed_leaves_a_partial_too),
        cmocka_unit_test(what_was_lost_is_not_stored),
        cmocka_unit_test(what_was_reserved_and_is_not_there_is_not_stored),
        cmocka_unit_test(bytes_go_anywhere_and_a_hole_is_stored),
        cmocka_unit_test(an_empty_file_is_made),
        cmocka_unit_test(a_new_file_has_the_mode_that_was_asked_for),
        cmocka_unit_test(a_hidden_file_is_read_by_its_handle),
        cmocka_unit_test(what_is_there_is_changed_in_place),
        cmocka_unit_test(what_was_reserved_too_much_goes_back),
        cmocka_unit_test(a_file_that_is_not_there_is_not_made_unasked),
        cmocka_unit_test(requests_without_sense_are_refused),
        cmocka_unit_test(exclusive_refuses_whatever_is_there),
        cmocka_unit_test(exclusive_replaces_nobody_who_came_meanwhile),
        cmocka_unit_test(appended_bytes_go_to_the_end_whatever_the_offset),
        cmocka_unit_test(two_who_append_lose_and_owe_nothing),
        cmocka_unit_test(without_temporary_names_a_handle_writes_in_place),
        cmocka_unit_test(a_file_removed_meanwhile_is_stored_again),
        cmocka_unit_test(a_file_removed_under_a_handle_in_place_owes_nothing),
        cmocka_unit_test(the_quota_holds_while_bytes_are_written),
        cmocka_unit_test(an_offset_that_no_file_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
