#include "task/task.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "check.h"
#include "runtime_fixture.h"
#include "task/fd.h"
#include "task/sanitizer.h"
#include "task/sys.h"

/* -- scopes and cancel -- */

/* A task that leaves a scope is cancelled in the turn in which the scope's last task ends. */
struct leaver {
    struct event may_end;
    bool has_left;
};

static void end_when_told(void *arg)
{
    struct leaver *l = arg;
    task_shield_begin(USEC_NEVER);
    (void)(event_wait(&l->may_end, USEC_NEVER) < 0);
    task_shield_end();
}

static void leave_scope(void *arg)
{
    struct leaver *l = arg;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "last", TASK_NORMAL, end_when_told, l, NULL) == 0);
    scope_leave(&scope);
    l->has_left = true;
}

static void main_cancels_leaver(void *arg)
{
    struct leaver *l = arg;
    struct scope scope;
    struct task *leaving;
    scope_init(&scope);
    event_init(&l->may_end);
    TASK_ASSERT(scope_start(&scope, "leaver", TASK_NORMAL, leave_scope, l, &leaving) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(10)) == 0);
    event_set(&l->may_end);
    task_cancel(leaving);
    TASK_ASSERT(task_sleep_until(clock_after(10)) == 0);
    if (!l->has_left) /* else it would wait for ever */
        abort();
    scope_leave(&scope);
}

static void who_leaves_a_scope_and_is_cancelled_sees_its_last_task_end(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct leaver l = {.has_left = false};
        run_deterministic(seed, main_cancels_leaver, &l);
        assert_true(l.has_left);
    }
}

struct sleeper {
    int result, again, shielded;
    bool cleaned;
};

static void sleep_for_ever(void *arg)
{
    struct sleeper *s = arg;
    s->result = task_sleep_until(USEC_NEVER);
    s->again = task_sleep_until(clock_after(5)); /* cancel is sticky */
    task_shield_begin(clock_after(50));
    s->shielded = task_sleep_until(clock_after(10)); /* clean-up may wait */
    task_shield_end();
    s->cleaned = true;
}

static void main_leaves_scope(void *arg)
{
    struct sleeper *s = arg;
    struct scope scope;
    scope_init(&scope);
    for (unsigned i = 0; i < 50; i++)
        TASK_ASSERT(scope_start(&scope, "sleeper", TASK_NORMAL, sleep_for_ever, &s[i], NULL) ==
                    0);
    TASK_ASSERT(task_sleep_until(clock_after(100)) == 0);
    scope_leave(&scope);
    TASK_ASSERT(scope.count == 0);
    TASK_ASSERT(scope_start(&scope, "late", TASK_NORMAL, sleep_for_ever, s, NULL) ==
                -ECANCELED);
}

static void leaving_a_scope_cancels_and_joins_its_tasks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sleeper s[50];
        memset(s, 0xff, sizeof(s));
        run_deterministic(seed, main_leaves_scope, s);
        for (unsigned i = 0; i < 50; i++) {
            assert_int_equal(s[i].result, -ECANCELED);
            assert_int_equal(s[i].again, -ECANCELED);
            assert_int_equal(s[i].shielded, 0);
            assert_true(s[i].cleaned);
        }
    }
}

static void long_shield(void *arg)
{
    int *r = arg;
    *r = 1;
    (void)!task_sleep_until(USEC_NEVER);
    task_shield_begin(clock_after(100));
    *r = task_sleep_until(USEC_NEVER);
    task_shield_end();
}

static void main_shield_deadline(void *arg)
{
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "shielded", TASK_NORMAL, long_shield, arg, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(10)) == 0);
    scope_leave(&scope);
}

static void a_shield_ends_every_wait_at_its_deadline(void **state)
{
    (void)state;
    int r = 0;
    run_deterministic(1, main_shield_deadline, &r);
    assert_int_equal(r, -ETIMEDOUT);
}

/* -- events, yield -- */

static struct event bell;
static unsigned rung;

static void wait_for_bell(void *arg)
{
    (void)arg;
    if (event_wait(&bell, USEC_NEVER) == 0)
        rung++;
}

static void main_event(void *arg)
{
    struct scope scope;
    (void)arg;
    scope_init(&scope);
    event_init(&bell);
    for (unsigned i = 0; i < 10; i++)
        TASK_ASSERT(scope_start(&scope, "waiter", TASK_NORMAL, wait_for_bell, NULL, NULL) == 0);
    TASK_ASSERT(event_wait(&bell, clock_after(10)) == -ETIMEDOUT);
    event_set(&bell);
    TASK_ASSERT(event_wait(&bell, clock_after(10)) == 0); /* level-triggered */
    TASK_ASSERT(scope_wait(&scope, clock_after(10)) == 0);
    scope_leave(&scope);
}

static void an_event_wakes_all_who_wait(void **state)
{
    (void)state;
    rung = 0;
    run_deterministic(3, main_event, NULL);
    assert_int_equal(rung, 10);
}

static bool bulk_stops;
static unsigned bulk_turns;

static void bulk(void *arg)
{
    (void)arg;
    while (!bulk_stops) {
        bulk_turns++;
        task_yield();
    }
}

static void main_fairness(void *arg)
{
    unsigned *turns_beside = arg;
    struct scope scope;
    scope_init(&scope);
    for (unsigned i = 0; i < 100; i++)
        TASK_ASSERT(scope_start(&scope, "bulk", TASK_NORMAL, bulk, NULL, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(2000)) == 0);
    event_init(&bell);
    TASK_ASSERT(scope_start(&scope, "waiter", TASK_NORMAL, wait_for_bell, NULL, NULL) == 0);
    unsigned before = bulk_turns;
    event_set(&bell);
    task_yield();
    *turns_beside = bulk_turns - before;
    bulk_stops = true;
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
}

static void one_bulk_task_runs_per_turn(void **state)
{
    (void)state;
    const struct runtime_settings settings = {.workers = 1};
    unsigned turns = 0;
    bulk_stops = false;
    run_in_runtime(&settings, main_fairness, &turns);
    /* we stood at the end of the bulk queue: each of the hundred before us had one turn */
    assert_in_range(turns, 99, 101);
}

/* -- bugs are named -- */

/* Runs fn in a child whose stderr comes back; returns the signal that ended it. */
static int die_in_child(task_fn *fn, char *text, size_t cap)
{
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)dup2(pipe_fds[1], STDERR_FILENO);
        TASK_ASSERT(runtime_signals_setup() == 0);
        run_deterministic(1, fn, NULL);
        _exit(0);
    }
    close(pipe_fds[1]);
    size_t len = 0;
    for (ssize_t n; len + 1 < cap && (n = read(pipe_fds[0], text + len, cap - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    close(pipe_fds[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Its frames stay on the task's stack: ASan would move them elsewhere to see a use after
 * return. */
__attribute__((no_sanitize("address"))) static int recurse(volatile char *above, unsigned depth)
{
    volatile char frame[1024];
    memset((void *)(uintptr_t)frame, (int)depth, sizeof(frame));
    return depth ? recurse(frame, depth - 1) + above[0] + frame[3] : 0;
}

static void overrun(void *arg)
{
    (void)arg;
    char top = 0;
    (void)recurse(&top, 1000000);
}

static void main_overrun(void *arg)
{
    (void)arg;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "greedy", TASK_NORMAL, overrun, NULL, NULL) == 0);
    scope_leave(&scope);
}

static void a_task_that_overruns_its_stack_is_named(void **state)
{
    (void)state;
    static char text[8192];
    int signal = die_in_child(main_overrun, text, sizeof(text));
#if defined(FERRY_ASAN) || defined(FERRY_TSAN)
    (void)signal; /* the sanitizer's own report stands in its place */
    skip();
#else
    assert_int_equal(signal, SIGSEGV);
    assert_non_null(strstr(text, "stack overflow in task \"greedy\""));
#endif
}

static void main_parks_in_no_park(void *arg)
{
    (void)arg;
    no_park_begin();
    (void)!task_sleep_until(clock_after(1));
}

static void parking_inside_no_park_aborts_and_names_the_task(void **state)
{
    (void)state;
    static char text[8192];
    (void)die_in_child(main_parks_in_no_park, text, sizeof(text));
    assert_non_null(strstr(text, "task \"main\" parks (sleep) inside a NO_PARK scope"));
}

static void wait_for_byte(void *arg)
{
    (void)!io_fd_wait(arg, IO_READ, USEC_NEVER);
}

static void main_two_readers(void *arg)
{
    (void)arg;
    int fds[2];
    struct io_fd *f;
    struct scope scope;
    char c;
    TASK_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    TASK_ASSERT(io_fd_new(fds[0], &f) == 0);
    TASK_ASSERT(sys_recv(fds[0], &c, 1, 0) == -EAGAIN);
    TASK_ASSERT(task_sleep_until(clock_after(1000)) == 0); /* the edge of a new socket */
    io_fd_not_ready(f, IO_READ, io_fd_edges(f, IO_READ));
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "first", TASK_NORMAL, wait_for_byte, f, NULL) == 0);
    TASK_ASSERT(scope_start(&scope, "second", TASK_NORMAL, wait_for_byte, f, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(1000)) == 0);
    _exit(0); /* nobody complained */
}

static void two_who_wait_for_one_direction_abort_and_are_named(void **state)
{
    (void)state;
    static char text[8192];
    (void)die_in_child(main_two_readers, text, sizeof(text));
    assert_non_null(strstr(text, "two tasks wait for one direction of a descriptor"));
    assert_non_null(strstr(text, "first"));
    assert_non_null(strstr(text, "second"));
}

/* -- lag -- */

static char lag_name[32];
static usec_t lag_us;

static void on_lag(const char *task_name, usec_t us)
{
    (void)snprintf(lag_name, sizeof(lag_name), "%s", task_name);
    lag_us = us;
}

static void hog(void *arg)
{
    (void)arg;
    for (usec_t end = clock_after(60 * USEC_PER_MS); clock_now() < end;)
        continue;
}

static void main_lag(void *arg)
{
    struct worker_stats *ret = arg;
    struct scope scope;
    scope_init(&scope);
    runtime_on_lag(runtime_self(), on_lag);
    TASK_ASSERT(scope_start(&scope, "hog", TASK_NORMAL, hog, NULL, NULL) == 0);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    runtime_on_lag(runtime_self(), NULL);
    scope_leave(&scope);
    worker_stats(worker_self(), ret);
}

static void who_holds_up_the_loop_is_named_and_the_lag_is_kept(void **state)
{
    (void)state;
    struct worker_stats stats = {0};
    lag_us = 0;
    run_threaded(1, main_lag, &stats);
    assert_string_equal(lag_name, "hog");
    assert_true(lag_us >= 60 * USEC_PER_MS);
    assert_true(stats.longest_turn_us >= lag_us);
}

/* -- stacks -- */

static void deep(void *arg)
{
    char top = 0;
    (void)arg;
    (void)recurse(&top, 8);
}

static void main_depth(void *arg)
{
    struct stack_depth *ret = arg;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "deep", TASK_NORMAL, deep, NULL, NULL) == 0);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    const struct stack_depth *depths;
    unsigned count = runtime_stack_depths(runtime_self(), &depths);
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(depths[i].task_name, "deep") == 0)
            *ret = depths[i];
    }
}

static void the_depth_of_a_stack_is_measured(void **state)
{
    (void)state;
    const struct runtime_settings settings = {.workers = 1, .measure_stacks = true};
    struct stack_depth depth = {0};
    run_in_runtime(&settings, main_depth, &depth);
    assert_in_range(depth.bytes, 8 * 1024, depth.of_bytes / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaving_a_scope_cancels_and_joins_its_tasks),
        cmocka_unit_test(who_leaves_a_scope_and_is_cancelled_sees_its_last_task_end),
        cmocka_unit_test(a_shield_ends_every_wait_at_its_deadline),
        cmocka_unit_test(an_event_wakes_all_who_wait),
        cmocka_unit_test(one_bulk_task_runs_per_turn),
        cmocka_unit_test(a_task_that_overruns_its_stack_is_named),
        cmocka_unit_test(parking_inside_no_park_aborts_and_names_the_task),
        cmocka_unit_test(two_who_wait_for_one_direction_abort_and_are_named),
        cmocka_unit_test(who_holds_up_the_loop_is_named_and_the_lag_is_kept),
        cmocka_unit_test(the_depth_of_a_stack_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
