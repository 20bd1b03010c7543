#include "task/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "receive.h"
#include "runtime_fixture.h"
#include "task/pool.h"
#include "task/sys.h"

struct pair {
    struct io_fd *a, *b;
};

static struct pair pair_new(void)
{
    int fds[2];
    struct pair p;
    TASK_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    TASK_ASSERT(io_fd_new(fds[0], &p.a) == 0 && io_fd_new(fds[1], &p.b) == 0);
    return p;
}

/* -- an edge while a job runs -- */

struct receive_job {
    struct job job;
    struct io_fd *f;
    int go; /* read end of a pipe: the job goes on when the edge was counted */
    unsigned edges;
    ssize_t result;
};

static void receive_run(struct job *job)
{
    struct receive_job *j = (struct receive_job *)job;
    char c;
    j->result = sys_recv(io_fd_number(j->f), &c, 1, 0);
    TASK_ASSERT(read(j->go, &c, 1) == 1);
}

static void receive_free(struct job *job)
{
    struct receive_job *j = (struct receive_job *)job;
    io_fd_unref(j->f);
    mem_free(j);
}

struct lost_edge {
    struct pair pair;
    int go[2];
    bool done;
};

static void job_reader(void *arg)
{
    struct lost_edge *x = arg;
    struct receive_job *j = mem_new(sizeof(*j));
    j->job.run = receive_run;
    j->job.free = receive_free;
    j->f = io_fd_ref(x->pair.a);
    j->go = x->go[0];
    j->edges = io_fd_edges(x->pair.a, IO_READ);
    TASK_ASSERT(job_run(runtime_files_pool(runtime_self()), &j->job, NULL, USEC_NEVER) == 0);
    TASK_ASSERT(j->result == -EAGAIN);
    io_fd_not_ready(x->pair.a, IO_READ, j->edges);
    j->job.free(&j->job);
    char c = 0;
    TASK_ASSERT(receive(x->pair.a, &c, 1, clock_after(5 * USEC_PER_S)) == 1 && c == 'x');
    x->done = true;
}

static void main_lost_edge(void *arg)
{
    struct lost_edge *x = arg;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(pipe(x->go) == 0);
    x->pair = pair_new();
    char c;
    TASK_ASSERT(sys_recv(io_fd_number(x->pair.a), &c, 1, 0) == -EAGAIN);
    TASK_ASSERT(task_sleep_until(clock_after(1000)) == 0); /* first edges of the new sockets */
    TASK_ASSERT(scope_start(&scope, "reader", TASK_NORMAL, job_reader, x, NULL) == 0);
    unsigned before = io_fd_edges(x->pair.a, IO_READ);
    TASK_ASSERT(task_sleep_until(clock_after(20000)) == 0); /* the job has had its EAGAIN */
    TASK_ASSERT(sys_send(io_fd_number(x->pair.b), "x", 1, 0) == 1);
    while (io_fd_edges(x->pair.a, IO_READ) == before)
        TASK_ASSERT(task_sleep_until(clock_after(1000)) == 0);
    TASK_ASSERT(write(x->go[1], "g", 1) == 1);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    (void)io_fd_close(x->pair.a);
    (void)io_fd_close(x->pair.b);
    close(x->go[0]);
    close(x->go[1]);
}

static void an_edge_that_comes_while_a_job_runs_is_not_lost(void **state)
{
    (void)state;
    struct lost_edge x = {.done = false};
    run_threaded(1, main_lost_edge, &x);
    assert_true(x.done);
}

/* -- a mute descriptor -- */

/* An edge of it would stand before that of the witness, which came later. */
static void main_mute(void *arg)
{
    (void)arg;
    struct pair mute = pair_new(), witness = pair_new();
    char c;
    unsigned edges = io_fd_edges(mute.a, IO_READ);
    TASK_ASSERT(sys_recv(io_fd_number(mute.a), &c, 1, 0) == -EAGAIN);
    io_fd_not_ready(mute.a, IO_READ, edges);
    io_fd_mute(mute.a);
    TASK_ASSERT(sys_send(io_fd_number(mute.b), "x", 1, 0) == 1);
    TASK_ASSERT(sys_send(io_fd_number(witness.b), "y", 1, 0) == 1);
    unsigned before = io_fd_edges(witness.a, IO_READ);
    while (io_fd_edges(witness.a, IO_READ) == before)
        TASK_ASSERT(task_sleep_until(clock_after(1000)) == 0);
    TASK_ASSERT(io_fd_edges(mute.a, IO_READ) == edges);
    io_fd_unmute(mute.a);
    TASK_ASSERT(io_fd_wait(mute.a, IO_READ, clock_after(5 * USEC_PER_S)) == 0);
    TASK_ASSERT(sys_recv(io_fd_number(mute.a), &c, 1, 0) == 1 && c == 'x');
    io_fd_mute(mute.a);
    (void)io_fd_close(mute.b); /* what is no edge for reading but the end is told as well */
    io_fd_unmute(mute.a);
    TASK_ASSERT(receive(mute.a, &c, 1, clock_after(5 * USEC_PER_S)) == 0);
    (void)io_fd_close(mute.a);
    io_fd_unmute(mute.a); /* whoever was cancelled in between does so */
    (void)io_fd_close(witness.a);
    (void)io_fd_close(witness.b);
}

static void a_mute_descriptor_makes_no_edge_and_loses_none(void **state)
{
    (void)state;
    run_threaded(1, main_mute, NULL);
}

/* -- waiting -- */

static void reader_of_closed(void *arg)
{
    struct pair *p = arg;
    char c;
    TASK_ASSERT(receive(p->a, &c, 1, USEC_NEVER) == -ECANCELED);
}

static void main_waiting(void *arg)
{
    (void)arg;
    struct pair p = pair_new();
    struct scope scope;
    struct event event;
    char c;
    event_init(&event);
    scope_init(&scope);
    TASK_ASSERT(receive(p.a, &c, 1, clock_after(1000)) == -ETIMEDOUT);
    event_set(&event);
    TASK_ASSERT(io_fd_wait_or(p.a, IO_READ, &event, clock_after(1000)) == 1);
    event_clear(&event);
    TASK_ASSERT(io_fd_wait_or(p.a, IO_READ, &event, clock_after(1000)) == -ETIMEDOUT);
    TASK_ASSERT(sys_send(io_fd_number(p.b), "y", 1, 0) == 1);
    TASK_ASSERT(io_fd_wait_or(p.a, IO_READ, &event, clock_after(USEC_PER_S)) == 0);
    TASK_ASSERT(receive(p.a, &c, 1, USEC_NEVER) == 1 && c == 'y');
    sys_shutdown(io_fd_number(p.b), SHUT_WR);
    TASK_ASSERT(receive(p.a, &c, 1, clock_after(USEC_PER_S)) == 0); /* the end is an edge too */
    (void)io_fd_close(p.a);
    (void)io_fd_close(p.b);
    p = pair_new();
    TASK_ASSERT(scope_start(&scope, "reader", TASK_NORMAL, reader_of_closed, &p, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(1000)) == 0);
    (void)io_fd_close(p.a);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    (void)io_fd_close(p.b);
}

static void a_wait_ends_by_edge_event_deadline_or_close(void **state)
{
    (void)state;
    run_threaded(1, main_waiting, NULL);
    run_deterministic(5, main_waiting, NULL);
}

/* -- dozing -- */

struct dozer {
    struct pair pair;
    struct scope *scope;
    unsigned entered, got, without_stack;
    bool gives_up;
};

static void doze_without_stack(void *arg)
{
    struct dozer *d = arg;
    TASK_ASSERT(task_self() == NULL);
    d->without_stack++;
    if (d->gives_up)
        (void)io_fd_close(d->pair.a);
}

static void doze_session(void *arg)
{
    struct dozer *d = arg;
    char c;
    d->entered++;
    for (;;) {
        ssize_t n = receive(d->pair.a, &c, 1, clock_after(1000));
        if (n == 0) {
            (void)io_fd_close(d->pair.a);
            return;
        }
        if (n == -ETIMEDOUT) {
            io_fd_doze(d->pair.a, d->scope, "dozer", doze_session, doze_without_stack, d,
                       clock_after(USEC_PER_S));
            return;
        }
        TASK_ASSERT(n == 1);
        d->got++;
    }
}

static void settle(void)
{
    TASK_ASSERT(task_sleep_until(clock_after(50 * USEC_PER_MS)) == 0);
}

static void main_dozing(void *arg)
{
    struct dozer *d = arg;
    struct scope scope;
    scope_init(&scope);
    d->scope = &scope;
    d->pair = pair_new();
    TASK_ASSERT(scope_start(&scope, "dozer", TASK_NORMAL, doze_session, d, NULL) == 0);
    settle();
    TASK_ASSERT(io_fd_is_dozing(d->pair.a) && scope.count == 0 && d->entered == 1);
    TASK_ASSERT(sys_send(io_fd_number(d->pair.b), "123", 3, 0) == 3);
    settle();
    TASK_ASSERT(d->got == 3 && d->entered == 2 && scope.count == 0);
    io_fd_wake(d->pair.a); /* as kick does */
    settle();
    TASK_ASSERT(d->entered == 3 && io_fd_is_dozing(d->pair.a));
    TASK_ASSERT(task_sleep_until(clock_after(2 * USEC_PER_S)) == 0);
    TASK_ASSERT(d->entered >= 4); /* the deadline wakes it */
    (void)io_fd_close(d->pair.b);
    settle();
    TASK_ASSERT(scope.count == 0);
    scope_leave(&scope);
}

static void a_dozing_session_wakes_by_edge_hand_and_deadline(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct dozer d = {.got = 0};
        run_deterministic(seed, main_dozing, &d);
        assert_int_equal(d.got, 3);
    }
}

/* Takes the one stack that is free, so that the next must be mapped. */
static void hold_stack(void *arg)
{
    (void)(event_wait(arg, USEC_NEVER) < 0);
}

static void main_dozing_without_stack(void *arg)
{
    struct dozer *d = arg;
    struct scope scope;
    struct event end;
    scope_init(&scope);
    event_init(&end);
    d->scope = &scope;
    d->pair = pair_new();
    TASK_ASSERT(scope_start(&scope, "dozer", TASK_NORMAL, doze_session, d, NULL) == 0);
    settle();
    TASK_ASSERT(io_fd_is_dozing(d->pair.a));
    TASK_ASSERT(scope_start(&scope, "holder", TASK_NORMAL, hold_stack, &end, NULL) == 0);
    fault_arm(FAULT_ALLOC, 1);
    TASK_ASSERT(sys_send(io_fd_number(d->pair.b), "1", 1, 0) == 1);
    settle();
    fault_arm(FAULT_ALLOC, 0);
    TASK_ASSERT(d->without_stack == 1);
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S / 2)) == 0);
    TASK_ASSERT(d->got == !d->gives_up); /* tried again, or not */
    event_set(&end);
    (void)io_fd_close(d->pair.b);
    settle();
    TASK_ASSERT(scope.count == 0);
    scope_leave(&scope);
}

static void a_dozer_without_a_stack_hears_of_it_and_waits_or_leaves(void **state)
{
    (void)state;
    struct dozer waits = {.gives_up = false}, leaves = {.gives_up = true};
    run_deterministic(1, main_dozing_without_stack, &waits);
    run_deterministic(1, main_dozing_without_stack, &leaves);
    assert_int_equal(waits.entered, 3); /* at the start, for the byte, for the end */
    assert_int_equal(leaves.entered, 1);
}

/* -- many that wake together -- */

enum { CROWD = 40 };

struct crowd {
    struct scope scope;

    struct one {
        struct pair pair;
        struct crowd *crowd;
    } each[CROWD];

    unsigned got, stacks;
};

static void crowd_session(void *arg)
{
    struct one *one = arg;
    struct crowd *crowd = one->crowd;
    for (;;) {
        char c;
        unsigned edges = io_fd_edges(one->pair.a, IO_READ);
        ssize_t n = sys_recv(io_fd_number(one->pair.a), &c, 1, 0);
        if (n == -EAGAIN) {
            io_fd_not_ready(one->pair.a, IO_READ, edges);
            break;
        }
        if (n == 0) {
            (void)io_fd_close(one->pair.a);
            return;
        }
        crowd->got++;
    }
    io_fd_doze(one->pair.a, &crowd->scope, "one", crowd_session, crowd_session, one,
               USEC_NEVER);
}

static void main_crowd(void *arg)
{
    struct crowd *crowd = arg;
    struct worker_stats stats;
    scope_init(&crowd->scope);
    for (unsigned i = 0; i < CROWD; i++) {
        crowd->each[i] = (struct one){.pair = pair_new(), .crowd = crowd};
        crowd_session(&crowd->each[i]); /* begins to doze */
    }
    for (unsigned i = 0; i < CROWD; i++) /* all before the loop sees one */
        TASK_ASSERT(sys_send(io_fd_number(crowd->each[i].pair.b), "1", 1, 0) == 1);
    settle();
    TASK_ASSERT(crowd->got == CROWD);
    for (unsigned i = 0; i < CROWD; i++)
        (void)io_fd_close(crowd->each[i].pair.b);
    settle();
    TASK_ASSERT(crowd->scope.count == 0);
    worker_stats(worker_self(), &stats);
    crowd->stacks = stats.stacks;
    scope_leave(&crowd->scope);
}

static void many_that_wake_together_need_one_stack(void **state)
{
    (void)state;
    static struct crowd crowd;
    run_threaded(1, main_crowd, &crowd);
    assert_int_equal(crowd.stacks, 2); /* with the one of main_crowd() */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_that_comes_while_a_job_runs_is_not_lost),
        cmocka_unit_test(a_mute_descriptor_makes_no_edge_and_loses_none),
        cmocka_unit_test(a_wait_ends_by_edge_event_deadline_or_close),
        cmocka_unit_test(a_dozing_session_wakes_by_edge_hand_and_deadline),
        cmocka_unit_test(a_dozer_without_a_stack_hears_of_it_and_waits_or_leaves),
        cmocka_unit_test(many_that_wake_together_need_one_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
