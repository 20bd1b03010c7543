#include "task/timer.h"

#include <stddef.h>

/* Joins two heaps; the later top becomes the first child of the earlier one. */
static struct timer *meld(struct timer *a, struct timer *b)
{
    if (!a)
        return b;
    if (!b)
        return a;
    if (b->at < a->at) {
        struct timer *t = a;
        a = b;
        b = t;
    }
    b->prev = a;
    b->next = a->child;
    if (b->next)
        b->next->prev = b;
    a->child = b;
    return a;
}

/* Two passes over the children, as a loop: there can be tens of thousands. */
static struct timer *meld_children(struct timer *first)
{
    struct timer *pairs = NULL;
    while (first) {
        struct timer *a = first, *b = first->next;
        first = b ? b->next : NULL;
        a->next = a->prev = NULL;
        if (b)
            b->next = b->prev = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    struct timer *top = NULL;
    while (pairs) {
        struct timer *a = pairs;
        pairs = a->next;
        a->next = NULL;
        top = meld(top, a);
    }
    return top;
}

void timer_arm(struct timers *all, struct timer *t, usec_t at, void (*fn)(struct timer *))
{
    timer_disarm(all, t);
    t->at = at;
    t->fn = fn;
    t->child = t->next = t->prev = NULL;
    t->armed = true;
    all->top = meld(all->top, t);
}

void timer_disarm(struct timers *all, struct timer *t)
{
    if (!t->armed)
        return;
    t->armed = false;
    struct timer *rest = meld_children(t->child);
    t->child = NULL;
    if (all->top == t) {
        all->top = rest;
        return;
    }
    if (t->prev->child == t)
        t->prev->child = t->next;
    else
        t->prev->next = t->next;
    if (t->next)
        t->next->prev = t->prev;
    t->next = t->prev = NULL;
    all->top = meld(all->top, rest);
}

usec_t timers_next(const struct timers *all)
{
    return all->top ? all->top->at : USEC_NEVER;
}

unsigned timers_fire(struct timers *all, usec_t now)
{
    unsigned fired = 0;
    while (all->top && all->top->at <= now) {
        struct timer *t = all->top;
        timer_disarm(all, t);
        t->fn(t);
        fired++;
    }
    return fired;
}
