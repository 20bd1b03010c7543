/* Sessions that change one file at the same time: the ledger says what the tree holds. */
#include <pthread.h>

#include "check.h"
#include "ground.h"

/* "/kept" makes it seen when more goes back than "/f" cost. */
static void store_two(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/kept", REPLACE, "0123456789") == 0);
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "0123456789") == 0);
    TASK_ASSERT(used(g, 20, 2));
}

static void begin_two(struct ground *g, struct vupload_request request, struct vupload *u[2])
{
    for (int i = 0; i < 2; i++)
        TASK_ASSERT(begin(&g->t, "/f", request, &u[i]) == 0);
}

static void body_who_cut_a_file_together_give_its_bytes_back_once(struct ground *g)
{
    struct vupload *u[2];
    store_two(g);
    begin_two(g, FROM(2), u);
    for (int i = 0; i < 2; i++)
        TASK_ASSERT(vupload_commit(u[i], 2) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "01"));
    TASK_ASSERT(used(g, 12, 2));
}
ON_FRESH_GROUND(who_cut_a_file_together_give_its_bytes_back_once)

static void body_who_append_to_a_file_together_pay_for_it_once(struct ground *g)
{
    struct vupload *u[2];
    store_two(g);
    begin_two(g, APPENDED, u);
    for (int i = 0; i < 2; i++) {
        uint64_t at = vupload_offset(u[i]);
        TASK_ASSERT(vupload_reserve(u[i], 500) == 0);
        TASK_ASSERT(upload_write(u[i], &at, "abc") == 0);
        TASK_ASSERT(vupload_commit(u[i], at) == 0);
        TASK_ASSERT(i == 1 || used(g, 510, 2)); /* the other may still write that far */
    }
    TASK_ASSERT(tree_holds(&g->t, "root/f", "0123456789abc"));
    TASK_ASSERT(used(g, 23, 2));
}
ON_FRESH_GROUND(who_append_to_a_file_together_pay_for_it_once)

static void body_an_append_cuts_nothing_of_another_with_a_quota_or_without(struct ground *g)
{
    struct quota *const quotas[] = {g->quota, NULL};
    for (int i = 0; i < 2; i++) {
        struct vupload *u[2];
        g->t.vfs = vfs_free(g->t.vfs);
        vroot_unref(g->t.root);
        tree_serve(&g->t, quotas[i]);
        TASK_ASSERT(store(&g->t, "/f", REPLACE, "first") == 0);
        begin_two(g, APPENDED, u);
        uint64_t short_end = 5, long_end = 5;
        TASK_ASSERT(upload_write(u[0], &short_end, "12") == 0);
        TASK_ASSERT(upload_write(u[1], &long_end, "longer") == 0);
        TASK_ASSERT(vupload_commit(u[1], long_end) == 0);
        TASK_ASSERT(vupload_commit(u[0], short_end) == 0);
        TASK_ASSERT(tree_holds(&g->t, "root/f", "firstlonger"));
    }
}
ON_FRESH_GROUND(an_append_cuts_nothing_of_another_with_a_quota_or_without)

/* How "/f" loses its name while it is written. */
enum way { REMOVED, RENAMED_OVER, REPLACED_BY_UPLOAD };

static void take_name(struct ground *g, enum way way)
{
    struct vpath f = vpath_of("/f"), kept = vpath_of("/kept");
    switch (way) {
    case REMOVED:
        TASK_ASSERT(vfs_unlink(g->t.vfs, &f) == 0);
        break;
    case RENAMED_OVER:
        TASK_ASSERT(vfs_rename(g->t.vfs, &kept, &f) == 0);
        break;
    case REPLACED_BY_UPLOAD:
        TASK_ASSERT(store(&g->t, "/f", REPLACE, "") == 0);
        break;
    }
    vpath_done(&f);
    vpath_done(&kept);
}

static void
body_a_file_that_goes_while_it_is_written_gives_its_bytes_back_once(struct ground *g)
{
    static const unsigned files[] = {1, 1, 2};
    for (enum way way = REMOVED; way <= REPLACED_BY_UPLOAD; way++) {
        for (int cuts = 0; cuts < 2; cuts++) {
            struct vupload *u[2];
            store_two(g);
            begin_two(g, FROM(2), u);
            uint64_t at = 10;
            TASK_ASSERT(upload_write(u[0], &at, "more") == 0);
            take_name(g, way);
            TASK_ASSERT(used(g, 24, files[way])); /* the writers have it still */
            TASK_ASSERT(vupload_commit(u[0], cuts ? 2 : at) == 0);
            vupload_break(u[1], 2);
            TASK_ASSERT(used(g, 10, files[way]));
            struct vpath left = vpath_of("/f"), kept = vpath_of("/kept");
            (void)!vfs_unlink(g->t.vfs, &left);
            (void)!vfs_unlink(g->t.vfs, &kept);
            vpath_done(&left);
            vpath_done(&kept);
            TASK_ASSERT(used(g, 0, 0));
        }
    }
}
ON_FRESH_GROUND(a_file_that_goes_while_it_is_written_gives_its_bytes_back_once)

static void
body_a_file_that_is_cut_at_the_start_is_counted_for_who_still_writes_it(struct ground *g)
{
    struct vupload *u, *other;
    g->t.policy.atomic_upload = false;
    store_two(g);
    TASK_ASSERT(begin(&g->t, "/f", APPENDED, &other) == 0);
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(used(g, 20, 2));
    TASK_ASSERT(vupload_commit(u, 0) == 0);
    vupload_break(other, 10);
    TASK_ASSERT(used(g, 10, 2));
}
ON_FRESH_GROUND(a_file_that_is_cut_at_the_start_is_counted_for_who_still_writes_it)

/* The empty file that holds STOU's name is there for all to see. */
static void body_what_is_written_under_a_held_name_is_paid_for_until_it_goes(struct ground *g)
{
    for (int breaks = 0; breaks < 2; breaks++) {
        struct vupload *u;
        uint64_t at = 0;
        TASK_ASSERT(begin(&g->t, "/u", UNIQUE, &u) == 0);
        TASK_ASSERT(store(&g->t, "/u", APPENDED, "from another") == 0);
        TASK_ASSERT(used(g, 12, 1));
        TASK_ASSERT(upload_write(u, &at, "mine") == 0);
        if (breaks)
            vupload_break(u, 0);
        else
            TASK_ASSERT(vupload_commit(u, at) == 0);
        TASK_ASSERT(used(g, breaks ? 0 : 4, breaks ? 0 : 1));
        struct vpath path = vpath_of("/u");
        TASK_ASSERT(vfs_unlink(g->t.vfs, &path) == (breaks ? -ENOENT : 0));
        vpath_done(&path);
    }
}
ON_FRESH_GROUND(what_is_written_under_a_held_name_is_paid_for_until_it_goes)

static void body_an_append_that_ends_first_cuts_nothing_of_another(struct ground *g)
{
    struct vupload *first, *second;
    store_two(g);
    TASK_ASSERT(begin(&g->t, "/f", APPENDED, &first) == 0);
    TASK_ASSERT(begin(&g->t, "/f", APPENDED, &second) == 0);
    uint64_t first_at = vupload_offset(first), second_at = vupload_offset(second);
    TASK_ASSERT(upload_write(second, &second_at, "a long line") == 0);
    TASK_ASSERT(upload_write(first, &first_at, "short") == 0);
    TASK_ASSERT(vupload_commit(first, first_at) == 0);
    TASK_ASSERT(vupload_commit(second, second_at) == 0);
    struct vpath path = vpath_of("/f");
    struct vstat stat;
    TASK_ASSERT(vfs_stat(g->t.vfs, &path, true, &stat) == 0);
    vpath_done(&path);
    TASK_ASSERT(stat.size_bytes == second_at);
    TASK_ASSERT(used(g, second_at + 10, 2)); /* and the other of the two files */
}
ON_FRESH_GROUND(an_append_that_ends_first_cuts_nothing_of_another)

static pthread_barrier_t in_a_write;

/* As a job whose task was cancelled. It dallies, so that who does not wait for it is too early;
 * a test that waits holds however long it takes. */
static void *write_late(void *arg)
{
    struct vfile *file = arg;
    vfile_write_begin(file);
    (void)pthread_barrier_wait(&in_a_write);
    for (volatile unsigned i = 0; i < 20000000; i++)
        ;
    TASK_ASSERT(pwrite(vfile_fd(file), "late", 4, 3) == 4);
    vfile_write_end(file);
    vfile_unref(file);
    return NULL;
}

static void body_a_broken_upload_waits_for_the_write_that_is_under_way(struct ground *g)
{
    struct vupload *u;
    pthread_t thread;
    uint64_t at = 0;
    TASK_ASSERT(pthread_barrier_init(&in_a_write, NULL, 2) == 0);
    TASK_ASSERT(begin(&g->t, "/f", REPLACE, &u) == 0);
    TASK_ASSERT(upload_write(u, &at, "one") == 0);
    TASK_ASSERT(vupload_reserve(u, 7) == 0);
    TASK_ASSERT(pthread_create(&thread, NULL, write_late, vfile_ref(vupload_file(u))) == 0);
    (void)pthread_barrier_wait(&in_a_write);
    vupload_break(u, at);
    TASK_ASSERT(pthread_join(thread, NULL) == 0);
    TASK_ASSERT(used(g, 3, 0));
    struct vpath path = vpath_of("/f");
    struct vstat stat;
    bool is_partial;
    TASK_ASSERT(vfs_stat_resumable(g->t.vfs, &path, &stat, &is_partial) == 0);
    TASK_ASSERT(is_partial && stat.size_bytes == 3);
    vpath_done(&path);
    (void)pthread_barrier_destroy(&in_a_write);
}
ON_FRESH_GROUND(a_broken_upload_waits_for_the_write_that_is_under_way)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_cut_a_file_together_give_its_bytes_back_once),
        cmocka_unit_test(who_append_to_a_file_together_pay_for_it_once),
        cmocka_unit_test(an_append_cuts_nothing_of_another_with_a_quota_or_without),
        cmocka_unit_test(a_file_that_goes_while_it_is_written_gives_its_bytes_back_once),
        cmocka_unit_test(a_file_that_is_cut_at_the_start_is_counted_for_who_still_writes_it),
        cmocka_unit_test(what_is_written_under_a_held_name_is_paid_for_until_it_goes),
        cmocka_unit_test(an_append_that_ends_first_cuts_nothing_of_another),
        cmocka_unit_test(a_broken_upload_waits_for_the_write_that_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
