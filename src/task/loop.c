/* One worker's loop. A turn: everything in the normal queue as it was on entry, one task of the
 * bulk queue, the events (without waiting while anything is runnable) and at once the dozing
 * sessions that they wake, the timers. */
#include <assert.h>
#include <errno.h>

#include "base/mem.h"
#include "task/internal.h"
#include "task/sys.h"

#define EVENTS_MAX 256
#define LAG_US     (50 * USEC_PER_MS)
/* The deterministic clock stands still while the kernel still has something to deliver;
 * loopback takes microseconds. */
#define SETTLE_US   (2 * USEC_PER_MS)
#define WAIT_US_MIN 100 /* timers that lie closer together fire together */
#define WAIT_US_MAX (60 * USEC_PER_S)

int worker_new(struct runtime *rt, unsigned index, struct worker **ret)
{
    struct worker *w = mem_new(sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->runtime = rt;
    w->index = index;
    w->wake_fd = -1;
    w->messages_end = &w->messages;
    w->stacks.measure = rt->settings.measure_stacks;
    w->shuffle = rt->settings.deterministic ? rt->settings.seed * 2 + 1 : 0;
    list_init(&w->normal);
    list_init(&w->bulk);
    list_init(&w->tasks);
    (void)pthread_mutex_init(&w->message_lock, NULL);
    int r = w->epoll = sys_epoll_create();
    if (r >= 0)
        r = w->wake_fd = sys_eventfd();
    if (r >= 0) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
        r = sys_epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake_fd, &event);
    }
    if (r < 0) {
        (void)worker_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

struct worker *worker_free(struct worker *w)
{
    if (!w)
        return NULL;
    stack_pool_done(&w->stacks);
    sys_close(w->epoll);
    sys_close(w->wake_fd);
    (void)pthread_mutex_destroy(&w->message_lock);
    mem_free(w);
    return NULL;
}

/* -- messages -- */

void worker_poke(struct worker *w)
{
    sys_eventfd_signal(w->wake_fd);
}

void worker_post(struct worker *w, struct worker_message *message)
{
    message->next = NULL;
    (void)pthread_mutex_lock(&w->message_lock);
    bool first = w->messages == NULL;
    *w->messages_end = message;
    w->messages_end = &message->next;
    (void)pthread_mutex_unlock(&w->message_lock);
    if (first)
        worker_poke(w);
}

static unsigned take_messages(struct worker *w)
{
    (void)pthread_mutex_lock(&w->message_lock);
    struct worker_message *message = w->messages;
    w->messages = NULL;
    w->messages_end = &w->messages;
    (void)pthread_mutex_unlock(&w->message_lock);
    unsigned count = 0;
    while (message) {
        struct worker_message *next = message->next; /* fn may free it */
        message->fn(message);
        message = next;
        count++;
    }
    return count;
}

/* -- a turn -- */

static void run_one(struct worker *w, struct list *node)
{
    struct task *t = LIST_ENTRY(node, struct task, run_node);
    const char *name = t->name; /* t is gone if it ends */
    usec_t start = w->turn_started = clock_now();
    task_resume(w, t);
    usec_t took = clock_now() - start;
    if (took > w->stats.longest_turn_us)
        w->stats.longest_turn_us = took;
    if (took > LAG_US && w->runtime->on_lag)
        w->runtime->on_lag(name, took);
}

/* The next of the queue; a random one of it in the deterministic runtime. */
static struct list *pick(struct worker *w, struct list *queue, unsigned count)
{
    struct list *node = queue->next;
    if (w->shuffle && count > 1) {
        w->shuffle = w->shuffle * 6364136223846793005u + 1442695040888963407u;
        for (unsigned skip = (unsigned)(w->shuffle >> 33) % count; skip; skip--)
            node = node->next;
    }
    list_remove(node);
    return node;
}

/* A session that was woken from its doze runs at once, so that of many that wake together each
 * has the stack of the one before. The deterministic runtime throws dice for it, too. */
static void run_started(struct worker *w)
{
    struct task *t = w->started;
    w->started = NULL;
    if (!t || w->shuffle)
        return;
    list_remove(&t->run_node);
    run_one(w, &t->run_node);
}

static void run_queues(struct worker *w)
{
    unsigned count = 0;
    LIST_EACH(node, &w->normal)
    count++;
    for (; count; count--)
        run_one(w, pick(w, &w->normal, count));
    if (!list_empty(&w->bulk))
        run_one(w, list_pop(&w->bulk));
}

/* 0: not at all; USEC_NEVER: until something happens. */
static usec_t wait_us(struct worker *w)
{
    if (!list_empty(&w->normal) || !list_empty(&w->bulk) || w->closed_before || w->closed)
        return 0;
    if (w->shuffle)
        return SETTLE_US;
    usec_t next = timers_next(&w->timers);
    if (next == USEC_NEVER)
        return USEC_NEVER;
    usec_t now = clock_now();
    if (next <= now)
        return 0;
    usec_t us = next - now;
    return us < WAIT_US_MIN ? WAIT_US_MIN : us > WAIT_US_MAX ? WAIT_US_MAX : us;
}

/* Less than a millisecond as it is, for who waits so short a time means it; more is rounded up
 * to one. */
static int wait_for_events(const struct worker *w, struct epoll_event *events, int max,
                           usec_t timeout)
{
    if (timeout == USEC_NEVER)
        return sys_epoll_wait(w->epoll, events, max, -1);
    if (timeout > 0 && timeout < USEC_PER_MS)
        return sys_epoll_wait_us(w->epoll, events, max, (unsigned)timeout);
    return sys_epoll_wait(w->epoll, events, max,
                          (int)((timeout + USEC_PER_MS - 1) / USEC_PER_MS));
}

static unsigned dispatch_events(struct worker *w, usec_t timeout)
{
    struct epoll_event events[EVENTS_MAX / 4]; /* a frame of 2 KB at most */
    unsigned total = 0;
    for (unsigned round = 0; round < 4; round++) {
        int n = wait_for_events(w, events, EVENTS_MAX / 4, timeout);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr)
                io_fd_on_event(events[i].data.ptr, events[i].events);
            else
                sys_eventfd_clear(w->wake_fd);
            run_started(w);
        }
        total += n > 0 ? (unsigned)n : 0;
        if (n < EVENTS_MAX / 4)
            break;
        timeout = 0;
    }
    return total;
}

void worker_loop(struct worker *w)
{
    while (atomic_load(&w->runtime->mains_running) || w->task_count) {
        run_queues(w);
        usec_t timeout = wait_us(w);
        unsigned happened = dispatch_events(w, timeout);
        happened += take_messages(w);
        usec_t next = timers_next(&w->timers);
        if (w->shuffle && timeout && !happened && next != USEC_NEVER && next > clock_now())
            w->runtime->fake_now = next; /* nothing else can happen: time passes */
        (void)timers_fire(&w->timers, clock_now());
        io_fd_free_closed(w);
        w->stats.turns++;
    }
    io_fd_free_closed(w);
    io_fd_free_closed(w);
    (void)take_messages(w);
    assert(w->task_count == 0 && "a task outlived the worker's main");
    assert(w->dozing_count == 0 && "a session dozes that nobody can wake");
}

void worker_stats(const struct worker *w, struct worker_stats *ret)
{
    *ret = w->stats;
    ret->tasks = w->task_count;
    ret->dozing = w->dozing_count;
    ret->stacks = w->stacks.mapped;
}
