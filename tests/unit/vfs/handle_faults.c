/* The n-th allocation and the n-th system call fail, for all n, over what handles do: nothing
 * leaks, no old file is lost, and the ledger agrees with the tree. */
#include "handle_ground.h"

#define N_MAX  2000
#define MEMORY "/dev/shm"
#define DISK   "/var/tmp"

struct dialogue {
    struct tree t;
    struct quota *quota;
    enum fault_kind kind;
    int stored, claimed;
};

static int write_and_close(struct tree *t, const char *name, struct vhandle_request request,
                           const char *text)
{
    const struct vattr times = {.has_times = true, .has_mode = true, .mode = 0640};
    struct vstat st;
    struct vhandle *h;
    int r = open_handle(t, name, request, &h);
    if (r < 0)
        return r;
    r = put(h, 0, text);
    if (r == 0)
        r = vhandle_set(h, &times);
    if (r == 0)
        r = vhandle_stat(h, &st);
    if (r == 0)
        r = vhandle_sync(h);
    int closed = vhandle_close(h, r == 0);
    return r < 0 ? r : closed;
}

static void talk(struct dialogue *d)
{
    const struct vattr cut = {.has_size = true, .has_times = true, .size_bytes = 2};
    struct vhandle *h;
    struct vspace space;
    char target[8];
    struct tree *t = &d->t;
    struct vpath to = vpath_of("/second");
    int r = vroot_open(tree_path(t, "root"), VROOT_BENEATH, &t->root);
    if (r == 0)
        r = vfs_new(t->root, &t->rights, &t->policy, d->quota,
                    runtime_files_pool(runtime_self()), NULL, &t->vfs);
    if (r < 0) {
        vpath_done(&to);
        return;
    }
    d->stored = write_and_close(t, "/good", REWRITES, "new contents");
    d->claimed = write_and_close(t, "/claimed", CLAIMS, "claimed");
    r = write_and_close(t, "/in-place", UPDATES, "changed");
    r = write_and_close(t, "/in-place", EXTENDS, "+");
    r = write_and_close(t, "/in-place", READS, "");
    if (open_handle(t, "/broken", REWRITES, &h) == 0)
        (void)vhandle_free(h);
    r = WITH_PATH("/in-place", vfs_set(t->vfs, &path, true, &cut));
    r = WITH_PATH("/link", vfs_symlink(t->vfs, BYTES_LIT("good"), &path));
    r = WITH_PATH("/link", vfs_set(t->vfs, &path, false, &(struct vattr){.has_times = true}));
    r = WITH_PATH("/link", vfs_readlink(t->vfs, &path, target, sizeof(target)));
    r = WITH_PATH("/linked", vfs_link(t->vfs, &path, &to));
    r = WITH_PATH("/second", vfs_rename_new(t->vfs, &path, &to));
    r = WITH_PATH("/", vfs_space(t->vfs, &path, &space));
    (void)r;
    vpath_done(&to);
}

/* What the tree holds is what the ledger says; names of ours are no files. */
static bool ledger_agrees(const struct dialogue *d)
{
    uint64_t bytes = 0, files = 0, used_bytes = 0, used_files = 0;
    DIR *dir = opendir(tree_path(&d->t, "root"));
    struct stat st;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        TASK_ASSERT(fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0);
        if (S_ISDIR(st.st_mode))
            continue;
        files += !vfs_name_is_reserved(bytes_str(e->d_name));
        bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size / st.st_nlink : 0;
    }
    (void)closedir(dir);
    quota_used(d->quota, &used_bytes, &used_files);
    if (used_bytes != bytes || used_files != files)
        (void)fprintf(stderr, "%ju bytes in %ju files, but the ledger says %ju and %ju\n",
                      (uintmax_t)bytes, (uintmax_t)files, (uintmax_t)used_bytes,
                      (uintmax_t)used_files);
    return used_bytes == bytes && used_files == files;
}

static bool is_fine(const struct dialogue *d)
{
    const struct tree *t = &d->t;
    bool is_new = tree_holds(t, "root/good", "new contents");
    bool is_old = tree_holds(t, "root/good", "old contents, longer");
    bool is_claimed = tree_holds(t, "root/claimed", "claimed");
    return (is_new || (is_old && d->stored < 0)) &&
           (is_claimed || (d->claimed < 0 && !tree_has(t, "root/claimed"))) &&
           tree_holds(t, "root/linked", "linked") &&
           tree_count(t, "root", VFS_TEMP_PREFIX) <= 1;
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

static bool talk_with_failure(struct dialogue *d, const char *directory, uint64_t n)
{
    unsigned before = open_descriptors();
    tree_init_in(&d->t, directory);
    TASK_ASSERT(rights_set(&d->t.rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
    tree_file(&d->t, "root/good", "old contents, longer");
    tree_file(&d->t, "root/in-place", "0123456789");
    tree_file(&d->t, "root/linked", "linked");
    TASK_ASSERT(quota_new(10000, 100, &d->quota) == 0);
    TASK_ASSERT(quota_take(d->quota, 20 + 10 + 6, 3) == 0);
    d->stored = d->claimed = -EINVAL;
    fault_arm(d->kind, n);
    talk(d);
    bool hit = fault_count(d->kind) >= n;
    fault_arm(d->kind, 0);
    d->t.vfs = vfs_free(d->t.vfs);
    if (!is_fine(d) || !ledger_agrees(d)) {
        (void)fprintf(stderr, "wrong after failure %ju of kind %d: stored %s, claimed %s\n",
                      (uintmax_t)n, d->kind, err_name(d->stored), err_name(d->claimed));
        abort();
    }
    quota_unref(d->quota);
    tree_done(&d->t);
    TASK_ASSERT(open_descriptors() == before);
    return hit;
}

static void fail_each(void *arg)
{
    struct dialogue *d = arg;
    const char *const directories[] = {access(MEMORY, W_OK) == 0 ? MEMORY : DISK, DISK};
    for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
        uint64_t n = 1;
        while (n < N_MAX && talk_with_failure(d, directories[i], n))
            n++;
        TASK_ASSERT(n > 20 && n < N_MAX);
        TASK_ASSERT(d->stored == 0 && d->claimed == 0); /* the last time nothing failed */
    }
}

static void any_system_call_may_fail(void **state)
{
    (void)state;
    struct dialogue d = {.kind = FAULT_SYSCALL};
    run_deterministic(1, fail_each, &d);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    struct dialogue d = {.kind = FAULT_ALLOC};
    run_deterministic(1, fail_each, &d);
}

int main(void)
{
#ifndef FERRY_FAULTS
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_system_call_may_fail),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
