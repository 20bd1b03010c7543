#include "bench/engine/crowd.h"

#include <errno.h>

static void member_main(void *arg)
{
    struct crowd *c = arg;
    while (c->result == 0 && c->next < c->count) {
        unsigned index = c->next++;
        int r = c->act(c->arg, index);
        if (r < 0 && c->result == 0) {
            c->result = r;
            c->failed = index;
            scope_cancel(&c->scope);
        }
    }
}

int crowd_run(struct crowd *c)
{
    scope_init(&c->scope);
    c->next = c->failed = 0;
    c->result = 0;
    int r = 0;
    for (unsigned i = 0; i < c->width && i < c->count && r == 0; i++)
        r = scope_start(&c->scope, "client", TASK_NORMAL, member_main, c, NULL);
    if (r == 0)
        r = scope_wait(&c->scope, USEC_NEVER);
    scope_leave(&c->scope);
    return c->result < 0 && c->result != -ECANCELED ? c->result : r < 0 ? r : c->result;
}
