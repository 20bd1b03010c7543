/* The runtime: workers (a thread with an epoll loop each), the pool, the clock.
 *
 * runtime_new() makes every object but starts no thread, so that a process can give up its
 * rights after it (Landlock and seccomp bind only the calling thread and what it starts).
 * runtime_run() then starts the threads, runs main_task as a task on every worker, and returns
 * when each has returned and no task and no dozing registration is left: that is asserted.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "task/task.h"

struct runtime;
struct pool;

struct runtime_settings {
    unsigned workers;      /* 0: one per core, at most WORKERS_MAX */
    unsigned pool_threads; /* 0: a default */
    unsigned hash_threads; /* 0: as many as cores */
    bool deterministic;    /* one worker, jobs run inline, the fake clock, shuffled run queue */
    uint64_t seed;         /* of the shuffle */
    bool measure_stacks; /* slow: zeroes each stack before reuse, so that its depth can be read
                          */
};

MUST_CHECK int runtime_new(const struct runtime_settings *, struct runtime **ret);
/* -EAGAIN: a thread could not be started, and nothing was run. -ENOMEM, -EAGAIN: a worker had
 * no stack for its main task. */
MUST_CHECK int runtime_run(struct runtime *, task_fn *main_task, void *arg);
struct runtime *runtime_free(struct runtime *); /* not while it runs; NULL is fine */

unsigned runtime_workers(const struct runtime *);
struct pool *runtime_files_pool(struct runtime *); /* for what touches files */
struct pool *runtime_hash_pool(struct runtime *);  /* for password hashes: bounded queue */
/* For compression: as many threads as cores, at a lower priority, so that neither what touches
 * files nor what answers a peer waits for it. */
struct pool *runtime_codec_pool(struct runtime *);
struct runtime *runtime_self(void); /* of the calling worker thread; NULL elsewhere */

/* -- workers -- */

struct worker *worker_self(void); /* NULL outside worker threads */
unsigned worker_index(const struct worker *);
struct worker *runtime_worker(struct runtime *, unsigned index);

/* Runs fn(arg) once on that worker's loop, not in a task (it may not park). From any thread.
 * The message is the caller's memory until fn is called; order per sender is kept. */
struct worker_message {
    struct worker_message *next;
    void (*fn)(struct worker_message *);
};

void worker_post(struct worker *, struct worker_message *);

struct worker_stats {
    uint64_t turns;         /* loop iterations */
    usec_t longest_turn_us; /* of one task resume or callback: the loop's lag */
    unsigned tasks;         /* awake */
    unsigned dozing;
    unsigned stacks; /* mapped */
};

void worker_stats(const struct worker *, struct worker_stats *ret); /* on its own thread only */

/* Called on the worker's thread when a resume took longer than 50 ms (DESIGN 3.10). */
void runtime_on_lag(struct runtime *, void (*fn)(const char *task_name, usec_t us));

/* With measure_stacks: the deepest use of a stack by tasks of each name (up to 32). Returns the
 * count. */
struct stack_depth {
    const char *task_name;
    size_t bytes, of_bytes;
};

unsigned runtime_stack_depths(struct runtime *, const struct stack_depth **ret);

/* Blocks all signals in the caller and installs the crash handler (task/crash.c), which names
 * the task and says "stack overflow" for a guard. Call first in main(). */
MUST_CHECK int runtime_signals_setup(void);
