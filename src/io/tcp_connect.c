#include <errno.h>

#include "io/tcp_internal.h"
#include "task/sys.h"

static int new_socket(const struct addr *to, const struct addr *from, int *ret_fd)
{
    if (from != NULL)
        return tcp_bound_socket(from, false, ret_fd);
    int fd = sys_socket(addr_family(to), SOCK_STREAM, 0);
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

/* connect(2) is asked again after each edge: it says EALREADY while it goes on, the reason if
 * it failed, and 0 or EISCONN when it has succeeded. So "try first" holds here as well. */
static int finish(struct io_fd *f, const struct addr *to, usec_t deadline)
{
    for (;;) {
        unsigned edges = io_fd_edges(f, IO_WRITE);
        int r = sys_connect(io_fd_number(f), &to->u.any, to->len);
        if (r == -EISCONN)
            return 0;
        if (r != -EALREADY && r != -EINPROGRESS)
            return r;
        io_fd_not_ready(f, IO_WRITE, edges);
        r = io_fd_wait(f, IO_WRITE, deadline);
        if (r < 0)
            return r;
    }
}

int tcp_connect(const struct addr *to, const struct addr *from, usec_t deadline,
                struct io_fd **ret)
{
    int fd;
    struct io_fd *f;
    int r = new_socket(to, from, &fd);
    if (r < 0)
        return r;
    r = io_fd_new(fd, &f);
    if (r < 0)
        return r;
    r = finish(f, to, deadline);
    if (r < 0) {
        (void)io_fd_close(f);
        return r;
    }
    *ret = f;
    return 0;
}
