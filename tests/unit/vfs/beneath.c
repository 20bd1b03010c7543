/* Hostile paths: what each operation answers to each, and that nothing outside changes. */
#include "base/limits.h"
#include "handle_ground.h"
#include "hostile_tree.h"

enum act {
    STAT,
    LSTAT,
    OPEN,
    LIST,
    STORE,
    APPEND,
    MKDIR,
    RMDIR,
    UNLINK,
    RENAME_FROM,
    RENAME_TO,
    CHMOD,
    MTIME,
    /* by a handle, and what else SFTP asks */
    HANDLE_READ,
    HANDLE_UPDATE,
    HANDLE_REWRITE,
    HANDLE_CLAIM,
    SET,
    SET_LINK,
    SET_SIZE,
    SYMLINK,
    LINK_FROM,
    LINK_TO,
    READLINK,
    RENAME_NEW,
    SPACE,
    ACT_COUNT
};

#define ALL(e)                                                                                 \
    {                                                                                          \
        e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e           \
    }

/* In the order of enum act. */
#define REGULAR                                                                                \
    {                                                                                          \
        0, 0, 0, ENOTDIR, 0, 0, EEXIST, ENOTDIR, 0, 0, 0, 0, 0, 0, 0, 0, EEXIST, 0, 0, 0,      \
            EEXIST, 0, EEXIST, EINVAL, EEXIST, 0                                               \
    }
#define LINK_IN                                                                                \
    {                                                                                          \
        0, 0, 0, ENOTDIR, 0, 0, EEXIST, ENOTDIR, 0, 0, 0, 0, 0, 0, 0, 0, EEXIST, 0, 0, 0,      \
            EEXIST, FERRY_ENOTREG, EEXIST, 0, EEXIST, 0                                        \
    }
#define ROOT                                                                                   \
    {                                                                                          \
        0, 0, EISDIR, 0, EISDIR, EISDIR, EEXIST, EPERM, EISDIR, EPERM, EPERM, EPERM, 0,        \
            EISDIR, EISDIR, EISDIR, EISDIR, EPERM, 0, EISDIR, EEXIST, EPERM, EPERM, EINVAL,    \
            EPERM, 0                                                                           \
    }
#define DIRECTORY                                                                              \
    {                                                                                          \
        0, 0, EISDIR, 0, EISDIR, EISDIR, EEXIST, ENOTEMPTY, EISDIR, 0, EISDIR, 0, 0, EISDIR,   \
            EISDIR, EISDIR, EEXIST, 0, 0, EISDIR, EEXIST, EISDIR, EEXIST, EINVAL, EEXIST, 0    \
    }
#define NOTHING                                                                                \
    {                                                                                          \
        ENOENT, ENOENT, ENOENT, ENOENT, 0, 0, 0, ENOENT, ENOENT, ENOENT, 0, ENOENT, ENOENT,    \
            ENOENT, ENOENT, 0, 0, ENOENT, ENOENT, ENOENT, 0, ENOENT, 0, ENOENT, 0, ENOENT      \
    }
/* The link itself can be looked at, removed, moved and replaced; never what is behind it. */
#define LINK(e)                                                                                \
    {                                                                                          \
        e, 0, e, e, e, e, EEXIST, ENOTDIR, 0, 0, 0, e, e, e, e, e, EEXIST, e, 0, e, EEXIST,    \
            FERRY_ENOTREG, EEXIST, 0, EEXIST, e                                                \
    }
#define LINK_TO_DIR                                                                            \
    {                                                                                          \
        0, 0, EISDIR, 0, EISDIR, EISDIR, EEXIST, ENOTDIR, 0, 0, 0, 0, 0, EISDIR, EISDIR,       \
            EISDIR, EEXIST, 0, 0, EISDIR, EEXIST, FERRY_ENOTREG, EEXIST, 0, EEXIST, 0          \
    }
#define LINK_TO_NONE                                                                           \
    {                                                                                          \
        ENOENT, 0, ENOENT, ENOENT, 0, 0, EEXIST, ENOTDIR, 0, 0, 0, ENOENT, ENOENT, ENOENT,     \
            ENOENT, 0, EEXIST, ENOENT, 0, ENOENT, EEXIST, FERRY_ENOTREG, EEXIST, 0, EEXIST,    \
            ENOENT                                                                             \
    }
#define SPECIAL                                                                                \
    {                                                                                          \
        0, 0, FERRY_ENOTREG, FERRY_ENOTREG, FERRY_ENOTREG, FERRY_ENOTREG, EEXIST, ENOTDIR, 0,  \
            0, 0, FERRY_ENOTREG, FERRY_ENOTREG, FERRY_ENOTREG, FERRY_ENOTREG, FERRY_ENOTREG,   \
            EEXIST, FERRY_ENOTREG, FERRY_ENOTREG, FERRY_ENOTREG, EEXIST, FERRY_ENOTREG,        \
            EEXIST, EINVAL, EEXIST, 0                                                          \
    }

static const int answers[HOSTILE_KIND_COUNT][ACT_COUNT] = {
    [HOSTILE_FILE] = REGULAR,
    [HOSTILE_LINK_IN] = LINK_IN,
    [HOSTILE_ROOT] = ROOT,
    [HOSTILE_DIRECTORY] = DIRECTORY,
    [HOSTILE_LINK_TO_DIR] = LINK_TO_DIR,
    [HOSTILE_NONE] = NOTHING,
    [HOSTILE_LINK_TO_NONE] = LINK_TO_NONE,
    [HOSTILE_UNDER_NONE] = ALL(ENOENT),
    [HOSTILE_UNDER_FILE] = ALL(ENOTDIR),
    [HOSTILE_LINK_OUT] = LINK(EXDEV),
    [HOSTILE_OUT] = ALL(EXDEV),
    [HOSTILE_LINK_LOOP] = LINK(ELOOP),
    [HOSTILE_UNDER_LOOP] = ALL(ELOOP),
    [HOSTILE_SPECIAL] = SPECIAL,
    [HOSTILE_LINK_TO_SPECIAL] = LINK(FERRY_ENOTREG),
};

/* stat of a link to a FIFO is that of the FIFO. */
static int answer(enum hostile_kind kind, enum act act)
{
    if (kind == HOSTILE_LINK_TO_SPECIAL && (act == STAT || act == SPACE))
        return 0;
    return answers[kind][act];
}

static int list(struct vfs *v, const struct vpath *path)
{
    struct vdir *d = NULL;
    const struct ventry *entries = NULL;
    int r = vfs_dir_open(v, path, &d);
    if (r < 0)
        return r;
    r = vdir_next(d, &entries);
    (void)vdir_close(d);
    return r < 0 ? r : 0;
}

static int open_and_read(struct vfs *v, const struct vpath *path)
{
    struct vfile *f = NULL;
    char data[16];
    int r = vfs_open(v, path, &f);
    if (r < 0)
        return r;
    ssize_t n = pread(vfile_fd(f), data, sizeof(data), 0);
    TASK_ASSERT(n == (ssize_t)strlen("inside") && memcmp(data, "inside", (size_t)n) == 0);
    (void)vfile_close(f);
    return 0;
}

static int handle(struct tree *t, const struct vpath *path, struct vhandle_request request)
{
    struct vhandle *h = NULL;
    struct vattr attr = {.has_size = request.writes, .has_times = true, .size_bytes = 1};
    int r = open_handle(t, path->text, request, &h);
    if (r < 0)
        return r;
    TASK_ASSERT(!request.writes || put(h, 0, "evil") == 0);
    TASK_ASSERT(vhandle_set(h, &attr) == 0);
    return vhandle_close(h, true);
}

static int perform_for_sftp(struct tree *t, enum act act, const struct vpath *path)
{
    struct vpath other = vpath_of("/other"), moved = vpath_of("/moved");
    struct vattr attr = {.has_mode = act == SET, .has_times = true, .mode = 0700};
    const struct vattr cut = {.has_size = true, .size_bytes = 1};
    struct vspace space;
    char target[8];
    int r = -EINVAL;
    switch ((unsigned)act) { /* some of them */
    case HANDLE_READ:
        r = handle(t, path, READS);
        break;
    case HANDLE_UPDATE:
        r = handle(t, path, UPDATES);
        break;
    case HANDLE_REWRITE:
        r = handle(t, path, REWRITES);
        break;
    case HANDLE_CLAIM:
        r = handle(t, path, CLAIMS);
        break;
    case SET:
    case SET_LINK:
        r = vfs_set(t->vfs, path, act == SET, &attr);
        break;
    case SET_SIZE:
        r = vfs_set(t->vfs, path, true, &cut);
        break;
    case SYMLINK:
        r = vfs_symlink(t->vfs, BYTES_LIT("../outside/new"), path);
        break;
    case LINK_FROM:
        r = vfs_link(t->vfs, path, &moved);
        break;
    case LINK_TO:
        r = vfs_link(t->vfs, &other, path);
        break;
    case READLINK:
        r = vfs_readlink(t->vfs, path, target, sizeof(target));
        break;
    case RENAME_NEW:
        r = vfs_rename_new(t->vfs, &other, path);
        break;
    case SPACE:
        r = vfs_space(t->vfs, path, &space);
        break;
    default:
        break;
    }
    vpath_done(&other);
    vpath_done(&moved);
    return r;
}

static int perform(struct tree *t, enum act act, const struct vpath *path)
{
    struct vpath other = vpath_of("/other"), moved = vpath_of("/moved");
    struct vstat st;
    int r = -EINVAL;
    switch ((unsigned)act) {
    case STAT:
        r = vfs_stat(t->vfs, path, true, &st);
        break;
    case LSTAT:
        r = vfs_stat(t->vfs, path, false, &st);
        break;
    case OPEN:
        r = open_and_read(t->vfs, path);
        break;
    case LIST:
        r = list(t->vfs, path);
        break;
    case STORE:
        r = store(t, path->text, REPLACE, "evil");
        break;
    case APPEND:
        r = store(t, path->text, APPENDED, "evil");
        break;
    case MKDIR:
        r = vfs_mkdir(t->vfs, path);
        break;
    case RMDIR:
        r = vfs_rmdir(t->vfs, path);
        break;
    case UNLINK:
        r = vfs_unlink(t->vfs, path);
        break;
    case RENAME_FROM:
        r = vfs_rename(t->vfs, path, &moved);
        break;
    case RENAME_TO:
        r = vfs_rename(t->vfs, &other, path);
        break;
    case CHMOD:
        r = vfs_chmod(t->vfs, path, 0700);
        break;
    case MTIME:
        r = vfs_set_mtime(t->vfs, path, 1000000);
        break;
    default:
        r = perform_for_sftp(t, act, path);
        break;
    }
    vpath_done(&other);
    vpath_done(&moved);
    return r;
}

/* A tree for each answer, since an operation that succeeds changes it. */
static void expect(const char *path_text, enum act act, int expected_errno, bool in_root)
{
    struct tree t;
    char before[HOSTILE_TEXT], after[HOSTILE_TEXT];
    tree_init(&t);
    hostile_fill_outside(t.base);
    hostile_fill_root(t.base);
    TASK_ASSERT(vroot_open(tree_path(&t, "root"), in_root ? VROOT_IN_ROOT : VROOT_BENEATH,
                           &t.root) == 0);
    TASK_ASSERT(vfs_new(t.root, &t.rights, &t.policy, NULL, runtime_files_pool(runtime_self()),
                        NULL, &t.vfs) == 0);
    TASK_ASSERT(rights_set(&t.rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
    hostile_snapshot(t.base, before);
    struct vpath path = vpath_of(path_text);
    int r = perform(&t, act, &path);
    if (r != -expected_errno) {
        (void)fprintf(stderr, "%s, operation %d: %s instead of %s\n", path_text, act,
                      err_name(r), err_name(-expected_errno));
        abort();
    }
    vpath_done(&path);
    hostile_snapshot(t.base, after);
    if (strcmp(before, after) != 0) {
        (void)fprintf(stderr, "%s, operation %d: changed what is outside\n", path_text, act);
        abort();
    }
    tree_done(&t);
}

static void every_row(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(hostile_paths); i++) {
        const struct hostile_path *p = &hostile_paths[i];
        for (enum act act = 0; act < ACT_COUNT; act++)
            expect(p->path, act, answer(p->kind, act), false);
    }
}

static void hostile_paths_get_their_error_and_change_nothing_outside(void **state)
{
    (void)state;
    run_deterministic(1, every_row, NULL);
}

static void in_root_rows(void *arg)
{
    (void)arg;
    expect("/link-in-abs", OPEN, 0, true);
    expect("/link-in-abs", CHMOD, 0, true);
    expect("/link-out-and-in", OPEN, ENOENT, true);
    for (enum act act = STAT; act <= LIST; act++) {
        if (act == LSTAT)
            continue;
        expect("/link-out", act, ENOENT, true);
        expect("/link-out-abs", act, ENOENT, true);
        expect("/link-proc/etc/passwd", act, ENOENT, true);
    }
    expect("/link-out-dir/new", STORE, ENOENT, true);
    expect("/link-out-dir/new", MKDIR, ENOENT, true);
    expect("/link-up/outside/secret", UNLINK, ENOENT, true);
}

static void an_in_root_tree_leads_links_back_into_itself(void **state)
{
    (void)state;
    run_deterministic(1, in_root_rows, NULL);
}

/* The kernel tells of each open, except of those with O_PATH. */
static void look_at_fifo(void *arg)
{
    static const enum act acts[] = {STAT,          OPEN,           LIST,  STORE,
                                    APPEND,        CHMOD,          MTIME, HANDLE_READ,
                                    HANDLE_UPDATE, HANDLE_REWRITE, SET,   SET_SIZE};
    struct tree *t = arg;
    char events[4096];
    tree_serve(t, NULL);
    TASK_ASSERT(mkfifo(tree_path(t, "root/fifo"), 0644) == 0);
    tree_link(t, "fifo", "root/link");
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    TASK_ASSERT(watch >= 0);
    TASK_ASSERT(inotify_add_watch(watch, tree_path(t, "root/fifo"), IN_OPEN) >= 0);
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        (void)WITH_PATH("/fifo", perform(t, acts[i], &path));
        (void)WITH_PATH("/link", perform(t, acts[i], &path));
    }
    TASK_ASSERT(read(watch, events, sizeof(events)) < 0 && errno == EAGAIN);
    int fd = open(tree_path(t, "root/fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    TASK_ASSERT(read(watch, events, sizeof(events)) > 0);
    (void)close(fd);
    (void)close(watch);
    tree_done(t);
}

static void what_is_no_file_is_not_even_opened(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    run_deterministic(1, look_at_fifo, &t);
}

/* -- paths that are too long -- */

static void deepest_path(void *arg)
{
    struct tree *t = arg;
    static char text[PATH_LEN_MAX + 1];
    size_t len = 0;
    tree_serve(t, NULL);
    for (unsigned i = 0; i < 15; i++) {
        text[len] = '/';
        memset(text + len + 1, 'd', NAME_LEN_MAX);
        len += NAME_LEN_MAX + 1;
        text[len] = '\0';
        TASK_ASSERT(WITH_PATH(text, vfs_mkdir(t->vfs, &path)) == 0);
    }
    text[len++] = '/';
    memset(text + len, 'f', PATH_LEN_MAX - len);
    TASK_ASSERT(strlen(text) == PATH_LEN_MAX);
    struct vstat st;
    TASK_ASSERT(store(t, text, REPLACE, "deep") == 0);
    TASK_ASSERT(WITH_PATH(text, vfs_stat(t->vfs, &path, true, &st)) == 0);
    TASK_ASSERT(st.size_bytes == 4);
    TASK_ASSERT(WITH_PATH(text, vfs_chmod(t->vfs, &path, 0600)) == 0);
    TASK_ASSERT(WITH_PATH(text, vfs_unlink(t->vfs, &path)) == 0);
    TASK_ASSERT(WITH_PATH(text, vfs_unlink(t->vfs, &path)) == -ENOENT);
    tree_done(t);
}

static void the_longest_path_works_everywhere(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    run_deterministic(1, deepest_path, &t);
}

/* -- places that only the host can make -- */

static int try_all(const char *host_root, const char *path_text, enum act act)
{
    struct tree t = {.base = "/nonexistent"};
    rights_init(&t.rights, RIGHTS_ALL);
    TASK_ASSERT(vroot_open(host_root, VROOT_BENEATH, &t.root) == 0);
    TASK_ASSERT(vfs_new(t.root, &t.rights, &t.policy, NULL, runtime_files_pool(runtime_self()),
                        NULL, &t.vfs) == 0);
    struct vpath path = vpath_of(path_text);
    int r = perform(&t, act, &path);
    vpath_done(&path);
    (void)vfs_free(t.vfs);
    vroot_unref(t.root);
    rights_done(&t.rights);
    return r;
}

static void magic_and_devices(void *arg)
{
    (void)arg;

    static const enum act acts[] = {STAT,          OPEN,           LIST,  STORE,
                                    APPEND,        CHMOD,          MTIME, HANDLE_READ,
                                    HANDLE_UPDATE, HANDLE_REWRITE, SET,   SET_SIZE};

    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        TASK_ASSERT(try_all("/proc/self", "/root", acts[i]) == -ELOOP);
        TASK_ASSERT(try_all("/proc/self", "/exe", acts[i]) == -ELOOP);
        TASK_ASSERT(try_all("/proc/self", "/root/etc/passwd", acts[i]) == -ELOOP);
        if (acts[i] != STAT)
            TASK_ASSERT(try_all("/dev", "/null", acts[i]) == -FERRY_ENOTREG);
    }
    TASK_ASSERT(try_all("/proc/self", "/cwd/new", MKDIR) == -ELOOP);
    TASK_ASSERT(try_all("/proc/self", "/root/tmp/x", UNLINK) == -ELOOP);
    TASK_ASSERT(try_all("/proc/self", "/root", LSTAT) == 0);
    TASK_ASSERT(try_all("/dev", "/null", STAT) == 0);
}

static void magic_links_and_devices_are_refused(void **state)
{
    (void)state;
    run_deterministic(1, magic_and_devices, NULL);
}

static void a_root_must_be_a_directory(void **state)
{
    (void)state;
    struct vroot *root = NULL;
    assert_int_equal(vroot_open("/nonexistent", VROOT_BENEATH, &root), -ENOENT);
    assert_int_equal(vroot_open("/etc/passwd", VROOT_BENEATH, &root), -ENOTDIR);
    assert_null(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_paths_get_their_error_and_change_nothing_outside),
        cmocka_unit_test(an_in_root_tree_leads_links_back_into_itself),
        cmocka_unit_test(what_is_no_file_is_not_even_opened),
        cmocka_unit_test(the_longest_path_works_everywhere),
        cmocka_unit_test(magic_links_and_devices_are_refused),
        cmocka_unit_test(a_root_must_be_a_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
