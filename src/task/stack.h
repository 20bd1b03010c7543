/* Stacks: address space with a guard below, lent to tasks by a per-worker pool. Private to
 * task/.
 *
 * A few warm stacks are kept as they are and lent first, more are kept mapped but their pages
 * are given back to the system, the rest is unmapped. Nothing is noted in a free stack: that
 * would take its page again. Sanitizers are told about each (LeakSanitizer would otherwise
 * report what only a parked stack points to). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "task/task.h"

struct stack {
    char *base; /* lowest usable byte; the guard lies below */
    size_t size;
    enum task_class class;
};

#define STACKS_WARM_MAX 32
#define STACKS_COLD_MAX 480

struct stack_pool {
    struct free_stacks {
        struct stack warm[STACKS_WARM_MAX], cold[STACKS_COLD_MAX];
        unsigned warm_count, cold_count;
    } free[2]; /* by class */

    unsigned mapped; /* all that exist, lent or free */
    bool measure;    /* stacks are zeroed before reuse, so that depth can be read off */
};

/* -EAGAIN: the process has as many mappings as it may (vm.max_map_count); -ENOMEM. */
MUST_CHECK int stack_get(struct stack_pool *, enum task_class, struct stack *ret);
void stack_put(struct stack_pool *, struct stack *);
void stack_pool_done(struct stack_pool *);

/* Bytes from the top down to the deepest byte that was ever written; only with pool.measure. */
size_t stack_depth(const struct stack *);
bool stack_guard_holds(const struct stack *, const void *address);
