#include "task/task.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "task/internal.h"

_Thread_local struct worker *worker_current;

struct task *task_self(void)
{
    return worker_current ? worker_current->current : NULL;
}

const char *task_name(const struct task *t)
{
    return t->name;
}

/* -- parking -- */

static void check_may_park(const struct task *t, const char *what_for)
{
#ifdef FERRY_FAULTS
    if (!t || t->no_park) {
        (void)fprintf(stderr, "ferry: task \"%s\" parks (%s) %s\n", t ? t->name : "none",
                      what_for, t ? "inside a NO_PARK scope" : "outside a task");
        abort();
    }
#else
    (void)t;
    (void)what_for;
#endif
}

static void switch_to_loop(struct task *t)
{
    struct worker *w = t->worker;
    w->current = NULL;
    context_switch(&t->context, &w->loop_context);
    w->current = t;
    t->state = TASK_RUNNING;
    t->waits_for = NULL;
}

void task_wake(struct task *t)
{
    if (t->state != TASK_PARKED)
        return;
    t->woken = true;
    t->state = TASK_RUNNABLE;
    list_append(&t->worker->normal, &t->run_node);
}

static void on_park_timer(struct timer *timer)
{
    struct task *t = LIST_ENTRY(timer, struct task, timer);
    if (t->state != TASK_PARKED)
        return; /* woken in this very turn: the result stands */
    task_wake(t);
    t->woken = false;
    t->timed_out = true;
}

int task_park(const char *what_for, usec_t deadline)
{
    struct task *t = task_self();
    check_may_park(t, what_for);
    if (t->cancelled && !t->shielded)
        return -ECANCELED;
    if (t->shielded && t->shield_deadline < deadline)
        deadline = t->shield_deadline;
    if (deadline != USEC_NEVER) {
        if (deadline <= clock_now())
            return -ETIMEDOUT;
        timer_arm(&t->worker->timers, &t->timer, deadline, on_park_timer);
    }
    t->woken = t->timed_out = false;
    t->state = TASK_PARKED;
    t->waits_for = what_for;
    switch_to_loop(t);
    timer_disarm(&t->worker->timers, &t->timer);
    if (t->woken)
        return 0;
    return t->timed_out ? -ETIMEDOUT : -ECANCELED;
}

void task_park_deaf(const char *what_for)
{
    struct task *t = task_self();
    check_may_park(t, what_for);
    t->deaf = true;
    t->woken = false;
    t->state = TASK_PARKED;
    t->waits_for = what_for;
    switch_to_loop(t);
    t->deaf = false;
}

void task_cancel(struct task *t)
{
    if (t->cancelled)
        return;
    t->cancelled = true;
    if (t->state == TASK_PARKED && !t->shielded && !t->deaf) {
        task_wake(t);
        t->woken = false;
    }
}

bool task_is_cancelled(void)
{
    struct task *t = task_self();
    return t && t->cancelled && !t->shielded;
}

void task_shield_begin(usec_t deadline)
{
    struct task *t = task_self();
    assert(!t->shielded);
    t->shielded = true;
    t->shield_deadline = deadline;
}

void task_shield_end(void)
{
    struct task *t = task_self();
    assert(t->shielded);
    t->shielded = false;
}

void no_park_begin(void)
{
    struct task *t = task_self();
    if (t)
        t->no_park++;
}

void no_park_end(void)
{
    struct task *t = task_self();
    if (t) {
        assert(t->no_park);
        t->no_park--;
    }
}

bool task_turn_is_over(void)
{
    return clock_now() - worker_current->turn_started >= TASK_TURN_US;
}

void task_yield(void)
{
    struct task *t = task_self();
    check_may_park(t, "yield");
    t->state = TASK_RUNNABLE;
    list_append(&t->worker->bulk, &t->run_node);
    switch_to_loop(t);
}

int task_sleep_until(usec_t deadline)
{
    int r = task_park("sleep", deadline);
    return r == -ETIMEDOUT && !(task_self()->shielded && clock_now() < deadline) ? 0 : r;
}

/* -- scopes -- */

void scope_init(struct scope *s)
{
    list_init(&s->tasks);
    list_init(&s->waiters);
    s->count = 0;
    s->closed = false;
}

static void task_end(struct task *t)
{
    struct worker *w = t->worker;
    struct scope *scope = t->scope;
    assert(t->no_park == 0 && !t->shielded);
    list_remove(&t->scope_node);
    list_remove(&t->all_node);
    scope->count--;
    if (scope->count == 0)
        waiters_wake_all(&scope->waiters);
    w->task_count--;
    w->current = NULL;
    t->fn = NULL; /* tells task_resume() that the stack can go */
    context_switch_last(&t->context, &w->loop_context);
}

static void entry(void)
{
    struct task *t = worker_current->current;
    context_entered(&t->context, &t->worker->loop_context);
    t->fn(t->arg);
    task_end(t);
}

/* A second function so that `t`, which lies on the stack that goes, is not used after it. */
void task_resume(struct worker *w, struct task *t)
{
    t->state = TASK_RUNNING;
    w->current = t;
    context_switch(&w->loop_context, &t->context);
    w->current = NULL;
    if (t->fn)
        return;
    struct stack stack = t->stack;
    context_done(&t->context);
    if (w->stacks.measure)
        runtime_note_depth(w->runtime, t->name, stack_depth(&stack), stack.size);
    stack_put(&w->stacks, &stack);
}

int scope_start(struct scope *s, const char *name, enum task_class class, task_fn *fn,
                void *arg, struct task **ret)
{
    struct worker *w = worker_current;
    struct stack stack;
    if (s->closed)
        return -ECANCELED;
    int r = stack_get(&w->stacks, class, &stack);
    if (r < 0)
        return r;
    size_t reserve = (sizeof(struct task) + 63) & ~(size_t)63;
    struct task *t = (struct task *)(void *)(stack.base + stack.size - reserve);
    memset(t, 0, sizeof(*t));
    t->stack = stack;
    t->worker = w;
    t->scope = s;
    t->name = name;
    t->fn = fn;
    t->arg = arg;
    t->state = TASK_RUNNABLE;
    context_init(&t->context, &stack, reserve, entry);
    list_init(&t->run_node);
    list_append(&s->tasks, &t->scope_node);
    list_append(&w->tasks, &t->all_node);
    list_append(&w->normal, &t->run_node);
    s->count++;
    w->task_count++;
    if (ret)
        *ret = t;
    return 0;
}

void scope_cancel(struct scope *s)
{
    LIST_EACH(node, &s->tasks)
    task_cancel(LIST_ENTRY(node, struct task, scope_node));
}

void scope_leave(struct scope *s)
{
    s->closed = true;
    scope_cancel(s);
    while (s->count) {
        struct waiter me = {.task = task_self()};
        list_append(&s->waiters, &me.node);
        task_park_deaf("join");
        list_remove(&me.node);
    }
}

int scope_wait(struct scope *s, usec_t deadline)
{
    int r = 0;
    while (s->count && r == 0) {
        struct waiter me = {.task = task_self()};
        list_append(&s->waiters, &me.node);
        r = task_park("join", deadline);
        list_remove(&me.node);
    }
    return r;
}

/* -- events -- */

void waiters_wake_all(struct list *waiters)
{
    LIST_EACH(node, waiters)
    task_wake(LIST_ENTRY(node, struct waiter, node)->task);
}

void event_init(struct event *e)
{
    e->is_set = false;
    list_init(&e->waiters);
}

void event_set(struct event *e)
{
    e->is_set = true;
    waiters_wake_all(&e->waiters);
}

void event_clear(struct event *e)
{
    e->is_set = false;
}

int event_wait(struct event *e, usec_t deadline)
{
    int r = 0;
    while (!e->is_set && r == 0) {
        struct waiter me = {.task = task_self()};
        list_append(&e->waiters, &me.node);
        r = task_park("event", deadline);
        list_remove(&me.node);
    }
    return e->is_set ? 0 : r;
}
