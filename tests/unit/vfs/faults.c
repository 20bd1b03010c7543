/* The n-th allocation and the n-th system call fail, for all n, over a dialogue with a
 * directory: nothing leaks, no old file is lost, no half file stands under a good name. */
#include "base/fault.h"
#include "check.h"
#include "tree.h"

#define N_MAX 2000 /* far more calls than the dialogue makes */

/* In memory, where an upload that fails on the loop is tried again in the pool, and on a disk.
 */
#define MEMORY "/dev/shm"
#define DISK   "/var/tmp"

struct dialogue {
    const char *directory;
    struct tree t;
    struct quota *quota;
    enum fault_kind kind;
    bool syncs;
    int stored; /* what the upload over the good file answered */
    int renamed;
};

static void upload(struct dialogue *d)
{
    struct vupload *u = NULL;
    d->stored = begin(&d->t, "/good", REPLACE, &u);
    if (d->stored < 0)
        return;
    uint64_t at = 0;
    (void)upload_write(u, &at, "new contents");
    d->stored = vupload_commit(u, at);
}

static void list(struct vfs *v)
{
    struct vdir *dir = NULL;
    const struct ventry *all = NULL;
    if (WITH_PATH("/", vfs_dir_open(v, &path, &dir)) < 0)
        return;
    int n;
    do
        n = vdir_next(dir, &all);
    while (n > 0);
    (void)vdir_close(dir);
}

static void read_good(struct vfs *v)
{
    struct vfile *f = NULL;
    if (WITH_PATH("/good", vfs_open(v, &path, &f)) < 0)
        return;
    (void)vfile_close(f);
}

static void talk(struct dialogue *d)
{
    struct vstat st;
    bool partial;
    int r = vroot_open(tree_path(&d->t, "root"), VROOT_BENEATH, &d->t.root);
    if (r < 0)
        return;
    r = vfs_new(d->t.root, &d->t.rights, &d->t.policy, d->quota,
                runtime_files_pool(runtime_self()), NULL, &d->t.vfs);
    if (r < 0)
        return;
    struct vfs *v = d->t.vfs;
    struct vpath to = vpath_of("/moved");
    upload(d);
    r = break_after(&d->t, "/broken", REPLACE, "first half,");
    r = WITH_PATH("/broken", vfs_stat_resumable(v, &path, &st, &partial));
    r = store(&d->t, "/broken", TOLD, "second half");
    r = store(&d->t, "/unique", UNIQUE, "unique");
    list(v);
    read_good(v);
    d->renamed = WITH_PATH("/old", vfs_rename(v, &path, &to));
    r = WITH_PATH("/dir", vfs_mkdir(v, &path));
    r = WITH_PATH("/dir", vfs_chmod(v, &path, 0700));
    r = WITH_PATH("/dir", vfs_set_mtime(v, &path, 0));
    r = WITH_PATH("/dir", vfs_rmdir(v, &path));
    r = WITH_PATH("/unique", vfs_unlink(v, &path));
    (void)r;
    vpath_done(&to);
}

/* Either of two whole files, or nothing. */
static bool is_whole(const struct tree *t, const char *name, const char *first,
                     const char *second)
{
    return !tree_has(t, name) || tree_holds(t, name, first) || tree_holds(t, name, second);
}

static void check(const struct dialogue *d, uint64_t n)
{
    const struct tree *t = &d->t;
    bool is_new = tree_holds(t, "root/good", "new contents");
    bool is_old = tree_holds(t, "root/good", "old contents, longer");
    bool fine = (is_new || (is_old && d->stored < 0)) &&
                (tree_holds(t, "root/old", "old") || tree_holds(t, "root/moved", "old")) &&
                (d->renamed < 0 || tree_has(t, "root/moved")) &&
                is_whole(t, "root/broken", "first half,second half", "second half") &&
                is_whole(t, "root/unique", "unique", "") &&
                /* one failed removal can leave one name */
                tree_count(t, "root", VFS_TEMP_PREFIX) <= 1;
    if (fine)
        return;
    (void)fprintf(stderr, "wrong after failure %ju of kind %d: stored %s, renamed %s\n",
                  (uintmax_t)n, d->kind, err_name(d->stored), err_name(d->renamed));
    abort();
}

static unsigned open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned count = 0;
    while (d && readdir(d))
        count++;
    (void)closedir(d);
    return count;
}

static bool talk_with_failure(struct dialogue *d, uint64_t n)
{
    unsigned before = open_descriptors();
    tree_init_in(&d->t, d->directory);
    d->t.policy.sync = d->syncs ? VFS_SYNC_FILE : VFS_SYNC_NONE;
    tree_file(&d->t, "root/good", "old contents, longer");
    tree_file(&d->t, "root/old", "old");
    TASK_ASSERT(quota_new(10000, 100, &d->quota) == 0);
    d->stored = d->renamed = -EINVAL;
    fault_arm(d->kind, n);
    talk(d);
    bool hit = fault_count(d->kind) >= n;
    fault_arm(d->kind, 0);
    d->t.vfs = vfs_free(d->t.vfs);
    check(d, n);
    quota_unref(d->quota);
    tree_done(&d->t);
    TASK_ASSERT(open_descriptors() == before);
    return hit;
}

static void fail_each(void *arg)
{
    struct dialogue *d = arg;
    uint64_t n = 1;
    while (n < N_MAX && talk_with_failure(d, n))
        n++;
    TASK_ASSERT(n > 20 && n < N_MAX);
    TASK_ASSERT(d->stored == 0 && d->renamed == 0); /* the last time nothing failed */
}

static void on_memory_and_disk(task_fn *body, struct dialogue d)
{
    d.directory = access(MEMORY, W_OK) == 0 ? MEMORY : DISK;
    run_deterministic(1, body, &d);
    d.directory = DISK;
    run_deterministic(1, body, &d);
}

static void any_system_call_may_fail(void **state)
{
    (void)state;
    on_memory_and_disk(fail_each, (struct dialogue){.kind = FAULT_SYSCALL});
    on_memory_and_disk(fail_each, (struct dialogue){.kind = FAULT_SYSCALL, .syncs = true});
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    on_memory_and_disk(fail_each, (struct dialogue){.kind = FAULT_ALLOC});
}

/* -- one step at a time: what a single failure must not leave or lose -- */

static bool ledger_is(struct quota *q, uint64_t bytes, uint64_t files)
{
    uint64_t used_bytes = 0, used_files = 0;
    quota_used(q, &used_bytes, &used_files);
    return used_bytes == bytes && used_files == files;
}

/* Begins with the n-th call failing; true: it was hit. */
static bool begin_with_failure(struct dialogue *d, struct vupload_request request, uint64_t n,
                               int *ret_result)
{
    struct vupload *u = NULL;
    fault_arm(d->kind, n);
    *ret_result = begin(&d->t, "/f", request, &u);
    bool hit = fault_count(d->kind) >= n;
    fault_arm(d->kind, 0);
    if (*ret_result == 0)
        vupload_break(u, 0);
    return hit;
}

static void begin_fails(void *arg)
{
    struct dialogue *d = arg;
    const struct vupload_request requests[] = {REPLACE, UNIQUE, APPENDED};
    tree_init_in(&d->t, d->directory);
    TASK_ASSERT(quota_new(1000, 100, &d->quota) == 0);
    tree_serve(&d->t, d->quota);
    for (size_t i = 0; i < 2 * ARRAY_LEN(requests); i++) {
        int r = 0;
        d->t.policy.atomic_upload = i % 2;
        for (uint64_t n = 1; begin_with_failure(d, requests[i / 2], n, &r); n++) {
            TASK_ASSERT(tree_count(&d->t, "root", "") == 2);
            TASK_ASSERT(ledger_is(d->quota, 0, 0));
            TASK_ASSERT(n < N_MAX);
        }
        TASK_ASSERT(r == 0);
    }
    quota_unref(d->quota);
    tree_done(&d->t);
}

static void a_begin_that_fails_leaves_nothing(void **state)
{
    (void)state;
    on_memory_and_disk(begin_fails, (struct dialogue){.kind = FAULT_SYSCALL});
    on_memory_and_disk(begin_fails, (struct dialogue){.kind = FAULT_ALLOC});
}

static void resuming_fails(void *arg)
{
    struct dialogue *d = arg;
    int r = 0;
    tree_init_in(&d->t, d->directory);
    TASK_ASSERT(quota_new(1000, 100, &d->quota) == 0);
    tree_serve(&d->t, d->quota);
    TASK_ASSERT(break_after(&d->t, "/f", REPLACE, "0123456789") == 0);
    for (uint64_t n = 1; begin_with_failure(d, FROM(4), n, &r) && r < 0; n++) {
        TASK_ASSERT(tree_count(&d->t, "root", VFS_PART_PREFIX) == 1);
        TASK_ASSERT(tree_count(&d->t, "root", "") == 3);
        TASK_ASSERT(ledger_is(d->quota, 10, 0));
    }
    TASK_ASSERT(r == 0);
    quota_unref(d->quota);
    tree_done(&d->t);
}

static void a_partial_survives_a_resume_that_fails(void **state)
{
    (void)state;
    on_memory_and_disk(resuming_fails, (struct dialogue){.kind = FAULT_SYSCALL});
}

/* For how many n a failed commit keeps what was written. */
static unsigned commits_kept(struct dialogue *d)
{
    unsigned kept = 0;
    for (uint64_t n = 1; n < N_MAX; n++) {
        struct vupload *u = NULL;
        uint64_t at = 0;
        TASK_ASSERT(begin(&d->t, "/f", REPLACE, &u) == 0);
        TASK_ASSERT(upload_write(u, &at, "contents") == 0);
        fault_arm(FAULT_SYSCALL, n);
        int r = vupload_commit(u, at);
        bool hit = fault_count(FAULT_SYSCALL) >= n;
        fault_arm(FAULT_SYSCALL, 0);
        unsigned now = tree_count(&d->t, "root", VFS_PART_PREFIX);
        TASK_ASSERT(r < 0 || tree_holds(&d->t, "root/f", "contents"));
        TASK_ASSERT(r < 0 || now == 0);
        kept += now;
        r = WITH_PATH("/f", vfs_unlink(d->t.vfs, &path)); /* the file or the partial */
        if (!hit)
            break;
    }
    return kept;
}

static void compare_commits(void *arg)
{
    struct dialogue *d = arg;
    tree_init_in(&d->t, d->directory);
    tree_serve(&d->t, NULL);
    unsigned kept = commits_kept(d);
    d->t.policy.sync = VFS_SYNC_FILE;
    TASK_ASSERT(kept > 0 && commits_kept(d) == kept); /* none for the fsync */
    tree_done(&d->t);
}

static void what_could_not_be_synced_is_not_kept(void **state)
{
    (void)state;
    struct dialogue d = {.kind = FAULT_SYSCALL, .directory = DISK};
    run_deterministic(1, compare_commits, &d);
}

int main(void)
{
#ifndef FERRY_FAULTS
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_system_call_may_fail),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(a_begin_that_fails_leaves_nothing),
        cmocka_unit_test(a_partial_survives_a_resume_that_fails),
        cmocka_unit_test(what_could_not_be_synced_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
