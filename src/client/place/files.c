#include "client/place/files.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"

#define READ_BYTES (16 * 1024)

static int check(int fd, mode_t forbidden)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return -FERRY_ENOTREG;
    bool is_own = st.st_uid == geteuid() || st.st_uid == 0;
    return forbidden == 0 || (is_own && (st.st_mode & forbidden) == 0) ? 0 : -EPERM;
}

static int read_all(int fd, struct buf *ret)
{
    for (;;) {
        size_t left = ret->cap - ret->len;
        size_t want = left < READ_BYTES ? left : READ_BYTES;
        if (want == 0)
            return -FERRY_ELIMIT;
        int r = buf_reserve(ret, want);
        ssize_t n = r == 0 ? sys_read(fd, ret->data + ret->len, want) : r;
        if (n <= 0)
            return (int)n;
        buf_added(ret, (size_t)n);
    }
}

int place_file_read(const char *path, mode_t forbidden, struct buf *ret)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return fd;
    int r = check(fd, forbidden);
    if (r == 0)
        r = read_all(fd, ret);
    sys_close(fd);
    return r;
}

static int make_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return 0;
    char *folder = mem_strdup(path);
    if (folder == NULL)
        return -ENOMEM;
    folder[slash - path] = '\0';
    int r = sys_mkdirat(AT_FDCWD, folder, 0700);
    mem_free(folder);
    return r == -EEXIST ? 0 : r;
}

/* Of a file whose last line was not ended. */
static int end_line(int fd)
{
    struct stat st;
    char last;
    struct iovec piece = {&last, 1};
    int r = sys_fstat(fd, &st);
    if (r < 0 || st.st_size == 0)
        return r;
    ssize_t n = sys_preadv2(fd, &piece, 1, st.st_size - 1, 0);
    if (n == 1 && last != '\n')
        n = sys_write(fd, "\n", 1);
    return n < 0 ? (int)n : 0;
}

int place_file_append(const char *path, struct bytes text)
{
    struct open_how how = {.flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                           .mode = 0600};
    int r = make_folder_of(path);
    int fd = r < 0 ? r : sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return fd;
    r = check(fd, 0);
    if (r == 0)
        r = end_line(fd);
    ssize_t n = r == 0 ? sys_write(fd, text.data, text.len) : r;
    sys_close(fd);
    if (n < 0)
        return (int)n;
    return (size_t)n == text.len ? 0 : -ENOSPC;
}

char *place_at_home(const char *name)
{
    const char *home = getenv("HOME");
    if (home == NULL || home[0] != '/')
        return NULL;
    size_t len = strlen(home) + strlen(name) + 1;
    char *path = mem_raw(len);
    if (path != NULL)
        (void)snprintf(path, len, "%s%s", home, name);
    return path;
}
