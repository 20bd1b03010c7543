/* A directory is swapped with a link to the outside, over and over, while it is used. */
#include <pthread.h>
#include <stdatomic.h>

#include "handle_ground.h"

/* Refusals are cheap and happen most: enough of both, and an end in any case. */
#define INSIDE_MIN 1000
#define ROUNDS_MIN 1000
#define ROUNDS_MAX 10000

struct race {
    struct tree t;
    int root;
    _Atomic bool stops;
    _Atomic unsigned swaps;
    unsigned inside, refused;
};

static void *swap(void *arg)
{
    struct race *r = arg;
    while (!r->stops) {
        TASK_ASSERT(renameat2(r->root, "swap", r->root, "link", RENAME_EXCHANGE) == 0);
        r->swaps++;
    }
    return NULL;
}

/* Any of these: inside, or refused in one of the ways of a tree that moves. */
static void note(struct race *r, int result)
{
    static const int fine[] = {-EXDEV, -ENOENT, -EEXIST, -ENOTDIR, -EBUSY, -ENOTEMPTY};
    if (result >= 0) {
        r->inside++;
        return;
    }
    r->refused += result == -EXDEV;
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        if (result == fine[i])
            return;
    }
    (void)fprintf(stderr, "unexpected: %s\n", err_name(result));
    abort();
}

static void read_through(struct race *r)
{
    struct vfile *f = NULL;
    char data[16];
    int result = WITH_PATH("/swap/file", vfs_open(r->t.vfs, &path, &f));
    note(r, result);
    if (result < 0)
        return;
    TASK_ASSERT(pread(vfile_fd(f), data, sizeof(data), 0) == 6);
    TASK_ASSERT(memcmp(data, "inside", 6) == 0);
    (void)vfile_close(f);
}

static void list_through(struct race *r)
{
    struct vdir *d = NULL;
    const struct ventry *all = NULL;
    int result = WITH_PATH("/swap", vfs_dir_open(r->t.vfs, &path, &d));
    note(r, result);
    if (result < 0)
        return;
    int n = vdir_next(d, &all);
    for (int i = 0; i < n; i++)
        TASK_ASSERT(strcmp(all[i].name, "secret") != 0);
    (void)vdir_close(d);
}

static void handle_through(struct race *r, const struct vpath *from, const struct vpath *to)
{
    const struct vattr attr = {.has_mode = true, .has_times = true, .mode = 0600};
    const struct vattr size = {.has_size = true, .size_bytes = 6};
    note(r, put_once(&r->t, "/swap/new", REWRITES, 0, "new"));
    note(r, put_once(&r->t, "/swap/file", UPDATES, 0, "inside"));
    note(r, WITH_PATH("/swap/file", vfs_set(r->t.vfs, &path, false, &attr)));
    note(r, WITH_PATH("/swap/file", vfs_set(r->t.vfs, &path, true, &size)));
    note(r, vfs_link(r->t.vfs, from, to));
    note(r, vfs_unlink(r->t.vfs, to));
    note(r, vfs_symlink(r->t.vfs, BYTES_LIT("../outside/secret"), to));
    note(r, vfs_unlink(r->t.vfs, to));
    note(r, vfs_rename_new(r->t.vfs, from, to));
    note(r, vfs_unlink(r->t.vfs, to));
    note(r, vfs_unlink(r->t.vfs, from));
}

static void change_through(struct race *r)
{
    struct vpath from = vpath_of("/swap/new"), to = vpath_of("/swap/moved");
    note(r, store(&r->t, "/swap/new", REPLACE, "new"));
    note(r, store(&r->t, "/swap/file", FROM(6), ""));
    note(r, vfs_rename(r->t.vfs, &from, &to));
    note(r, vfs_unlink(r->t.vfs, &to));
    note(r, vfs_unlink(r->t.vfs, &from));
    note(r, WITH_PATH("/swap/dir", vfs_mkdir(r->t.vfs, &path)));
    note(r, WITH_PATH("/swap/dir", vfs_rmdir(r->t.vfs, &path)));
    note(r, WITH_PATH("/swap/file", vfs_chmod(r->t.vfs, &path, 0640)));
    note(r, WITH_PATH("/swap/file", vfs_set_mtime(r->t.vfs, &path, 1)));
    note(r, vfs_unlink(r->t.vfs, &to));
    handle_through(r, &from, &to);
    vpath_done(&from);
    vpath_done(&to);
}

static void use(void *arg)
{
    struct race *r = arg;
    pthread_t thread;
    tree_serve(&r->t, NULL);
    TASK_ASSERT(rights_set(&r->t.rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
    TASK_ASSERT(pthread_create(&thread, NULL, swap, r) == 0);
    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        if (i >= ROUNDS_MIN && r->inside >= INSIDE_MIN)
            break;
        read_through(r);
        list_through(r);
        change_through(r);
    }
    r->stops = true;
    TASK_ASSERT(pthread_join(thread, NULL) == 0);
    r->t.vfs = vfs_free(r->t.vfs);
}

static void a_directory_that_becomes_a_link_leads_nowhere(void **state)
{
    (void)state;
    struct race r = {0};
    struct stat st, outside;
    tree_init_in(&r.t, "/tmp"); /* most likely a disk, where names are looked up in earnest */
    tree_file(&r.t, "outside/file", "secret");
    tree_file(&r.t, "outside/secret", "secret");
    tree_dir(&r.t, "root/swap");
    tree_file(&r.t, "root/swap/file", "inside");
    tree_link(&r.t, "../outside", "root/link");
    r.root = open(tree_path(&r.t, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(stat(tree_path(&r.t, "outside"), &outside), 0);
    run_deterministic(1, use, &r);
    /* no name came, even for a moment */
    assert_int_equal(stat(tree_path(&r.t, "outside"), &st), 0);
    assert_memory_equal(&st.st_mtim, &outside.st_mtim, sizeof(st.st_mtim));
    assert_true(tree_holds(&r.t, "outside/file", "secret"));
    assert_int_equal(tree_count(&r.t, "outside", ""), 4);
    assert_int_equal(stat(tree_path(&r.t, "outside/file"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    assert_true(st.st_mtim.tv_sec > 1);
    (void)close(r.root);
    print_message("%u swaps: %u inside, %u refused\n", r.swaps, r.inside, r.refused);
    tree_done(&r.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_that_becomes_a_link_leads_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
