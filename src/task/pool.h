/* The pool: threads that run what would block (files, hashes).
 *
 * A job is a heap object whose first member is struct job, and it owns all that it touches:
 * referenced descriptors, buffers, a copy of the path, its result. It gets no pointer into a
 * task's stack.
 *
 *     struct stat_job { struct job job; struct vroot *root; int result; struct stat st; };
 *     r = job_run(pool, &j->job, &shares, deadline);    parks
 *     if (r < 0) return r;                              the job is gone, or goes by itself
 *     ... read j->result ...; j->job.free(&j->job);
 *
 * Cancel detaches: the task leaves with -ECANCELED at once and the job is freed (job.free, on
 * whatever thread) when its call returns, which on a stopped file system may be never. A
 * detached job still counts against its shares.
 */
#pragma once
#include "base/attr.h"
#include "base/clock.h"
#include "base/list.h"
#include "task/runtime.h"

struct pool;
struct pool_share;

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_FINISHED, JOB_DETACHED };

struct job {
    void (*run)(struct job *);  /* on a pool thread; must not use tasks or worker objects */
    void (*free)(struct job *); /* releases all it owns, then itself; any thread */

    /* the pool's own */
    enum job_state state; /* under the pool's lock */
    bool is_delivered;    /* the worker knows that it has run */
    struct list node;
    struct worker_message message;
    struct worker *worker;
    struct task *task;
    struct pool_share *shares[3];
};

/* How many jobs of one owner (session, account, root) may run at once; the others wait in the
 * queue without blocking those of other owners. Counted references: a detached job holds its
 * shares. */
MUST_CHECK int pool_share_new(unsigned at_once, struct pool_share **ret);
struct pool_share *pool_share_ref(struct pool_share *);
void pool_share_unref(struct pool_share *); /* NULL is fine */

struct pool_shares {
    struct pool_share *session, *account, *root; /* each may be NULL */
};

/* threads are started by pool_start(). queue_max: jobs waiting, beyond which job_run() is
 * -EBUSY. */
MUST_CHECK int pool_new(unsigned threads, unsigned queue_max, struct pool **ret);
MUST_CHECK int pool_start(struct pool *);
/* Before pool_start(): its threads run at a priority that is so much lower, as by nice(2). */
void pool_be_nicer(struct pool *, int by);
struct pool *
pool_free(struct pool *); /* waits for running jobs up to a second, then leaves them */
unsigned pool_threads(const struct pool *);

/* From now on counts how long jobs were kept waiting by the system: the time in which at least
 * one ran, less the processor time of all. Of a disk, where jobs are for files. */
void pool_measure(struct pool *);
usec_t pool_blocked_us(struct pool *);

/* Takes the job. 0: it has run, and is the caller's again. Else it is no longer the caller's:
 * -ECANCELED (detached), -EBUSY (queue full), -ETIMEDOUT (detached at the deadline).
 * In the deterministic runtime the job runs inline. shares may be NULL. */
PARKS MUST_CHECK int job_run(struct pool *, struct job *, const struct pool_shares *,
                             usec_t deadline);

/* The same in steps, for a task that has something to do while the job runs. job_start() hands
 * it over (-EBUSY: queue full, it is still the caller's). Then follows job_wait(), with the
 * results of job_run(), or job_abandon(), which frees the job, now or when its call returns; by
 * a task of the same worker. job_wait() tells of a cancel even if the job has run: who goes
 * from job to job hears of it. */
MUST_CHECK int job_start(struct pool *, struct job *, const struct pool_shares *);
PARKS MUST_CHECK int job_wait(struct pool *, struct job *, usec_t deadline);
PARKS void job_abandon(struct pool *, struct job *);

/* For clean-up that nobody waits for, from any thread: the job runs when its shares allow and
 * is freed. -EBUSY (queue full): it is still the caller's. */
MUST_CHECK int job_post(struct pool *, struct job *, const struct pool_shares *);
