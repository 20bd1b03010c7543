/* A mount whose file system has died (its FUSE server was killed): every operation on it and
 * below it is an error, none is a crash or a wait, and what lies beside it works. */

#include "check.h"
#include "stoppable_mount.h"
#include "tree.h"

static int mount_and_die(const struct tree *t)
{
    static char backing[512], place[512];
    (void)snprintf(backing, sizeof(backing), "%s", tree_path(t, "outside"));
    (void)snprintf(place, sizeof(place), "%s", tree_path(t, "root/dead"));
    pid_t server = stoppable_mount(backing, place);
    stoppable_kill(server);
    return server > 0 ? 0 : -1;
}

/* -- what is tried -- */

static int list(struct vfs *v, const struct vpath *path)
{
    struct vdir *d = NULL;
    int r = vfs_dir_open(v, path, &d);
    if (r == 0)
        (void)vdir_close(d);
    return r;
}

static int open_and_close(struct vfs *v, const struct vpath *path)
{
    struct vfile *f = NULL;
    int r = vfs_open(v, path, &f);
    if (r == 0)
        (void)vfile_close(f);
    return r;
}

static void expect_no_contents(struct tree *t, const char *text)
{
    struct vpath path = vpath_of(text);
    struct vstat st;
    TASK_ASSERT(vfs_stat(t->vfs, &path, true, &st) == -ENOTCONN);
    TASK_ASSERT(open_and_close(t->vfs, &path) == -ENOTCONN);
    TASK_ASSERT(list(t->vfs, &path) == -ENOTCONN);
    TASK_ASSERT(store(t, text, REPLACE, "new") == -ENOTCONN);
    TASK_ASSERT(store(t, text, APPENDED, "new") == -ENOTCONN);
    TASK_ASSERT(vfs_chmod(t->vfs, &path, 0700) == -ENOTCONN);
    TASK_ASSERT(vfs_set_mtime(t->vfs, &path, 1000000) == -ENOTCONN);
    vpath_done(&path);
}

static void expect_names_stay(struct tree *t, const char *text)
{
    struct vpath path = vpath_of(text), beside = vpath_of("/file"), moved = vpath_of("/moved");
    TASK_ASSERT(vfs_mkdir(t->vfs, &path) < 0);
    TASK_ASSERT(vfs_rmdir(t->vfs, &path) < 0);
    TASK_ASSERT(vfs_unlink(t->vfs, &path) < 0);
    TASK_ASSERT(vfs_rename(t->vfs, &path, &moved) < 0);
    TASK_ASSERT(vfs_rename(t->vfs, &beside, &path) < 0);
    vpath_done(&path);
    vpath_done(&beside);
    vpath_done(&moved);
}

static void use_dead_mount(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    expect_no_contents(t, "/dead");
    expect_no_contents(t, "/dead/secret");
    expect_no_contents(t, "/link");
    expect_names_stay(t, "/dead");
    expect_names_stay(t, "/dead/secret");
    TASK_ASSERT(WITH_PATH("/link", vfs_unlink(t->vfs, &path)) == 0); /* it lies beside */
    /* the listing of what holds it, and its neighbour */
    TASK_ASSERT(WITH_PATH("/", list(t->vfs, &path)) == 0);
    TASK_ASSERT(WITH_PATH("/file", open_and_close(t->vfs, &path)) == 0);
    TASK_ASSERT(store(t, "/other", REPLACE, "new") == 0);
    TASK_ASSERT(tree_holds(t, "root/file", "beside") && tree_holds(t, "root/other", "new"));
    TASK_ASSERT(tree_count(t, "root", ".ferry") == 0);
}

static void on_a_dead_mount_everything_is_an_error_and_beside_it_nothing(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    tree_file(&t, "outside/secret", "secret");
    tree_file(&t, "root/file", "beside");
    tree_dir(&t, "root/dead");
    tree_link(&t, "dead/secret", "root/link");
    bool is_mounted = mount_and_die(&t) == 0;
    if (is_mounted)
        run_threaded(1, use_dead_mount, &t);
    stoppable_unmount(tree_path(&t, "root/dead"));
    tree_done(&t);
    if (!is_mounted) {
        print_message("skipped: no FUSE here\n");
        skip();
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    stoppable_find(argv[0]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_dead_mount_everything_is_an_error_and_beside_it_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
