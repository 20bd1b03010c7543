#include "bench/machine/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "task/sys.h"

#define LISTING_BYTES 32768
#define DEPTH_MAX     32
#define PATH_BYTES    512

static int open_at(int dir, const char *name, uint64_t flags, mode_t mode)
{
    struct open_how how = {
        .flags = flags | O_CLOEXEC,
        .mode = (flags & O_CREAT) != 0 ? mode : 0,
    };
    return sys_openat2(dir, name, &how);
}

/* Whatever the umask says. */
static int set_mode(const char *path, uint64_t flags, mode_t mode)
{
    int fd = open_at(AT_FDCWD, path, flags, 0);
    if (fd < 0)
        return fd;
    int r = sys_fchmod(fd, mode);
    sys_close(fd);
    return r;
}

int folder_make(const char *path, mode_t mode)
{
    int r = sys_mkdirat(AT_FDCWD, path, mode);
    return r == 0 ? set_mode(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, mode) : r;
}

int folder_make_all(const char *path, mode_t mode)
{
    char part[PATH_BYTES];
    size_t len = text_copy(part, sizeof(part), bytes_str(path));
    if (path[len] != '\0')
        return -ENAMETOOLONG;
    for (size_t at = 1; at <= len; at++) {
        if (part[at] != '/' && part[at] != '\0')
            continue;
        part[at] = '\0';
        int r = folder_make(part, mode);
        if (r < 0 && r != -EEXIST)
            return r;
        part[at] = path[at];
    }
    return 0;
}

/* -- removing -- */

static void remove_at(int dir, const char *name, unsigned depth);

/* Returns how many entries are gone: a listing that is read while its folder shrinks may leave
 * some out, so it is read again until there was nothing to do. */
static unsigned remove_entries(int fd, unsigned depth)
{
    unsigned removed = 0;
    uint8_t *raw = mem_raw(LISTING_BYTES);
    ssize_t n;
    while (raw != NULL && (n = sys_getdents64(fd, raw, LISTING_BYTES)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(raw + at);
            at += e->d_reclen;
            if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                continue;
            remove_at(fd, e->d_name, depth);
            struct stat st;
            if (sys_fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -ENOENT)
                removed++;
        }
    }
    mem_free(raw);
    return removed;
}

static void remove_at(int dir, const char *name, unsigned depth)
{
    if (sys_unlinkat(dir, name, 0) == 0 || depth == DEPTH_MAX)
        return;
    unsigned removed;
    do {
        int fd = open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        if (fd < 0)
            return;
        removed = remove_entries(fd, depth + 1);
        sys_close(fd);
    } while (removed > 0);
    (void)!sys_unlinkat(dir, name, AT_REMOVEDIR);
}

void folder_remove(const char *path)
{
    remove_at(AT_FDCWD, path, 0);
}

/* -- listing -- */

static int append_names(const uint8_t *raw, ssize_t len, struct buf *ret)
{
    int r = 0;
    for (ssize_t at = 0; r == 0 && at < len;) {
        const struct dirent64 *e = (const void *)(raw + at);
        at += e->d_reclen;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = buf_append(ret, e->d_name, strlen(e->d_name) + 1);
    }
    return r;
}

int folder_list(const char *path, struct buf *ret)
{
    int fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    uint8_t *raw = mem_raw(LISTING_BYTES);
    ssize_t n = raw != NULL ? 0 : -ENOMEM;
    while (n >= 0 && (n = sys_getdents64(fd, raw, LISTING_BYTES)) > 0) {
        int r = append_names(raw, n, ret);
        if (r < 0)
            n = r;
    }
    mem_free(raw);
    sys_close(fd);
    return (int)n;
}
