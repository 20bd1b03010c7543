/* The loop of task/fd.h: try, and wait only after EAGAIN. */
#pragma once
#include <errno.h>

#include "task/fd.h"
#include "task/sys.h"

static inline PARKS ssize_t receive(struct io_fd *f, void *data, size_t len, usec_t deadline)
{
    for (;;) {
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_recv(io_fd_number(f), data, len, 0);
        if (n != -EAGAIN)
            return n;
        io_fd_not_ready(f, IO_READ, edges);
        int r = io_fd_wait(f, IO_READ, deadline);
        if (r < 0)
            return r;
    }
}
