#include "task/pool.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "runtime_fixture.h"

/* A job that blocks until a byte comes through a pipe, like one on a disk that has stopped. */
struct blocked_job {
    struct job job;
    int gate;
    int result;
};

static _Atomic int freed, running, running_most, ran;

static void blocked_run(struct job *job)
{
    struct blocked_job *j = (struct blocked_job *)job;
    int now = atomic_fetch_add(&running, 1) + 1;
    if (now > atomic_load(&running_most))
        atomic_store(&running_most, now);
    char c;
    j->result = (int)read(j->gate, &c, 1);
    atomic_fetch_sub(&running, 1);
    atomic_fetch_add(&ran, 1);
}

static void blocked_free(struct job *job)
{
    atomic_fetch_add(&freed, 1);
    mem_free(job);
}

static struct blocked_job *blocked_new(int gate)
{
    struct blocked_job *j = mem_new(sizeof(*j));
    TASK_ASSERT(j);
    j->job.run = blocked_run;
    j->job.free = blocked_free;
    j->gate = gate;
    return j;
}

static int gate[2];
static struct pool_shares shares;
static _Atomic int done, canceled;

static void user(void *arg)
{
    struct blocked_job *j = blocked_new(gate[0]);
    (void)arg;
    int r = job_run(runtime_files_pool(runtime_self()), &j->job, &shares, USEC_NEVER);
    if (r < 0) {
        TASK_ASSERT(r == -ECANCELED);
        canceled++;
        return;
    }
    TASK_ASSERT(j->result == 1);
    done++;
    j->job.free(&j->job);
}

static void open_gate(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        TASK_ASSERT(write(gate[1], "x", 1) == 1);
}

static void wait_until(_Atomic int *value, int wanted)
{
    while (atomic_load(value) != wanted)
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
}

static void reset(void)
{
    freed = running = running_most = ran = done = canceled = 0;
}

static void main_detach(void *arg)
{
    (void)arg;
    struct scope scope;
    struct task *t;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "user", TASK_NORMAL, user, NULL, &t) == 0);
    wait_until(&running, 1);
    task_cancel(t);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);         /* the task is gone ... */
    TASK_ASSERT(canceled == 1 && freed == 0 && running == 1); /* ... the job is not */
    open_gate(1);
    wait_until(&freed, 1);
    /* with one job detached and stuck, one of two share places is left */
    for (unsigned i = 0; i < 4; i++)
        TASK_ASSERT(scope_start(&scope, "user", TASK_NORMAL, user, NULL, NULL) == 0);
    wait_until(&running, 2);
    open_gate(4);
    wait_until(&done, 4);
    scope_leave(&scope);
}

static void a_cancelled_job_frees_the_task_at_once_and_its_memory_later(void **state)
{
    (void)state;
    reset();
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pool_share_new(2, &shares.session), 0);
    run_threaded(1, main_detach, NULL);
    assert_int_equal(running_most, 2);
    assert_int_equal(freed, 5);
    pool_share_unref(shares.session);
    shares.session = NULL;
}

static void other_user(void *arg)
{
    int *r = arg;
    struct blocked_job *j = blocked_new(gate[0]);
    *r = job_run(runtime_files_pool(runtime_self()), &j->job, NULL, USEC_NEVER);
    if (*r == 0)
        j->job.free(&j->job);
}

static void main_shares(void *arg)
{
    (void)arg;
    struct scope scope;
    scope_init(&scope);
    /* more jobs of one owner than the pool has threads: only two of them run */
    for (unsigned i = 0; i < 40; i++)
        TASK_ASSERT(scope_start(&scope, "user", TASK_NORMAL, user, NULL, NULL) == 0);
    wait_until(&running, 2);
    int r = -1;
    TASK_ASSERT(scope_start(&scope, "other", TASK_NORMAL, other_user, &r, NULL) == 0);
    wait_until(&running, 3); /* somebody else's runs beside them */
    open_gate(41);
    wait_until(&done, 40);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    TASK_ASSERT(r == 0);
    scope_leave(&scope);
}

static void one_owners_crowd_does_not_block_another(void **state)
{
    (void)state;
    reset();
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pool_share_new(2, &shares.account), 0);
    run_threaded(1, main_shares, NULL);
    assert_int_equal(running_most, 3);
    pool_share_unref(shares.account);
    shares.account = NULL;
}

/* -- a full queue, a deadline -- */

static void main_busy(void *arg)
{
    struct pool *small = arg;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(pool_start(small) == 0);
    struct blocked_job *first = blocked_new(gate[0]);
    TASK_ASSERT(job_run(small, &first->job, NULL, clock_after(20 * USEC_PER_MS)) == -ETIMEDOUT);
    struct blocked_job *queued = blocked_new(gate[0]);
    TASK_ASSERT(job_run(small, &queued->job, NULL, clock_after(USEC_PER_MS)) == -ETIMEDOUT);
    TASK_ASSERT(freed == 1); /* it never ran */
    open_gate(1);
    wait_until(&freed, 2);
}

static void main_queue_full(void *arg)
{
    struct pool *none = arg;
    TASK_ASSERT(pool_start(none) == 0);
    struct blocked_job *j = blocked_new(gate[0]);
    TASK_ASSERT(job_run(none, &j->job, NULL, USEC_NEVER) == -EBUSY);
    TASK_ASSERT(freed == 1);
}

static void a_full_queue_refuses_and_a_deadline_detaches(void **state)
{
    (void)state;
    struct pool *pool;
    assert_int_equal(pipe(gate), 0);
    reset();
    assert_int_equal(pool_new(1, 4, &pool), 0);
    run_threaded(1, main_busy, pool);
    assert_null(pool_free(pool));
    reset();
    assert_int_equal(pool_new(1, 0, &pool), 0);
    run_threaded(1, main_queue_full, pool);
    assert_null(pool_free(pool));
}

/* -- in steps -- */

static struct pool *files_pool(void)
{
    return runtime_files_pool(runtime_self());
}

static void main_steps(void *arg)
{
    (void)arg;
    struct blocked_job *j = blocked_new(gate[0]);
    TASK_ASSERT(job_start(files_pool(), &j->job, NULL) == 0);
    wait_until(&running, 1); /* the task goes on meanwhile */
    open_gate(1);
    TASK_ASSERT(job_wait(files_pool(), &j->job, USEC_NEVER) == 0 && j->result == 1);
    TASK_ASSERT(job_start(files_pool(), &j->job, NULL) == 0); /* and once more */
    open_gate(1);
    wait_until(&running, 0);
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    TASK_ASSERT(job_wait(files_pool(), &j->job, USEC_NEVER) == 0 && freed == 0);
    TASK_ASSERT(job_start(files_pool(), &j->job, NULL) == 0);
    TASK_ASSERT(job_wait(files_pool(), &j->job, clock_after(USEC_PER_MS)) == -ETIMEDOUT);
    open_gate(1);
    wait_until(&freed, 1);
}

static void a_started_job_is_waited_for_later(void **state)
{
    (void)state;
    reset();
    assert_int_equal(pipe(gate), 0);
    run_threaded(1, main_steps, NULL);
}

#define ABANDONED 100

static void main_abandon(void *arg)
{
    (void)arg;
    struct blocked_job *j = blocked_new(gate[0]);
    TASK_ASSERT(job_start(files_pool(), &j->job, NULL) == 0);
    wait_until(&running, 1);
    job_abandon(files_pool(), &j->job);
    TASK_ASSERT(freed == 0); /* it is in its call */
    open_gate(1);
    wait_until(&freed, 1);

    /* it has run, and the word of it may be on the way to a worker that does not turn */
    for (int i = 1; i <= ABANDONED; i++) {
        j = blocked_new(gate[0]);
        open_gate(1);
        TASK_ASSERT(job_start(files_pool(), &j->job, NULL) == 0);
        while (atomic_load(&ran) != 1 + i)
            (void)sched_yield();
        job_abandon(files_pool(), &j->job);
        wait_until(&freed, 1 + i);
    }

    j = blocked_new(gate[0]);
    open_gate(1);
    TASK_ASSERT(job_start(files_pool(), &j->job, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(5 * USEC_PER_MS)) == 0);
    task_cancel(task_self());
    TASK_ASSERT(job_wait(files_pool(), &j->job, USEC_NEVER) == -ECANCELED);
}

static void an_abandoned_job_is_freed_whatever_it_does(void **state)
{
    (void)state;
    reset();
    assert_int_equal(pipe(gate), 0);
    run_threaded(1, main_abandon, NULL);
    assert_int_equal(freed, ABANDONED + 2);
}

/* -- many workers -- */

struct hello {
    struct worker_message message;
    struct worker *from;
};

static _Atomic int hellos;

static void on_hello(struct worker_message *m)
{
    struct hello *h = (struct hello *)m;
    TASK_ASSERT(worker_self() != NULL && task_self() == NULL);
    atomic_fetch_add(&hellos, 1);
    mem_free(h);
}

static void main_messages(void *arg)
{
    (void)arg;
    struct runtime *rt = runtime_self();
    for (unsigned round = 0; round < 200; round++) {
        struct hello *h = mem_new(sizeof(*h));
        h->message.fn = on_hello;
        worker_post(runtime_worker(rt, round % runtime_workers(rt)), &h->message);
        task_yield();
    }
    while (atomic_load(&hellos) < 200 * (int)runtime_workers(rt))
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
}

static void every_message_reaches_its_worker_once(void **state)
{
    (void)state;
    hellos = 0;
    run_threaded(4, main_messages, NULL);
    assert_int_equal(hellos, 800);
}

/* -- priorities -- */

struct nice_job {
    struct job job;
    int nice;
};

static void note_nice(struct job *j)
{
    LIST_ENTRY(j, struct nice_job, job)->nice = getpriority(PRIO_PROCESS, 0);
}

static void free_nice_job(struct job *j)
{
    mem_free(LIST_ENTRY(j, struct nice_job, job));
}

static int nice_of_pool(struct pool *pool)
{
    struct nice_job *j = mem_new(sizeof(*j));
    TASK_ASSERT(j != NULL);
    j->job.run = note_nice;
    j->job.free = free_nice_job;
    TASK_ASSERT(job_run(pool, &j->job, NULL, USEC_NEVER) == 0);
    int nice = j->nice;
    free_nice_job(&j->job);
    return nice;
}

static void compare_priorities(void *arg)
{
    (void)arg;
    int mine = getpriority(PRIO_PROCESS, 0);
    TASK_ASSERT(nice_of_pool(runtime_files_pool(runtime_self())) == mine);
    TASK_ASSERT(nice_of_pool(runtime_codec_pool(runtime_self())) > mine || mine == 19);
    TASK_ASSERT(getpriority(PRIO_PROCESS, 0) == mine);
}

static void only_threads_that_compress_are_lower(void **state)
{
    (void)state;
    run_threaded(1, compare_priorities, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_job_frees_the_task_at_once_and_its_memory_later),
        cmocka_unit_test(one_owners_crowd_does_not_block_another),
        cmocka_unit_test(a_full_queue_refuses_and_a_deadline_detaches),
        cmocka_unit_test(a_started_job_is_waited_for_later),
        cmocka_unit_test(an_abandoned_job_is_freed_whatever_it_does),
        cmocka_unit_test(every_message_reaches_its_worker_once),
        cmocka_unit_test(only_threads_that_compress_are_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
