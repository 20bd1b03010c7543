#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "check.h"
#include "ground.h"
#include "vfs/beneath.h"

static bool is_memory(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static struct vfile *open_file(struct ground *g, const char *text)
{
    struct vfile *f = NULL;
    TASK_ASSERT(WITH_PATH(text, vfs_open(g->t.vfs, &path, &f)) == 0);
    return f;
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

static void body_reads_what_is_there(struct ground *g)
{
    char data[16];
    tree_file(&g->t, "root/f", "contents");
    struct vfile *f = open_file(g, "/f");
    TASK_ASSERT(vfile_stat(f)->size_bytes == 8 && vfile_stat(f)->kind == VSTAT_FILE);
    TASK_ASSERT(pread(vfile_fd(f), data, sizeof(data), 0) == 8);
    TASK_ASSERT(memcmp(data, "contents", 8) == 0);
    TASK_ASSERT((fcntl(vfile_fd(f), F_GETFL) & (O_ACCMODE | O_NONBLOCK)) == O_NONBLOCK);
    TASK_ASSERT(fcntl(vfile_fd(f), F_GETFD) & FD_CLOEXEC);
    TASK_ASSERT(vfile_pool(f) == runtime_files_pool(runtime_self()));
    TASK_ASSERT(vfile_shares(f)->root);
    TASK_ASSERT(vfile_close(f) == NULL);
}
ON_FRESH_GROUND(reads_what_is_there)

static void body_a_file_outlives_its_vfs_and_its_name(struct ground *g)
{
    char data[16];
    unsigned before = open_descriptors();
    tree_file(&g->t, "root/f", "contents");
    struct vfile *f = open_file(g, "/f");
    struct vfile *again = vfile_ref(f);
    g->t.vfs = vfs_free(g->t.vfs);
    TASK_ASSERT(unlink(tree_path(&g->t, "root/f")) == 0);
    (void)vfile_close(f);
    TASK_ASSERT(pread(vfile_fd(again), data, sizeof(data), 0) == 8);
    vfile_unref(again);
    TASK_ASSERT(open_descriptors() == before);
    TASK_ASSERT(vfile_close(NULL) == NULL);
}
ON_FRESH_GROUND(a_file_outlives_its_vfs_and_its_name)

static int open_listed(struct ground *g, const char *text, uint64_t device, struct vfile **ret)
{
    return WITH_PATH(text, vfs_open_listed(g->t.vfs, &path, device, ret));
}

/* What a listing has told is opened; what has changed since, or is reached by a link, is what
 * vfs_open() says of it. */
static void body_what_was_listed_is_opened_as_anything_else(struct ground *g)
{
    static const struct {
        const char *path;
        bool opens;
    } cases[] = {
        {"/d/f", true},   {"/link", true},  {"/by/f", true},   {"/d", false},
        {"/none", false}, {"/fifo", false}, {"/out/f", false}, {"/null", false},
    };
    struct stat st;
    char byte;
    tree_dir(&g->t, "root/d");
    tree_file(&g->t, "root/d/f", "x");
    tree_file(&g->t, "outside/f", "y");
    tree_link(&g->t, "d/f", "root/link");
    tree_link(&g->t, "d", "root/by");
    tree_link(&g->t, "../outside", "root/out");
    tree_link(&g->t, "/dev/null", "root/null");
    TASK_ASSERT(mkfifo(tree_path(&g->t, "root/fifo"), 0600) == 0);
    TASK_ASSERT(stat(tree_path(&g->t, "root/d/f"), &st) == 0);
    const uint64_t devices[] = {st.st_dev, st.st_dev + 1, 0};
    unsigned before = open_descriptors();
    for (unsigned i = 0; i < ARRAY_LEN(devices) * ARRAY_LEN(cases); i++) {
        const char *name = cases[i / ARRAY_LEN(devices)].path;
        struct vfile *f = NULL, *plain = NULL;
        int r = open_listed(g, name, devices[i % ARRAY_LEN(devices)], &f);
        TASK_ASSERT(WITH_PATH(name, vfs_open(g->t.vfs, &path, &plain)) == r);
        TASK_ASSERT((r == 0) == cases[i / ARRAY_LEN(devices)].opens);
        if (r < 0)
            continue;
        TASK_ASSERT(pread(vfile_fd(f), &byte, 1, 0) == 1 && byte == 'x');
        TASK_ASSERT(vfile_stat(f)->kind == VSTAT_FILE && vfile_stat(f)->size_bytes == 1);
        TASK_ASSERT(vfile_is_in_memory(f) == vfile_is_in_memory(plain));
        (void)vfile_close(f);
        (void)vfile_close(plain);
    }
    TASK_ASSERT(open_descriptors() == before);
}
ON_FRESH_GROUND(what_was_listed_is_opened_as_anything_else)

/* Nothing but a regular file of the device, by a path without links. */
static void body_only_what_was_seen_is_opened_unseen(struct ground *g)
{
    struct stat st, got;
    struct beneath tree;
    tree_dir(&g->t, "root/d");
    tree_file(&g->t, "root/d/f", "x");
    tree_link(&g->t, "d", "root/by");
    tree_link(&g->t, "f", "root/d/link");
    TASK_ASSERT(mkfifo(tree_path(&g->t, "root/fifo"), 0600) == 0);
    TASK_ASSERT(stat(tree_path(&g->t, "root/d/f"), &st) == 0);
    TASK_ASSERT(beneath_tree(tree_path(&g->t, "root"), false, &tree) == 0);
    int fd = beneath_open_seen(&tree, "d/f", st.st_dev, &got);
    TASK_ASSERT(fd >= 0 && got.st_ino == st.st_ino && close(fd) == 0);
    TASK_ASSERT(beneath_open_seen(&tree, "d/f", st.st_dev + 1, &got) == -EBUSY);
    TASK_ASSERT(beneath_open_seen(&tree, "d", st.st_dev, &got) == -EBUSY);
    TASK_ASSERT(beneath_open_seen(&tree, "fifo", st.st_dev, &got) == -EBUSY);
    TASK_ASSERT(beneath_open_seen(&tree, "by/f", st.st_dev, &got) < 0);
    TASK_ASSERT(beneath_open_seen(&tree, "d/link", st.st_dev, &got) < 0);
    TASK_ASSERT(close(tree.fd) == 0);
}
ON_FRESH_GROUND(only_what_was_seen_is_opened_unseen)

/* What the system itself says of reads without waiting is what the file says. */
static void compare_with_system(void *arg)
{
    struct ground *g = arg;
    char byte;
    tree_serve(&g->t, NULL);
    tree_file(&g->t, "root/f", "contents");
    for (unsigned i = 0; i < 2; i++) { /* probed, then remembered */
        struct vfile *f = open_file(g, "/f");
        const struct iovec iov = {&byte, 1};
        ssize_t n = preadv2(vfile_fd(f), &iov, 1, 0, RWF_NOWAIT);
        bool works = n == 1 || (n < 0 && errno == EAGAIN);
        TASK_ASSERT(vfile_reads_without_waiting(f) == (works || is_memory(g->t.base)));
        (void)vfile_close(f);
    }
}

/* A file system that is neither memory nor knows the flag. */
static void compare_with_proc(void *arg)
{
    struct ground *g = arg;
    struct vroot *root = NULL;
    struct vfs *v = NULL;
    struct vfile *f = NULL;
    char byte;
    const struct iovec iov = {&byte, 1};
    TASK_ASSERT(vroot_open("/proc/self", VROOT_BENEATH, &root) == 0);
    TASK_ASSERT(vfs_new(root, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &v) == 0);
    TASK_ASSERT(WITH_PATH("/status", vfs_open(v, &path, &f)) == 0);
    if (preadv2(vfile_fd(f), &iov, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP)
        TASK_ASSERT(!vfile_reads_without_waiting(f));
    (void)vfile_close(f);
    (void)vfs_free(v);
    vroot_unref(root);
}

static void knows_whether_reads_can_wait(void **state)
{
    (void)state;
    static const char *const places[] = {"/tmp", "/dev/shm", "/var/tmp"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct ground g = {0};
        if (access(places[i], W_OK) < 0)
            continue;
        tree_init_in(&g.t, places[i]);
        run_deterministic(1, compare_with_system, &g);
        run_deterministic(1, compare_with_proc, &g);
        tree_done(&g.t);
    }
}

/* Of mounts below the root, too, whose file system is another one than the root's. */
static void compare_below_the_root(void *arg)
{
    struct ground *g = arg;
    char path_text[PATH_MAX];
    struct vroot *root = NULL;
    struct vfs *v = NULL;
    struct vfile *f = NULL;
    tree_file(&g->t, "root/f", "contents");
    TASK_ASSERT(snprintf(path_text, sizeof(path_text), "%s", tree_path(&g->t, "root/f")) > 0);
    TASK_ASSERT(vroot_open("/", VROOT_IN_ROOT, &root) == 0);
    TASK_ASSERT(vfs_new(root, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &v) == 0);
    TASK_ASSERT(WITH_PATH(path_text, vfs_open(v, &path, &f)) == 0);
    TASK_ASSERT(vfile_is_in_memory(f) == is_memory(g->t.base));
    TASK_ASSERT(vfile_reads_without_waiting(f) || !is_memory(g->t.base));
    (void)vfile_close(f);
    (void)vfs_free(v);
    vroot_unref(root);
}

/* A local mount below the root is met once, and then its files are opened on the loop. */
static void open_below_without_pool(void *arg)
{
    struct ground *g = arg;
    char path_text[PATH_MAX];
    struct vroot *root = NULL;
    struct vfs *v = NULL;
    struct vfile *f[2] = {NULL, NULL};
    struct pool *idle;
    tree_file(&g->t, "root/f", "contents");
    TASK_ASSERT(snprintf(path_text, sizeof(path_text), "%s", tree_path(&g->t, "root/f")) > 0);
    TASK_ASSERT(vroot_open("/", VROOT_IN_ROOT, &root) == 0);
    TASK_ASSERT(vfs_new(root, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &v) == 0);
    TASK_ASSERT(WITH_PATH(path_text, vfs_open(v, &path, &f[0])) == 0);
    (void)vfs_free(v);
    TASK_ASSERT(pool_new(1, 0, &idle) == 0); /* has no place for a job */
    TASK_ASSERT(vfs_new(root, &g->t.rights, &g->t.policy, NULL, idle, NULL, &v) == 0);
    TASK_ASSERT(WITH_PATH(path_text, vfs_open(v, &path, &f[1])) == 0);
    TASK_ASSERT(vfile_close(f[0]) == NULL && vfile_close(f[1]) == NULL);
    TASK_ASSERT(WITH_PATH("/proc/self/status", vfs_open(v, &path, &f[1])) == -EBUSY);
    (void)vfs_free(v);
    (void)pool_free(idle);
    vroot_unref(root);
}

static void opens_on_the_loop_below_the_root_what_is_local(void **state)
{
    (void)state;
    struct ground g = {0};
    tree_init(&g.t);
    run_threaded(1, open_below_without_pool, &g);
    tree_done(&g.t);
}

static void knows_what_is_in_memory_below_the_root(void **state)
{
    (void)state;
    static const char *const places[] = {"/tmp", "/dev/shm", "/var/tmp"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct ground g = {0};
        if (access(places[i], W_OK) < 0)
            continue;
        tree_init_in(&g.t, places[i]);
        run_deterministic(1, compare_below_the_root, &g);
        tree_done(&g.t);
    }
}

#define CACHED_BYTES ((size_t)1024 * 1024)
#define HOLE_FROM    ((size_t)512 * 1024)
#define HOLE_BYTES   ((size_t)256 * 1024)

/* Empties the page cache in the middle of a file; false: something keeps it there. */
static bool drop_middle(int fd)
{
    unsigned char pages[CACHED_BYTES / 4096];
    TASK_ASSERT(fsync(fd) == 0);
    TASK_ASSERT(posix_fadvise(fd, HOLE_FROM, HOLE_BYTES, POSIX_FADV_DONTNEED) == 0);
    void *map = mmap(NULL, CACHED_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    TASK_ASSERT(map != MAP_FAILED);
    TASK_ASSERT(mincore(map, CACHED_BYTES, pages) == 0);
    TASK_ASSERT(munmap(map, CACHED_BYTES) == 0);
    bool is_gone = true;
    for (size_t i = HOLE_FROM / 4096; i < (HOLE_FROM + HOLE_BYTES) / 4096; i++)
        is_gone = is_gone && !(pages[i] & 1);
    return is_gone;
}

static void look_for_cached(void *arg)
{
    struct ground *g = arg;
    tree_serve(&g->t, NULL);
    tree_file(&g->t, "root/f", "");
    int fd = open(tree_path(&g->t, "root/f"), O_RDWR | O_CLOEXEC);
    char *data = calloc(1, CACHED_BYTES);
    TASK_ASSERT(fd >= 0 && data && pwrite(fd, data, CACHED_BYTES, 0) == (ssize_t)CACHED_BYTES);
    free(data);
    struct vfile *f = open_file(g, "/f");
    if (!vfile_reads_without_waiting(f) || vfile_is_in_memory(f)) {
        TASK_ASSERT(!vfile_reads_without_waiting(f) || !vfile_is_cached(f, 0, CACHED_BYTES));
    } else {
        TASK_ASSERT(vfile_is_cached(f, 0, CACHED_BYTES));
        TASK_ASSERT(vfile_is_cached(f, CACHED_BYTES - 1, 1));
        TASK_ASSERT(!vfile_is_cached(f, CACHED_BYTES, 1)); /* past the end is nothing */
        if (drop_middle(fd)) {
            TASK_ASSERT(vfile_is_cached(f, 0, HOLE_FROM));
            TASK_ASSERT(!vfile_is_cached(f, HOLE_FROM - 4096, HOLE_BYTES));
        }
    }
    (void)vfile_close(f);
    TASK_ASSERT(close(fd) == 0);
}

static void knows_what_is_in_the_cache(void **state)
{
    (void)state;
    static const char *const places[] = {"/tmp", "/dev/shm", "/var/tmp"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct ground g = {0};
        if (access(places[i], W_OK) < 0)
            continue;
        tree_init_in(&g.t, places[i]);
        run_deterministic(1, look_for_cached, &g);
        tree_done(&g.t);
    }
}

static void body_roots_on_one_device_share_its_part_of_the_pool(struct ground *g)
{
    struct vroot *other = NULL;
    struct vfs *v = NULL;
    tree_file(&g->t, "root/f", "");
    tree_file(&g->t, "outside/f", "");
    TASK_ASSERT(vroot_open(tree_path(&g->t, "outside"), VROOT_BENEATH, &other) == 0);
    TASK_ASSERT(vfs_new(other, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &v) == 0);
    struct vfile *f = open_file(g, "/f"), *h = NULL;
    TASK_ASSERT(WITH_PATH("/f", vfs_open(v, &path, &h)) == 0);
    TASK_ASSERT(vfile_shares(f)->root == vfile_shares(h)->root);
    (void)vfile_close(f);
    (void)vfile_close(h);
    (void)vfs_free(v);
    vroot_unref(other);
}
ON_FRESH_GROUND(roots_on_one_device_share_its_part_of_the_pool)

/* On pool threads, with names the kernel has not yet looked up. */
static void open_and_close(void *arg)
{
    struct ground *g = arg;
    char name[32];
    tree_serve(&g->t, NULL);
    for (unsigned i = 0; i < 20; i++) {
        struct vfile *f = NULL;
        (void)snprintf(name, sizeof(name), "root/f%u", i);
        tree_file(&g->t, name, "x");
        f = open_file(g, name + strlen("root"));
        TASK_ASSERT(unlink(tree_path(&g->t, name)) == 0);
        (void)vfile_close(f); /* the last of a removed file: in the pool */
        TASK_ASSERT(WITH_PATH(name + strlen("root"), vfs_open(g->t.vfs, &path, &f)) == -ENOENT);
    }
    g->t.vfs = vfs_free(g->t.vfs);
}

static void opens_and_closes_on_pool_threads(void **state)
{
    (void)state;
    struct ground g = {0};
    unsigned before = open_descriptors();
    tree_init(&g.t);
    run_threaded(1, open_and_close, &g);
    tree_done(&g.t);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_there),
        cmocka_unit_test(a_file_outlives_its_vfs_and_its_name),
        cmocka_unit_test(what_was_listed_is_opened_as_anything_else),
        cmocka_unit_test(only_what_was_seen_is_opened_unseen),
        cmocka_unit_test(knows_whether_reads_can_wait),
        cmocka_unit_test(opens_on_the_loop_below_the_root_what_is_local),
        cmocka_unit_test(knows_what_is_in_memory_below_the_root),
        cmocka_unit_test(knows_what_is_in_the_cache),
        cmocka_unit_test(roots_on_one_device_share_its_part_of_the_pool),
        cmocka_unit_test(opens_and_closes_on_pool_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
