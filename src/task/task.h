/* Tasks: stackful coroutines on a worker's loop.
 *
 * A task is started in a scope and lives until its function returns. It runs on the worker
 * (thread) that started it and never moves. Whatever would block parks the task; cancelling it
 * makes its current wait, and each later one, return -ECANCELED, so that it leaves by its
 * ordinary clean-up path. Nothing ends a task from outside.
 *
 * struct task lies on its own stack and is gone when the function has returned: hold a pointer
 * to one only while its scope, and what it tells you, say that it still runs.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/list.h"

struct task;
struct worker;

enum task_class { TASK_NORMAL, TASK_LARGE }; /* 64 KB and 256 KB of stack address space */

typedef void task_fn(void *arg);

/* -- scopes: who waits for whom -- */

/* A scope holds tasks of one worker. It may lie on a task's stack or in an object that outlives
 * its tasks; it must be empty (left) when its memory goes. */
struct scope {
    struct list tasks;
    struct list waiters;
    unsigned count;
    bool closed; /* scope_leave() was called: no new task starts */
};

void scope_init(struct scope *);

/* Starts fn(arg) as a task that is runnable at once (it runs after the caller parks or
 * returns). name: static text, shown in logs and by the debugger. ret may be NULL. -ENOMEM,
 * -EAGAIN: no stack to be had (vm.max_map_count); -ECANCELED: the scope is closed. */
MUST_CHECK int scope_start(struct scope *, const char *name, enum task_class, task_fn *fn,
                           void *arg, struct task **ret);

PARKS void scope_leave(struct scope *); /* cancels all and joins them; not cancellable */
PARKS MUST_CHECK int scope_wait(struct scope *,
                                usec_t deadline); /* joins; -ETIMEDOUT, -ECANCELED */
void scope_cancel(struct scope *);                /* cancels all, does not wait */

/* -- the running task -- */

struct task *task_self(void); /* NULL outside a task (loop callbacks, pool threads) */
const char *task_name(const struct task *);
void task_cancel(struct task *);
bool task_is_cancelled(void);

/* Gives way to everything else that is runnable: the task goes to the end of the bulk queue.
 * Call it after TASK_TURN_US or TASK_TURN_BYTES; task_turn_is_over() knows. */
PARKS void task_yield(void);
bool task_turn_is_over(void);
PARKS MUST_CHECK int task_sleep_until(usec_t deadline); /* 0 at the deadline, -ECANCELED */

/* Clean-up that must wait (remove a partial file, send 421): until task_shield_end() cancel is
 * not seen, and every wait ends at the deadline at the latest (-ETIMEDOUT). Shields do not
 * nest. */
void task_shield_begin(usec_t deadline);
void task_shield_end(void);

/* Parks may not happen between these two: callbacks from foreign code, list walks, held
 * mutexes. A debug build aborts, naming the task, when one does. They nest. */
void no_park_begin(void);
void no_park_end(void);

/* -- events: one task tells others -- */

/* Level-triggered, for tasks and loop callbacks of one worker. Lives in its owner's object. */
struct event {
    bool is_set;
    struct list waiters;
};

void event_init(struct event *);
void event_set(struct event *);
void event_clear(struct event *);
PARKS MUST_CHECK int event_wait(struct event *,
                                usec_t deadline); /* 0, -ETIMEDOUT, -ECANCELED */
