#include "vfs/beneath.h"

#include <assert.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "task/sys.h"

/* A rename elsewhere makes the kernel give up a resolution that passed ".." or a link. */
#define RESOLVE_TRIES 8

#define OPEN_FLAGS (O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define LEAF_ONLY  (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS)

static int resolve(int dir, const char *path, int flags, uint64_t how_to, mode_t mode)
{
    const struct open_how how = {.flags = (unsigned)flags, .mode = mode, .resolve = how_to};
    unsigned tries = how_to & RESOLVE_CACHED ? 1 : RESOLVE_TRIES;
    int r = -EAGAIN;
    while (r == -EAGAIN && tries-- > 0)
        r = sys_openat2(dir, path, &how);
    /* "would block" is no answer for the layers above */
    return r == -EAGAIN ? -EBUSY : r;
}

int beneath_tree(const char *host_path, bool in_root, struct beneath *ret)
{
    int fd = resolve(AT_FDCWD, host_path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0);
    if (fd < 0)
        return fd;
    ret->fd = fd;
    ret->resolve = RESOLVE_NO_MAGICLINKS | (in_root ? RESOLVE_IN_ROOT : RESOLVE_BENEATH);
    return 0;
}

struct beneath beneath_same_mount(const struct beneath *tree)
{
    return (struct beneath){.fd = tree->fd, .resolve = tree->resolve | RESOLVE_NO_XDEV};
}

/* O_PATH opens nothing: no driver and no waiting process notices. */
static int look(int dir, const char *path, int flags, uint64_t how_to, struct stat *ret)
{
    int fd = resolve(dir, path, O_PATH | O_CLOEXEC | flags, how_to, 0);
    if (fd < 0)
        return fd;
    int r = sys_fstat(fd, ret);
    sys_close(fd);
    return r;
}

static int check_kind(const struct stat *st, enum beneath_kinds kinds)
{
    if (S_ISREG(st->st_mode))
        return kinds == BENEATH_DIRECTORY ? -ENOTDIR : 0;
    if (S_ISDIR(st->st_mode))
        return kinds == BENEATH_FILE ? -EISDIR : 0;
    return -FERRY_ENOTREG;
}

/* The open of a device may do things (rewind a tape, start a watchdog), so what is there is
 * looked at first; and once more after the open, since it may have been swapped between. */
static int open_checked(int dir, const char *path, enum beneath_kinds kinds, int flags,
                        uint64_t how_to, struct stat *ret)
{
    int r = look(dir, path, flags & O_NOFOLLOW, how_to, ret);
    if (r == 0)
        r = check_kind(ret, kinds);
    if (r < 0)
        return r;
    int fd = resolve(dir, path, flags | OPEN_FLAGS, how_to, 0);
    if (fd < 0)
        return fd;
    r = sys_fstat(fd, ret);
    if (r == 0)
        r = check_kind(ret, kinds);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    return fd;
}

/* -- whole paths -- */

int beneath_stat(const struct beneath *tree, const char *path, bool follow, struct stat *ret)
{
    return look(tree->fd, path, follow ? 0 : O_NOFOLLOW, tree->resolve, ret);
}

int beneath_statfs(const struct beneath *tree, const char *path, struct statfs *ret)
{
    int fd = resolve(tree->fd, path, O_PATH | O_CLOEXEC, tree->resolve, 0);
    if (fd < 0)
        return fd;
    int r = sys_fstatfs(fd, ret);
    sys_close(fd);
    return r;
}

int beneath_open(const struct beneath *tree, const char *path, enum beneath_kinds kinds,
                 int access, struct stat *ret)
{
    return open_checked(tree->fd, path, kinds, access, tree->resolve, ret);
}

int beneath_open_cached(const struct beneath *tree, const char *path, struct stat *ret)
{
    /* another mount may be a file system whose open waits for a process or a network */
    return open_checked(tree->fd, path, BENEATH_FILE, O_RDONLY,
                        tree->resolve | RESOLVE_CACHED | RESOLVE_NO_XDEV, ret);
}

int beneath_open_cached_on(const struct beneath *tree, const char *path, dev_t device,
                           struct stat *ret)
{
    dev_t found = 0;
    int fd = resolve(tree->fd, path, O_PATH | O_CLOEXEC, tree->resolve | RESOLVE_CACHED, 0);
    if (fd < 0)
        return fd;
    int r = sys_device_of(fd, &found);
    sys_close(fd);
    if (r < 0 || found != device)
        return -EXDEV;
    return open_checked(tree->fd, path, BENEATH_FILE, O_RDONLY, tree->resolve | RESOLVE_CACHED,
                        ret);
}

int beneath_open_seen(const struct beneath *tree, const char *path, dev_t device,
                      struct stat *ret)
{
    int fd = resolve(tree->fd, path, O_RDONLY | OPEN_FLAGS,
                     tree->resolve | RESOLVE_CACHED | RESOLVE_NO_SYMLINKS, 0);
    if (fd < 0)
        return fd;
    int r = sys_fstat(fd, ret);
    if (r == 0 && (!S_ISREG(ret->st_mode) || ret->st_dev != device))
        r = -EBUSY;
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    return fd;
}

int beneath_parent(const struct beneath *tree, char *path, int *ret_dir, const char **ret_leaf)
{
    if (strcmp(path, ".") == 0)
        return -EPERM;
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    int fd = resolve(tree->fd, slash ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC,
                     tree->resolve, 0);
    if (slash)
        *slash = '/';
    if (fd < 0)
        return fd;
    *ret_dir = fd;
    *ret_leaf = slash ? slash + 1 : path;
    return 0;
}

/* -- one component of an open directory -- */

/* Paths are parsed before they come here, so anything else is a bug of ours. */
static const char *checked(const char *leaf)
{
    assert(leaf[0] != '\0' && !strchr(leaf, '/'));
    assert(strcmp(leaf, ".") != 0 && strcmp(leaf, "..") != 0);
    return leaf;
}

int leaf_stat(int dir, const char *leaf, struct stat *ret)
{
    return sys_fstatat(dir, checked(leaf), ret, AT_SYMLINK_NOFOLLOW);
}

int leaf_stat_same_mount(int dir, const char *leaf, struct stat *ret)
{
    return look(dir, checked(leaf), O_NOFOLLOW, LEAF_ONLY | RESOLVE_NO_XDEV, ret);
}

ssize_t leaf_readlink(int dir, const char *leaf, char *target, size_t len)
{
    return sys_readlinkat(dir, checked(leaf), target, len);
}

int leaf_create(int dir, const char *leaf, int access, mode_t mode)
{
    return resolve(dir, checked(leaf), access | O_CREAT | O_EXCL | OPEN_FLAGS, LEAF_ONLY, mode);
}

int leaf_open(int dir, const char *leaf, int access, struct stat *ret)
{
    return open_checked(dir, checked(leaf), BENEATH_FILE, access | O_NOFOLLOW, LEAF_ONLY, ret);
}

int leaf_open_directory(int dir, const char *leaf)
{
    return resolve(dir, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | OPEN_FLAGS, LEAF_ONLY, 0);
}

int leaf_mkdir(int dir, const char *leaf, mode_t mode)
{
    return sys_mkdirat(dir, checked(leaf), mode);
}

int leaf_set_times(int dir, const char *leaf, const struct timespec times[2])
{
    return sys_utimensat(dir, checked(leaf), times, AT_SYMLINK_NOFOLLOW);
}

int leaf_unlink(int dir, const char *leaf)
{
    return sys_unlinkat(dir, checked(leaf), 0);
}

int leaf_rmdir(int dir, const char *leaf)
{
    return sys_unlinkat(dir, checked(leaf), AT_REMOVEDIR);
}

int leaf_symlink(const char *target, int dir, const char *leaf)
{
    return sys_symlinkat(target, dir, checked(leaf));
}

int leaf_link(int from_dir, const char *from, int to_dir, const char *to)
{
    return sys_linkat(from_dir, checked(from), to_dir, checked(to));
}

int leaf_rename(int from_dir, const char *from, int to_dir, const char *to, bool replace)
{
    unsigned flags = replace ? 0 : RENAME_NOREPLACE;
    int r = sys_renameat2(from_dir, checked(from), to_dir, checked(to), flags);
    if (r != -EINVAL || replace)
        return r;
    /* NFS and some FUSE file systems have no such flag: look, then rename */
    struct stat st;
    r = leaf_stat(to_dir, to, &st);
    if (r == 0)
        return -EEXIST;
    return r == -ENOENT ? sys_renameat2(from_dir, from, to_dir, to, 0) : r;
}
