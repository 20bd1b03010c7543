#include "bench/machine/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "task/sys.h"

#define READ_AT_ONCE 65536

/* Room is asked for past the cap only when the file may go on there. */
static ssize_t read_more(int fd, struct buf *b)
{
    size_t room = b->cap - b->len < READ_AT_ONCE ? b->cap - b->len : READ_AT_ONCE;
    uint8_t beyond;
    if (room == 0) {
        ssize_t n = sys_read(fd, &beyond, sizeof(beyond));
        return n > 0 ? buf_append_byte(b, beyond) : n; /* refused: the cap is reached */
    }
    ssize_t n = buf_reserve(b, room);
    if (n == 0)
        n = sys_read(fd, b->data + b->len, room);
    if (n > 0)
        buf_added(b, (size_t)n);
    return n;
}

int file_read(const char *path, struct buf *b)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return fd;
    ssize_t n;
    do
        n = read_more(fd, b);
    while (n > 0);
    sys_close(fd);
    return (int)n;
}

int file_write(const char *path, mode_t mode, struct bytes text)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, .mode = mode};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return fd;
    int r = sys_fchmod(fd, mode);
    while (r == 0 && text.len > 0) {
        ssize_t n = sys_write(fd, text.data, text.len);
        if (n < 0)
            r = (int)n;
        else
            text = bytes_skip(text, (size_t)n);
    }
    sys_close(fd);
    return r;
}

bool file_exists(const char *path)
{
    struct stat st;
    return sys_fstatat(AT_FDCWD, path, &st, 0) == 0;
}
