#include "bench/floor.h"

#include <errno.h>
#include <linux/openat2.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/floor_internal.h"
#include "io/tcp.h"
#include "task/sys.h"

#define BACKLOG   4096
#define RETRY_MS  100 /* when there was no descriptor left */
#define WAIT_EVER (-1)

/* -- a loop -- */

static int watch(struct floor_loop *l, int fd, struct watch *w, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = w};
    return sys_epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event);
}

int floor_watch(struct floor_loop *l, struct watch *w, unsigned events)
{
    return watch(l, w->fd, w, events);
}

void floor_unwatch(struct floor_loop *l, struct watch *w)
{
    (void)!sys_epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
}

/* One a turn, and all that has come goes on with it: a queue of clients costs nobody else. */
static void on_client(struct watch *w)
{
    struct floor_loop *l = LIST_ENTRY(w, struct floor_loop, listener);
    int fd = sys_accept(w->fd, NULL, NULL);
    if (fd >= 0) {
        floor_session_begin(l, fd);
    } else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) {
        floor_unwatch(l, w);
        l->is_full = true;
    }
}

static void on_end(struct watch *w)
{
    LIST_ENTRY(w, struct floor_loop, end)->is_over = true;
}

/* After the last event that could speak of them; and no reply waits for a close. */
static void free_ended(struct floor_loop *l)
{
    struct list *link;
    while ((link = list_pop(&l->ended)) != NULL)
        floor_session_free(LIST_ENTRY(link, struct floor_session, link));
}

static int turn(struct floor_loop *l)
{
    int timeout = l->is_full ? RETRY_MS : WAIT_EVER;
    int n = sys_epoll_wait(l->epoll, l->events, FLOOR_EVENTS, timeout);
    if (n < 0)
        return n == -EINTR ? 0 : n;
    for (int i = 0; i < n; i++) {
        struct watch *w = l->events[i].data.ptr;
        if (w->fd >= 0)
            w->on_ready(w);
    }
    free_ended(l);
    if (l->is_full && floor_watch(l, &l->listener, EPOLLIN) == 0)
        l->is_full = false;
    return 0;
}

/* Who ends, for whatever reason, takes the others along. */
static void *run_loop(void *arg)
{
    struct floor_loop *l = arg;
    while (l->result == 0 && !l->is_over)
        l->result = turn(l);
    sys_eventfd_signal(l->floor->stop);
    return NULL;
}

static int loop_begin(struct floor_loop *l)
{
    l->epoll = sys_epoll_create();
    if (l->epoll < 0)
        return l->epoll;
    int r = sys_pipe(l->pipe);
    if (r == 0)
        (void)!sys_pipe_resize(l->pipe[1], FLOOR_PIPE_BYTES); /* else in smaller steps */
    if (r == 0)
        r = watch(l, l->floor->stop, &l->end, EPOLLIN); /* never read: all see it */
    if (r == 0)
        r = floor_watch(l, &l->listener, EPOLLIN);
    return r;
}

static void loop_end(struct floor_loop *l)
{
    while (!list_empty(&l->sessions))
        floor_session_end(LIST_ENTRY(l->sessions.next, struct floor_session, link));
    free_ended(l);
    sys_close(l->listener.fd);
    sys_close(l->pipe[0]);
    sys_close(l->pipe[1]);
    sys_close(l->epoll);
}

/* -- all of them -- */

static int watch_parent(struct floor *f)
{
    pid_t parent = getppid();
    if (parent == 0) /* it is outside of our namespace of processes */
        return 0;
    f->parent = sys_pidfd_open(parent);
    return f->parent < 0 ? f->parent : 0;
}

static int begin(struct floor *f)
{
    const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    f->folder = sys_openat2(AT_FDCWD, f->settings->folder, &how);
    if (f->folder < 0)
        return f->folder;
    f->stop = sys_eventfd();
    if (f->stop < 0)
        return f->stop;
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGINT);
    f->signals = sys_signalfd(&ends);
    return f->signals < 0 ? f->signals : watch_parent(f);
}

static int listen_all(struct floor *f, struct floor_loop *loops, unsigned count,
                      struct addr *ret_at)
{
    int fds[WORKERS_MAX];
    *ret_at = f->settings->listen;
    int r = tcp_listen_shared(ret_at, BACKLOG, count, fds);
    if (r < 0)
        return r;
    /* Connections inherit it. Without it a reply waits for the acknowledgement of the one
     * before, which the client delays by 40 ms. */
    int on = 1;
    for (unsigned i = 0; i < count; i++) {
        loops[i].listener.fd = fds[i];
        if (r == 0)
            r = sys_setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    return r;
}

/* The first loop is that of the calling thread. */
static int run_threads(struct floor_loop *loops, unsigned count)
{
    unsigned started = 1;
    for (; started < count; started++)
        if (pthread_create(&loops[started].thread, NULL, run_loop, &loops[started]) != 0)
            break;
    if (started < count)
        loops[0].result = -EAGAIN;
    (void)run_loop(&loops[0]);
    int r = loops[0].result;
    for (unsigned i = 1; i < started; i++) {
        (void)pthread_join(loops[i].thread, NULL);
        if (r == 0)
            r = loops[i].result;
    }
    return r;
}

static int serve(struct floor *f, struct floor_loop *loops, unsigned count)
{
    struct addr at;
    int r = begin(f);
    if (r == 0)
        r = listen_all(f, loops, count, &at);
    for (unsigned i = 0; i < count && r == 0; i++)
        r = loop_begin(&loops[i]);
    if (r == 0)
        r = watch(&loops[0], f->signals, &loops[0].end, EPOLLIN);
    if (r == 0 && f->parent >= 0)
        r = watch(&loops[0], f->parent, &loops[0].end, EPOLLIN);
    if (r < 0)
        return r;
    f->settings->ready(f->settings->arg, &at);
    return run_threads(loops, count);
}

int floor_run(const struct floor_settings *settings)
{
    unsigned count = settings->threads == 0 ? 1 : settings->threads;
    if (!addr_is_loopback(&settings->listen) || count > WORKERS_MAX)
        return -EINVAL;
    struct floor f = {
        .settings = settings, .folder = -1, .signals = -1, .parent = -1, .stop = -1};
    struct floor_loop *loops = mem_new(count * sizeof(*loops));
    if (loops == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        loops[i].floor = &f;
        loops[i].epoll = loops[i].pipe[0] = loops[i].pipe[1] = -1;
        loops[i].listener = (struct watch){-1, on_client};
        loops[i].end = (struct watch){0, on_end};
        list_init(&loops[i].sessions);
        list_init(&loops[i].ended);
    }
    int r = serve(&f, loops, count);
    for (unsigned i = 0; i < count; i++)
        loop_end(&loops[i]);
    sys_close(f.signals);
    sys_close(f.parent);
    sys_close(f.stop);
    sys_close(f.folder);
    mem_free(loops);
    return r;
}
