#include "client/copy/condition.h"

struct waiter {
    struct list node;
    struct event told;
};

void copy_condition_init(struct copy_condition *c)
{
    list_init(&c->waiters);
}

int copy_condition_wait(struct copy_condition *c, usec_t deadline)
{
    struct waiter me;
    event_init(&me.told);
    list_append(&c->waiters, &me.node);
    int r = event_wait(&me.told, deadline);
    list_remove(&me.node);
    return r;
}

void copy_condition_tell(struct copy_condition *c)
{
    LIST_EACH(it, &c->waiters)
    event_set(&LIST_ENTRY(it, struct waiter, node)->told);
}
