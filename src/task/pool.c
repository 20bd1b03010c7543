#include "task/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"
#include "task/internal.h"
#include "task/sys.h"

#define LAST_WAIT_S 1 /* for running jobs when the pool ends */

struct pool_share {
    _Atomic unsigned refs;
    unsigned at_once, running; /* running: under the pool's lock */
};

struct pool {
    unsigned thread_count, queue_max;
    int nicer; /* the threads lower their priority by this */
    unsigned started, alive;
    pthread_t *threads; /* those that were started */
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    struct list queue;
    unsigned queued;
    bool stops;
    _Atomic bool measures;
    /* under the lock: jobs that are measured, since when there are any, and sums */
    unsigned running;
    usec_t since, ran_us;
    uint64_t cpu_ns;
};

int pool_share_new(unsigned at_once, struct pool_share **ret)
{
    struct pool_share *s = mem_new(sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->refs = 1;
    s->at_once = at_once;
    *ret = s;
    return 0;
}

struct pool_share *pool_share_ref(struct pool_share *s)
{
    if (s)
        atomic_fetch_add(&s->refs, 1);
    return s;
}

void pool_share_unref(struct pool_share *s)
{
    if (s && atomic_fetch_sub(&s->refs, 1) == 1)
        mem_free(s);
}

/* -- threads -- */

static bool shares_allow(const struct job *j)
{
    for (unsigned i = 0; i < ARRAY_LEN(j->shares); i++) {
        if (j->shares[i] && j->shares[i]->running >= j->shares[i]->at_once)
            return false;
    }
    return true;
}

/* The first job that its owners' shares allow: one owner's crowd does not block another's job.
 */
static struct job *next_job(struct pool *pool)
{
    LIST_EACH(node, &pool->queue)
    {
        struct job *j = LIST_ENTRY(node, struct job, node);
        if (shares_allow(j)) {
            list_remove(&j->node);
            pool->queued--;
            return j;
        }
    }
    return NULL;
}

static void count_running(struct job *j, int by)
{
    for (unsigned i = 0; i < ARRAY_LEN(j->shares); i++) {
        if (j->shares[i])
            j->shares[i]->running += (unsigned)by;
    }
}

static void drop_shares(struct job *j)
{
    for (unsigned i = 0; i < ARRAY_LEN(j->shares); i++) {
        pool_share_unref(j->shares[i]);
        j->shares[i] = NULL;
    }
}

/* On the worker: the job has run. */
static void on_finished(struct worker_message *message)
{
    struct job *j = LIST_ENTRY(message, struct job, message);
    j->is_delivered = true;
    if (j->task)
        task_wake(j->task);
}

static void finish(struct pool *pool, struct job *j)
{
    struct worker *owner = j->worker;
    (void)pthread_mutex_lock(&pool->lock);
    count_running(j, -1);
    bool detached = j->state == JOB_DETACHED;
    if (!detached)
        j->state = JOB_FINISHED;
    /* a job that waits for one of these shares has no wake-up of its own */
    if (pool->queued)
        (void)pthread_cond_signal(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    drop_shares(j);
    if (detached)
        j->free(j);
    else
        worker_post(owner, &j->message);
}

/* -- measuring -- */

void pool_measure(struct pool *pool)
{
    atomic_store(&pool->measures, true);
}

usec_t pool_blocked_us(struct pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    usec_t ran = pool->ran_us + (pool->running > 0 ? clock_now() - pool->since : 0);
    usec_t cpu = pool->cpu_ns / 1000;
    (void)pthread_mutex_unlock(&pool->lock);
    return ran > cpu ? ran - cpu : 0;
}

/* Under the lock. */
static void measure_begin(struct pool *pool)
{
    if (pool->running++ == 0)
        pool->since = clock_now();
}

static void measure_end(struct pool *pool, uint64_t cpu_ns)
{
    pool->cpu_ns += cpu_ns;
    if (--pool->running == 0)
        pool->ran_us += clock_now() - pool->since;
}

static void *pool_thread(void *arg)
{
    struct pool *pool = arg;
    char *alternate = NULL;
    if (crash_thread_setup(&alternate) < 0)
        alternate = NULL;
    if (pool->nicer != 0)
        sys_be_nicer(pool->nicer);
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct job *j = next_job(pool);
        if (!j) {
            if (pool->stops)
                break;
            (void)pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        if (j->state == JOB_QUEUED)
            j->state = JOB_RUNNING;
        count_running(j, 1);
        bool measures = atomic_load_explicit(&pool->measures, memory_order_relaxed);
        if (measures)
            measure_begin(pool);
        (void)pthread_mutex_unlock(&pool->lock);
        uint64_t cpu_ns = measures ? sys_thread_cpu_ns() : 0;
        j->run(j);
        cpu_ns = measures ? sys_thread_cpu_ns() - cpu_ns : 0;
        finish(pool, j);
        (void)pthread_mutex_lock(&pool->lock);
        if (measures)
            measure_end(pool, cpu_ns);
    }
    pool->alive--;
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
    crash_thread_done(alternate);
    return NULL;
}

int pool_new(unsigned threads, unsigned queue_max, struct pool **ret)
{
    struct pool *pool = mem_new(sizeof(*pool));
    if (!pool)
        return -ENOMEM;
    pool->threads = mem_new((threads + 1) * sizeof(*pool->threads));
    if (!pool->threads) {
        mem_free(pool);
        return -ENOMEM;
    }
    pool->thread_count = threads;
    pool->queue_max = queue_max;
    list_init(&pool->queue);
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->work, NULL);
    (void)pthread_cond_init(&pool->idle, NULL);
    *ret = pool;
    return 0;
}

void pool_be_nicer(struct pool *pool, int by)
{
    pool->nicer = by;
}

int pool_start(struct pool *pool)
{
    int r = 0;
    while (pool->started < pool->thread_count) {
        pool->alive++;
        r = -pthread_create(&pool->threads[pool->started], NULL, pool_thread, pool);
        if (r < 0) {
            pool->alive--;
            break;
        }
        pool->started++;
    }
    return pool->started ? 0 : r; /* fewer threads than asked for are still a pool */
}

/* Each has left its loop, and ends what libraries keep for a thread: with the process's own end
 * beside it, that would be lost. */
static void join_threads(struct pool *pool)
{
    for (unsigned i = 0; i < pool->started; i++)
        (void)pthread_join(pool->threads[i], NULL);
}

/* One hangs on a dead disk and still needs the pool, which stays until the exit. */
static void leave_threads(struct pool *pool)
{
    for (unsigned i = 0; i < pool->started; i++)
        (void)pthread_detach(pool->threads[i]);
}

struct pool *pool_free(struct pool *pool)
{
    if (!pool)
        return NULL;
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LAST_WAIT_S;
    (void)pthread_mutex_lock(&pool->lock);
    pool->stops = true;
    (void)pthread_cond_broadcast(&pool->work);
    int r = 0;
    while (pool->alive && r == 0)
        r = pthread_cond_timedwait(&pool->idle, &pool->lock, &until);
    bool stuck = pool->alive > 0;
    (void)pthread_mutex_unlock(&pool->lock);
    if (stuck) {
        leave_threads(pool);
        return NULL;
    }
    join_threads(pool);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_cond_destroy(&pool->idle);
    (void)pthread_mutex_destroy(&pool->lock);
    mem_free(pool->threads);
    mem_free(pool);
    return NULL;
}

unsigned pool_threads(const struct pool *pool)
{
    return pool->thread_count;
}

/* -- the task's side -- */

static int submit(struct pool *pool, struct job *j, const struct pool_shares *shares,
                  enum job_state state)
{
    j->worker = worker_current;
    j->task = NULL;
    j->is_delivered = false;
    j->message.fn = on_finished;
    j->state = state;
    j->shares[0] = shares ? pool_share_ref(shares->session) : NULL;
    j->shares[1] = shares ? pool_share_ref(shares->account) : NULL;
    j->shares[2] = shares ? pool_share_ref(shares->root) : NULL;
    (void)pthread_mutex_lock(&pool->lock);
    int r = pool->queued >= pool->queue_max ? -EBUSY : 0;
    if (r == 0) {
        list_append(&pool->queue, &j->node);
        pool->queued++;
        (void)pthread_cond_signal(&pool->work);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (r < 0)
        drop_shares(j);
    return r;
}

/* The task leaves before its job is done. Returns true if the job has run after all and its
 * message is on the way: then it is waited for, since that is a matter of microseconds. */
static bool detach(struct pool *pool, struct job *j)
{
    (void)pthread_mutex_lock(&pool->lock);
    enum job_state was = j->state;
    if (was == JOB_QUEUED) {
        list_remove(&j->node);
        pool->queued--;
    } else if (was == JOB_RUNNING) {
        j->state = JOB_DETACHED;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (was == JOB_QUEUED) {
        drop_shares(j);
        j->free(j);
    }
    return was == JOB_FINISHED;
}

static PARKS void await_delivery(struct job *j)
{
    j->task = task_self();
    while (!j->is_delivered)
        task_park_deaf("job");
}

int job_start(struct pool *pool, struct job *j, const struct pool_shares *shares)
{
    if (pool->thread_count == 0) { /* the deterministic runtime */
        no_park_begin();
        j->run(j);
        no_park_end();
        j->is_delivered = true;
        return 0;
    }
    return submit(pool, j, shares, JOB_QUEUED);
}

void job_abandon(struct pool *pool, struct job *j)
{
    if (!j->is_delivered && !detach(pool, j))
        return;
    await_delivery(j);
    j->free(j);
}

int job_wait(struct pool *pool, struct job *j, usec_t deadline)
{
    if (task_is_cancelled()) {
        job_abandon(pool, j);
        return -ECANCELED;
    }
    if (j->is_delivered)
        return 0;
    j->task = task_self();
    int r = task_park("job", deadline);
    if (r < 0 && !detach(pool, j))
        return r;
    await_delivery(j);
    return 0;
}

int job_run(struct pool *pool, struct job *j, const struct pool_shares *shares, usec_t deadline)
{
    int r = task_is_cancelled() ? -ECANCELED : job_start(pool, j, shares);
    if (r < 0) {
        j->free(j);
        return r;
    }
    return job_wait(pool, j, deadline);
}

int job_post(struct pool *pool, struct job *j, const struct pool_shares *shares)
{
    if (pool->thread_count == 0) {
        j->run(j);
        j->free(j);
        return 0;
    }
    return submit(pool, j, shares, JOB_DETACHED);
}
