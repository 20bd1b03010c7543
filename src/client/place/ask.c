#include "client/place/ask.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <termios.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/fd.h"
#include "task/sys.h"

/* A description of our own: that it does not wait is nobody else's concern. */
static int open_terminal(void)
{
    struct open_how how = {.flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC};
    return sys_openat2(AT_FDCWD, "/dev/tty", &how);
}

bool ask_is_possible(void)
{
    int fd = open_terminal();
    sys_close(fd);
    return fd >= 0;
}

static PARKS int write_all(struct io_fd *f, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        unsigned edges = io_fd_edges(f, IO_WRITE);
        ssize_t n = sys_write(io_fd_number(f), text, len);
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_WRITE, edges);
            n = io_fd_wait(f, IO_WRITE, USEC_NEVER);
        }
        if (n < 0)
            return (int)n;
        text += n;
        len -= (size_t)n;
    }
    return 0;
}

/* A terminal gives whole lines. */
static PARKS int read_line(struct io_fd *f, struct buf *ret)
{
    for (;;) {
        size_t left = ret->cap - ret->len;
        if (left == 0)
            return -FERRY_ELIMIT;
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_read(io_fd_number(f), ret->data + ret->len, left);
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_READ, edges);
            int r = io_fd_wait(f, IO_READ, USEC_NEVER);
            if (r < 0)
                return r;
            continue;
        }
        if (n <= 0)
            return n < 0 ? (int)n : -FERRY_ECLOSED;
        buf_added(ret, (size_t)n);
        if (ret->data[ret->len - 1] == '\n') {
            ret->len--;
            return 0;
        }
    }
}

/* Silent before the question: what was typed ahead of it is thrown away, an answer is not. */
static PARKS int ask_secret(struct io_fd *f, const char *question, struct buf *ret)
{
    struct termios before, silent;
    if (tcgetattr(io_fd_number(f), &before) < 0)
        return -ENOTTY;
    silent = before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    silent.c_cc[VSUSP] = _POSIX_VDISABLE; /* who comes back would be heard */
    if (tcsetattr(io_fd_number(f), TCSAFLUSH, &silent) < 0)
        return -ENOTTY;
    int r = write_all(f, question);
    if (r == 0)
        r = read_line(f, ret);
    (void)tcsetattr(io_fd_number(f), TCSAFLUSH, &before);
    task_shield_begin(clock_after(USEC_PER_S));
    (void)(write_all(f, "\n") < 0); /* the one that was not shown */
    task_shield_end();
    return r;
}

int ask_line(const char *question, bool is_secret, struct buf *ret)
{
    struct io_fd *f;
    int fd = open_terminal();
    int r = fd < 0 ? fd : io_fd_new(fd, &f);
    if (r < 0)
        return r;
    if (is_secret) {
        r = ask_secret(f, question, ret);
    } else {
        r = write_all(f, question);
        if (r == 0)
            r = read_line(f, ret);
    }
    (void)io_fd_close(f);
    return r;
}
