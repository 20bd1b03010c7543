#include "bench/engine/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "task/fd.h"
#include "task/sys.h"

int interrupt_init(struct interrupt *i, struct scope *work)
{
    *i = (struct interrupt){.work = work};
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGHUP);
    i->fd = sys_signalfd(&signals);
    return i->fd < 0 ? i->fd : 0;
}

static void watch_main(void *arg)
{
    struct interrupt *i = arg;
    struct io_fd *f;
    int fd = i->fd;
    i->fd = -1;
    int r = io_fd_new(fd, &f);
    if (r < 0)
        return;
    while (r == 0) {
        struct signalfd_siginfo info;
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_read(io_fd_number(f), &info, sizeof(info));
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_READ, edges);
            r = io_fd_wait(f, IO_READ, USEC_NEVER);
        } else if (n < 0) {
            r = (int)n;
        } else {
            i->has_come = true;
            scope_cancel(i->work);
        }
    }
    (void)io_fd_close(f);
}

int interrupt_start(struct interrupt *i, struct scope *scope)
{
    return scope_start(scope, "signals", TASK_NORMAL, watch_main, i, NULL);
}

void interrupt_done(struct interrupt *i)
{
    sys_fd_close(&i->fd);
}
