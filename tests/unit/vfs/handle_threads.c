/* Sessions of one account on several workers change the same files by handles, by path, and by
 * removing them: in the end the ledger says what the tree holds. */
#include "handle_ground.h"

#define WORKERS 3
#define ROUNDS  60

struct crowd {
    struct tree t;
    struct quota *quota;
    _Atomic unsigned refused; /* others were in the way */
};

/* Whatever comes of it, but a failure that nobody's work explains. */
static void note(struct crowd *c, int r)
{
    static const int fine[] = {-ENOENT, -EEXIST, -FERRY_EQUOTA, -EIO};
    if (r == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        if (r == fine[i]) {
            c->refused++;
            return;
        }
    }
    (void)fprintf(stderr, "unexpected: %s\n", err_name(r));
    abort();
}

static void change(struct crowd *c, struct tree *t, unsigned i)
{
    const struct vattr cut = {.has_size = true, .size_bytes = 5 + i % 7};
    struct vhandle *h;
    struct vpath moved = vpath_of("/moved");
    note(c, put_once(t, "/log", EXTENDS, 0, "line"));
    note(c, put_once(t, "/f", CREATES, i % 9, "0123456789"));
    note(c, put_once(t, "/f", REWRITES, 0, i % 2 ? "odd" : "even"));
    note(c, put_once(t, "/claimed", CLAIMS, 0, "mine"));
    note(c, WITH_PATH("/f", vfs_set(t->vfs, &path, true, &cut)));
    note(c, WITH_PATH("/f", vfs_link(t->vfs, &path, &moved)));
    if (open_handle(t, "/log", EXTENDS, &h) == 0) {
        note(c, put(h, 0, "another"));
        note(c, WITH_PATH(i % 3 ? "/moved" : "/log", vfs_unlink(t->vfs, &path)));
        note(c, vhandle_set(h, &cut));
        note(c, vhandle_close(h, i % 2));
    }
    note(c, WITH_PATH("/f", vfs_rename_new(t->vfs, &path, &moved)));
    note(c, WITH_PATH("/claimed", vfs_unlink(t->vfs, &path)));
    vpath_done(&moved);
}

static void work(void *arg)
{
    struct crowd *c = arg;
    struct tree mine = c->t; /* but for its vfs */
    TASK_ASSERT(vfs_new(c->t.root, &c->t.rights, &c->t.policy, c->quota,
                        runtime_files_pool(runtime_self()), NULL, &mine.vfs) == 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        change(c, &mine, i);
    mine.vfs = vfs_free(mine.vfs);
}

static void count(const struct tree *t, uint64_t *ret_bytes, uint64_t *ret_files)
{
    ino_t linked = 0;
    struct stat st;
    DIR *dir = opendir(tree_path(t, "root"));
    TASK_ASSERT(dir);
    *ret_bytes = *ret_files = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        TASK_ASSERT(fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0);
        if (S_ISDIR(st.st_mode))
            continue;
        *ret_files += !vfs_name_is_reserved(bytes_str(e->d_name));
        *ret_bytes += st.st_ino == linked ? 0 : (uint64_t)st.st_size;
        linked = st.st_nlink > 1 ? st.st_ino : linked;
    }
    (void)closedir(dir);
}

static void crowd_on(const char *directory, bool atomic)
{
    struct crowd c = {0};
    uint64_t bytes, files, used_bytes, used_files;
    tree_init_in(&c.t, directory);
    c.t.policy.atomic_upload = atomic;
    TASK_ASSERT(rights_set(&c.t.rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
    TASK_ASSERT(vroot_open(tree_path(&c.t, "root"), VROOT_BENEATH, &c.t.root) == 0);
    TASK_ASSERT(quota_new(100000, 100, &c.quota) == 0);
    run_threaded(WORKERS, work, &c);
    count(&c.t, &bytes, &files);
    quota_used(c.quota, &used_bytes, &used_files);
    print_message("%ju bytes in %ju files, refused %u\n", (uintmax_t)bytes, (uintmax_t)files,
                  c.refused);
    assert_int_equal(used_bytes, bytes);
    assert_int_equal(used_files, files);
    assert_int_equal(tree_count(&c.t, "root", VFS_TEMP_PREFIX), 0);
    tree_done(&c.t);
    quota_unref(c.quota);
}

static void the_ledger_says_what_the_tree_holds(void **state)
{
    (void)state;
    for (int atomic = 0; atomic < 2; atomic++) {
        if (access("/dev/shm", W_OK) == 0)
            crowd_on("/dev/shm", atomic);
        crowd_on("/tmp", atomic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ledger_says_what_the_tree_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
