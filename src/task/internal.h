/* What the files of task/ share: the worker, the task, parking. Private to task/. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/limits.h"
#include "task/context.h"
#include "task/fd.h"
#include "task/runtime.h"
#include "task/stack.h"
#include "task/task.h"
#include "task/timer.h"

enum task_state { TASK_RUNNABLE, TASK_RUNNING, TASK_PARKED };

/* Lies at the top of its own stack, in a page that is touched anyway. */
struct task {
    struct list run_node;   /* in the worker's normal or bulk queue */
    struct list scope_node; /* in its scope */
    struct list all_node;   /* in worker.tasks, for the debugger and for crash reports */
    struct scope *scope;
    struct worker *worker;
    const char *name;
    task_fn *fn;
    void *arg;
    enum task_state state;
    const char *waits_for; /* "read", "job", ...; NULL while it does not wait */
    struct timer timer;
    usec_t shield_deadline;
    unsigned no_park; /* depth of NO_PARK scopes */
    bool woken, timed_out, cancelled, shielded, deaf;
    struct stack stack;
    struct context context;
};

/* One who waits on an event or a scope; lies on the waiter's stack. */
struct waiter {
    struct list node;
    struct task *task;
};

struct worker {
    struct runtime *runtime;
    unsigned index;
    pthread_t thread;
    int epoll, wake_fd;
    struct list normal, bulk; /* run queues */
    struct list tasks;        /* all that are awake */
    unsigned task_count, dozing_count;
    struct task *current;
    struct task *started; /* by the event that is being told; runnable */
    usec_t turn_started;
    struct context loop_context;
    struct stack_pool stacks;
    struct timers timers;
    /* Closed in this turn, and in the one before: those are freed, since by now everyone who
     * was woken by the close has run. */
    struct io_fd *closed, *closed_before;

    pthread_mutex_t message_lock;
    struct worker_message *messages, **messages_end; /* under message_lock */

    uint64_t shuffle; /* state of the deterministic shuffle; 0: none */
    struct worker_stats stats;
};

struct runtime {
    struct runtime_settings settings;
    unsigned worker_count;
    struct worker *workers[WORKERS_MAX];
    struct pool *files, *hashes, *codecs;
    task_fn *main_task;
    void *main_arg;
    pthread_mutex_t start_lock;
    bool all_started; /* under start_lock */
    _Atomic unsigned mains_running;
    _Atomic int start_failure; /* of a worker's main task */
    void (*on_lag)(const char *task_name, usec_t us);
    usec_t fake_now;
    struct stack_depth depths[32];
    pthread_mutex_t depth_lock;
};

/* tools/gdb/tasks.py starts here. */
extern struct runtime *runtime_for_debugger;

extern _Thread_local struct worker *worker_current;

/* -- parking -- */

/* Parks the running task until task_wake(), cancel or the deadline: 0, -ECANCELED, -ETIMEDOUT.
 * The caller has put itself where the waker finds it, and takes itself away afterwards. */
PARKS MUST_CHECK int task_park(const char *what_for, usec_t deadline);
/* Deaf to cancel and shields: for joins and for what is certain to come. */
PARKS void task_park_deaf(const char *what_for);
void task_wake(struct task *);
void waiters_wake_all(struct list *waiters);

/* Deepest stack use per task name; only with runtime_settings.measure_stacks. */
void runtime_note_depth(struct runtime *, const char *task_name, size_t bytes, size_t size);

/* -- the loop -- */

MUST_CHECK int worker_new(struct runtime *, unsigned index, struct worker **ret);
struct worker *worker_free(struct worker *);
void worker_loop(struct worker *); /* until every main task has returned */
void worker_poke(struct worker *); /* ends its epoll_wait; any thread */
void task_resume(struct worker *, struct task *);
void io_fd_on_event(struct io_fd *, uint32_t epoll_events);
void io_fd_free_closed(struct worker *); /* at the end of each turn */

/* -- the crash handler -- */

MUST_CHECK int
crash_thread_setup(char **ret_stack); /* an alternate signal stack for the calling thread */
void crash_thread_done(char *stack);
