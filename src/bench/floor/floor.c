#include "bench/floor/floor.h"

#include <errno.h>
#include <linux/openat2.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/floor/floor_internal.h"
#include "io/tcp.h"
#include "task/sys.h"

#define BACKLOG   4096
#define RETRY_MS  100 /* when there was no descriptor left */
#define WAIT_EVER (-1)

/* -- the loop -- */

int floor_watch(struct floor *f, struct watch *w, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = w};
    return sys_epoll_ctl(f->epoll, EPOLL_CTL_ADD, w->fd, &event);
}

void floor_unwatch(struct floor *f, struct watch *w)
{
    (void)!sys_epoll_ctl(f->epoll, EPOLL_CTL_DEL, w->fd, NULL);
}

/* One a turn, and all that has come goes on with it: a queue of clients costs nobody else. */
static void on_client(struct watch *w)
{
    struct floor *f = LIST_ENTRY(w, struct floor, listener);
    int fd = sys_accept(w->fd, NULL, NULL);
    if (fd >= 0) {
        floor_session_begin(f, fd);
    } else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) {
        floor_unwatch(f, w);
        f->is_full = true;
    }
}

static void on_signal(struct watch *w)
{
    LIST_ENTRY(w, struct floor, signals)->is_over = true;
}

static void on_parent_end(struct watch *w)
{
    LIST_ENTRY(w, struct floor, parent)->is_over = true;
}

/* After the last event that could speak of them; and no reply waits for a close. */
static void free_ended(struct floor *f)
{
    struct list *link;
    while ((link = list_pop(&f->ended)) != NULL)
        floor_session_free(LIST_ENTRY(link, struct floor_session, link));
}

static int turn(struct floor *f)
{
    int timeout = f->is_full ? RETRY_MS : WAIT_EVER;
    int n = sys_epoll_wait(f->epoll, f->events, FLOOR_EVENTS, timeout);
    if (n < 0)
        return n == -EINTR ? 0 : n;
    for (int i = 0; i < n; i++) {
        struct watch *w = f->events[i].data.ptr;
        if (w->fd >= 0)
            w->on_ready(w);
    }
    free_ended(f);
    if (f->is_full && floor_watch(f, &f->listener, EPOLLIN) == 0)
        f->is_full = false;
    return 0;
}

/* -- from beginning to end -- */

static int watch_signals(struct floor *f)
{
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGINT);
    f->signals.fd = sys_signalfd(&ends);
    return f->signals.fd < 0 ? f->signals.fd : floor_watch(f, &f->signals, EPOLLIN);
}

static int watch_parent(struct floor *f)
{
    pid_t parent = getppid();
    if (parent == 0) /* it is outside of our namespace of processes */
        return 0;
    f->parent.fd = sys_pidfd_open(parent);
    return f->parent.fd < 0 ? f->parent.fd : floor_watch(f, &f->parent, EPOLLIN);
}

static int begin(struct floor *f)
{
    const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    f->folder = sys_openat2(AT_FDCWD, f->settings->folder, &how);
    if (f->folder < 0)
        return f->folder;
    int r = sys_pipe(f->pipe);
    if (r < 0)
        return r;
    (void)!sys_pipe_resize(f->pipe[1], FLOOR_PIPE_BYTES); /* else in smaller steps */
    f->epoll = sys_epoll_create();
    if (f->epoll < 0)
        return f->epoll;
    r = watch_signals(f);
    return r == 0 ? watch_parent(f) : r;
}

static int serve(struct floor *f)
{
    struct addr at = f->settings->listen;
    int r = begin(f);
    /* With TCP_NODELAY, or a reply would wait for the acknowledgement of the one before, which
     * the client delays by 40 ms. */
    if (r == 0)
        r = tcp_listen_shared(&at, BACKLOG, 1, &f->listener.fd);
    if (r == 0)
        r = floor_watch(f, &f->listener, EPOLLIN);
    if (r == 0 && f->settings->ready != NULL)
        f->settings->ready(f->settings->arg, &at);
    while (r == 0 && !f->is_over)
        r = turn(f);
    return r;
}

static void end(struct floor *f)
{
    while (!list_empty(&f->sessions))
        floor_session_end(LIST_ENTRY(f->sessions.next, struct floor_session, link));
    free_ended(f);
    sys_close(f->listener.fd);
    sys_close(f->signals.fd);
    sys_close(f->parent.fd);
    sys_close(f->epoll);
    sys_close(f->pipe[0]);
    sys_close(f->pipe[1]);
    sys_close(f->folder);
}

int floor_run(const struct floor_settings *settings)
{
    if (!addr_is_loopback(&settings->listen))
        return -EINVAL;
    struct floor *f = mem_new(sizeof(*f));
    if (f == NULL)
        return -ENOMEM;
    f->settings = settings;
    f->folder = f->epoll = f->pipe[0] = f->pipe[1] = -1;
    f->listener = (struct watch){-1, on_client};
    f->signals = (struct watch){-1, on_signal};
    f->parent = (struct watch){-1, on_parent_end};
    list_init(&f->sessions);
    list_init(&f->ended);
    int r = serve(f);
    end(f);
    mem_free(f);
    return r;
}
