#include "task/fd.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "task/internal.h"
#include "task/sys.h"

#define DOZE_RETRY_US (100 * USEC_PER_MS)
#define EVENTS        (EPOLLIN | EPOLLRDHUP | EPOLLPRI) /* and EPOLLOUT, once asked for */

struct io_fd {
    int number;
    _Atomic unsigned refs; /* the worker's one, and one per job */
    bool closed;
    bool tells_room;  /* EPOLLOUT is asked for */
    bool hides_bytes; /* io_fd_read_short() may not conclude anything */

    struct io_side {
        bool ready;
        unsigned edges;
        struct task *waiter;
    } side[IO_DIR_COUNT];
    struct worker *worker;
    struct io_fd *next_closed;

    struct doze {
        task_fn *fn; /* NULL: it does not doze */
        task_fn *no_stack;
        void *arg;
        struct scope *scope;
        const char *name;
        struct timer timer;
    } doze;
};

static int watch(struct io_fd *f, int operation, uint32_t more)
{
    struct epoll_event event = {.events = EVENTS | EPOLLET | more, .data.ptr = f};
    return sys_epoll_ctl(f->worker->epoll, operation, f->number, &event);
}

int io_fd_new(int number, struct io_fd **ret)
{
    struct worker *w = worker_current;
    struct io_fd *f = mem_new(sizeof(*f));
    if (!f) {
        sys_close(number);
        return -ENOMEM;
    }
    f->number = number;
    f->worker = w;
    f->refs = 1;
    /* A new socket may be readable and writable without any edge to come: try first. */
    f->side[IO_READ].ready = f->side[IO_WRITE].ready = true;
    int r = watch(f, EPOLL_CTL_ADD, 0);
    if (r < 0) {
        sys_close(number);
        mem_free(f);
        return r;
    }
    *ret = f;
    return 0;
}

struct io_fd *io_fd_ref(struct io_fd *f)
{
    atomic_fetch_add(&f->refs, 1);
    return f;
}

void io_fd_unref(struct io_fd *f)
{
    if (atomic_fetch_sub(&f->refs, 1) != 1)
        return;
    sys_close(f->number);
    mem_free(f);
}

static void doze_end(struct io_fd *f)
{
    timer_disarm(&f->worker->timers, &f->doze.timer);
    f->doze.fn = NULL;
    f->worker->dozing_count--;
}

struct io_fd *io_fd_close(struct io_fd *f)
{
    if (!f || f->closed)
        return NULL;
    struct worker *w = f->worker;
    assert(w == worker_current);
    f->closed = true;
    if (f->doze.fn)
        doze_end(f);
    for (unsigned dir = 0; dir < IO_DIR_COUNT; dir++) {
        if (f->side[dir].waiter)
            task_wake(f->side[dir].waiter); /* it sees `closed` */
    }
    /* Removed by hand: while a job holds a reference the descriptor stays open and would go on
     * making events for memory that is gone. Injected failures must not reach this call. */
    (void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, f->number, NULL);
    if (atomic_load(&f->refs) > 1)
        sys_shutdown(f->number, SHUT_RDWR);
    f->next_closed = w->closed;
    w->closed = f;
    return NULL;
}

void io_fd_free_closed(struct worker *w)
{
    while (w->closed_before) {
        struct io_fd *f = w->closed_before;
        w->closed_before = f->next_closed;
        io_fd_unref(f);
    }
    w->closed_before = w->closed;
    w->closed = NULL;
}

int io_fd_number(const struct io_fd *f)
{
    return f->number;
}

unsigned io_fd_edges(const struct io_fd *f, enum io_dir dir)
{
    return f->side[dir].edges;
}

void io_fd_not_ready(struct io_fd *f, enum io_dir dir, unsigned edges)
{
    if (f->side[dir].edges == edges)
        f->side[dir].ready = false;
}

void io_fd_read_short(struct io_fd *f, unsigned edges)
{
    if (!f->hides_bytes)
        io_fd_not_ready(f, IO_READ, edges);
}

/* By hand: an injected failure would leave the descriptor mute, and one that is registered can
 * be modified without fail. */
static void ask_for(struct io_fd *f, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET, .data.ptr = f};
    if (!f->closed)
        (void)epoll_ctl(f->worker->epoll, EPOLL_CTL_MOD, f->number, &event);
}

void io_fd_mute(struct io_fd *f)
{
    ask_for(f, 0);
}

void io_fd_unmute(struct io_fd *f)
{
    ask_for(f, EVENTS | (f->tells_room ? EPOLLOUT : 0));
}

/* -- waiting -- */

/* Few ever wait for room, and a socket that has some tells so as soon as it is asked: whoever
 * just reads would be woken for it. Asking late loses nothing, since epoll looks at once. */
static int ask_for_room(struct io_fd *f)
{
    if (f->tells_room)
        return 0;
    int r = watch(f, EPOLL_CTL_MOD, EPOLLOUT);
    f->tells_room = r == 0;
    return r;
}

static void claim(struct io_side *side)
{
#ifdef FERRY_FAULTS
    if (side->waiter) {
        (void)fprintf(stderr,
                      "ferry: two tasks wait for one direction of a descriptor: %s, %s\n",
                      side->waiter->name, task_self()->name);
        abort();
    }
#endif
    side->waiter = task_self();
}

int io_fd_wait(struct io_fd *f, enum io_dir dir, usec_t deadline)
{
    return io_fd_wait_or(f, dir, NULL, deadline);
}

int io_fd_wait_or(struct io_fd *f, enum io_dir dir, struct event *event, usec_t deadline)
{
    struct io_side *side = &f->side[dir];
    struct waiter me = {.task = task_self()};
    list_init(&me.node);
    for (;;) {
        if (event && event->is_set)
            return 1;
        if (f->closed)
            return -ECANCELED;
        if (side->ready)
            return 0;
        int r = dir == IO_WRITE ? ask_for_room(f) : 0;
        if (r < 0)
            return r;
        claim(side);
        if (event)
            list_append(&event->waiters, &me.node);
        r = task_park(dir == IO_READ ? "read" : "write", deadline);
        if (event)
            list_remove(&me.node);
        side->waiter = NULL;
        if (r < 0 && !side->ready && !(event && event->is_set))
            return r;
    }
}

/* -- dozing -- */

static void on_doze_timer(struct timer *t);

static int doze_start_task(struct io_fd *f, struct task **ret)
{
    struct doze *d = &f->doze;
    int r = scope_start(d->scope, d->name, TASK_NORMAL, d->fn, d->arg, ret);
    assert(r != -ECANCELED); /* who leaves a scope wakes its dozers first */
    if (r < 0)
        timer_arm(&f->worker->timers, &d->timer, clock_after(DOZE_RETRY_US), on_doze_timer);
    else
        doze_end(f);
    return r;
}

static void doze_wake(struct io_fd *f, struct task **ret)
{
    if (doze_start_task(f, ret) < 0)
        f->doze.no_stack(f->doze.arg); /* it may close f, which is freed later */
}

static void on_doze_timer(struct timer *t)
{
    doze_wake(LIST_ENTRY(t, struct io_fd, doze.timer), NULL);
}

void io_fd_doze(struct io_fd *f, struct scope *scope, const char *name, task_fn *fn,
                task_fn *no_stack, void *arg, usec_t deadline)
{
    assert(!f->doze.fn && !f->closed);
    f->doze.fn = fn;
    f->doze.no_stack = no_stack;
    f->doze.arg = arg;
    f->doze.scope = scope;
    f->doze.name = name;
    f->worker->dozing_count++;
    if (f->side[IO_READ].ready)
        (void)(doze_start_task(f, NULL) < 0); /* the caller still uses what no_stack may free */
    else if (deadline != USEC_NEVER)
        timer_arm(&f->worker->timers, &f->doze.timer, deadline, on_doze_timer);
}

void io_fd_wake(struct io_fd *f)
{
    if (f->doze.fn)
        doze_wake(f, NULL);
}

bool io_fd_is_dozing(const struct io_fd *f)
{
    return f->doze.fn != NULL;
}

/* -- events -- */

void io_fd_on_event(struct io_fd *f, uint32_t events)
{
    if (f->closed)
        return;
    const uint32_t both = EPOLLHUP | EPOLLERR;
    if (events & (EPOLLRDHUP | EPOLLPRI | both))
        f->hides_bytes = true;
    const uint32_t mask[IO_DIR_COUNT] = {EPOLLIN | EPOLLRDHUP | both,
                                         EPOLLOUT | EPOLLRDHUP | both};
    for (unsigned dir = 0; dir < IO_DIR_COUNT; dir++) {
        struct io_side *side = &f->side[dir];
        if (!(events & mask[dir]))
            continue;
        side->ready = true;
        side->edges++;
        if (side->waiter)
            task_wake(side->waiter);
    }
    if (f->doze.fn && f->side[IO_READ].ready)
        doze_wake(f, &f->worker->started);
}
