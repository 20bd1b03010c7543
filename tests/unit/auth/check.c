#include "auth/check.h"

#include <crypt.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "runtime_fixture.h"

/* A cheap method, so that many checks take no time; what is counted is how many. */
#define CHEAP "$5$rounds=1000$ferry"

static void add(struct auth *auth, const char *name, const char *password, unsigned flags)
{
    enum { DISABLED = 1, ANONYMOUS = 2 };

    struct account *a = NULL;
    TASK_ASSERT(account_new(bytes_str(name), &a) == 0);
    a->disabled = flags & DISABLED;
    a->anonymous = flags & ANONYMOUS;
    if (password != NULL)
        a->hash = mem_strdup(crypt(password, CHEAP));
    TASK_ASSERT(auth_add(auth, a) == 0);
}

static struct auth *make_auth(struct pool *pool)
{
    struct auth *auth = NULL;
    TASK_ASSERT(auth_new(pool, &auth) == 0);
    add(auth, "ann", "right", 0);
    add(auth, "bob", "bobs", 0);
    add(auth, "gone", "right", 1);
    add(auth, "keys", NULL, 0);
    return auth;
}

static PARKS int check_bytes(struct auth *auth, const char *user, struct bytes password)
{
    struct auth_request request = {.password = {0}};
    memcpy(request.user, user, strlen(user) + 1);
    TASK_ASSERT(secret_copy(password, &request.password) == 0);
    struct account *a = NULL;
    int r = auth_check(auth, &request, &a);
    TASK_ASSERT((r == 0) == (a != NULL));
    account_unref(a);
    secret_done(&request.password);
    return r;
}

static PARKS int check(struct auth *auth, const char *user, const char *password)
{
    return check_bytes(auth, user, bytes_str(password));
}

static struct pool *inline_pool(void)
{
    return runtime_hash_pool(runtime_self());
}

/* -- in the deterministic runtime -- */

static void refuse(void *arg)
{
    (void)arg;
    struct auth *auth = make_auth(inline_pool());
    static char text[PASSWORD_MAX + 10];
    memset(text, 'x', sizeof(text));
    uint64_t hashes = 0;
    TASK_ASSERT(check(auth, "ann", "right") == 0);
    TASK_ASSERT(auth_hashes(auth) == ++hashes);

    const struct {
        const char *user;
        struct bytes password;
    } refused[] = {
        {"ann", BYTES_LIT("wrong")},
        {"ann", BYTES_LIT("wrong")}, /* again: nothing wrong is remembered */
        {"ann", BYTES_LIT("bobs")},
        {"ann", BYTES_NONE},
        {"ann", bytes_of("right\0x", 7)},
        {"ann", bytes_of("right\0", 6)},
        {"ann", bytes_of(text, PASSWORD_MAX)},
        {"ann", bytes_of(text, sizeof(text))},
        {"Ann", BYTES_LIT("right")},
        {"nobody", BYTES_LIT("right")},
        {"", BYTES_LIT("right")},
        {"gone", BYTES_LIT("right")},
        {"keys", BYTES_LIT("right")},
        {"keys", BYTES_LIT("-")},
        {"ftp", BYTES_LIT("right")},
        {"anonymous", BYTES_LIT("a@b")},
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        TASK_ASSERT(check_bytes(auth, refused[i].user, refused[i].password) == -FERRY_EAUTH);
        TASK_ASSERT(auth_hashes(auth) == ++hashes);
    }
    auth_free(auth);
}

static void every_refusal_is_the_same_code_and_costs_one_hash(void **state)
{
    (void)state;
    run_deterministic(1, refuse, NULL);
}

static void remember(void *arg)
{
    (void)arg;
    struct auth *auth = make_auth(inline_pool());
    for (int i = 0; i < 300; i++)
        TASK_ASSERT(check(auth, "ann", "right") == 0);
    TASK_ASSERT(auth_hashes(auth) == 1);
    TASK_ASSERT(check(auth, "ann", "wrong") == -FERRY_EAUTH);
    TASK_ASSERT(auth_hashes(auth) == 2);
    TASK_ASSERT(check(auth, "ann", "right") == 0);
    TASK_ASSERT(auth_hashes(auth) == 2); /* the wrong one evicted nothing */
    TASK_ASSERT(check(auth, "bob", "bobs") == 0 && check(auth, "ann", "right") == 0);
    TASK_ASSERT(auth_hashes(auth) == 3);
    TASK_ASSERT(task_sleep_until(clock_after(DEFAULT_REMEMBER_US)) == 0);
    TASK_ASSERT(check(auth, "ann", "right") == 0);
    TASK_ASSERT(auth_hashes(auth) == 4);
    auth_free(auth);
}

static void a_right_password_costs_one_hash_in_five_minutes(void **state)
{
    (void)state;
    run_deterministic(1, remember, NULL);
}

static void remember_nothing(void *arg)
{
    (void)arg;
    struct auth *auth = make_auth(inline_pool());
    auth_set_remember(auth, 0);
    for (unsigned i = 1; i <= 5; i++) {
        TASK_ASSERT(check(auth, "ann", "right") == 0);
        TASK_ASSERT(auth_hashes(auth) == i);
    }
    auth_free(auth);
}

static void where_nothing_is_remembered_each_check_costs_a_hash(void **state)
{
    (void)state;
    run_deterministic(1, remember_nothing, NULL);
}

static void come_anonymously(void *arg)
{
    (void)arg;
    struct auth *auth = make_auth(inline_pool());
    add(auth, "anonymous", NULL, 2);
    TASK_ASSERT(check(auth, "anonymous", "a@b") == 0);
    TASK_ASSERT(check(auth, "Anonymous", "") == 0);
    TASK_ASSERT(check(auth, "ftp", "x") == 0);
    TASK_ASSERT(check(auth, "FTP", "x") == 0);
    TASK_ASSERT(auth_hashes(auth) == 0);
    add(auth, "ftp", "secret", 0);
    TASK_ASSERT(check(auth, "ftp", "x") == -FERRY_EAUTH);
    TASK_ASSERT(check(auth, "ftp", "secret") == 0);
    auth_free(auth);
    auth = make_auth(inline_pool());
    add(auth, "anonymous", NULL, 1 | 2);
    TASK_ASSERT(check(auth, "ftp", "x") == -FERRY_EAUTH);
    TASK_ASSERT(auth_hashes(auth) == 1);
    auth_free(auth);
}

static void anonymous_takes_any_password_and_no_hash(void **state)
{
    (void)state;
    run_deterministic(1, come_anonymously, NULL);
}

static void starve(void *arg)
{
    (void)arg;
    struct auth *auth = make_auth(inline_pool());
    struct auth_request request = {.user = "ann"};
    TASK_ASSERT(secret_copy(BYTES_LIT("right"), &request.password) == 0);
    int r = -ENOMEM;
    for (uint64_t n = 1; r != 0; n++) {
        TASK_ASSERT(r == -ENOMEM && n < 20);
        struct account *a = NULL;
        fault_arm(FAULT_ALLOC, n);
        r = auth_check(auth, &request, &a);
        fault_arm(FAULT_ALLOC, 0);
        account_unref(a);
    }
    secret_done(&request.password);
    auth_free(auth);

    struct auth *half = NULL;
    for (uint64_t n = 1; half == NULL; n++) {
        fault_arm(FAULT_ALLOC, n);
        r = auth_new(inline_pool(), &half);
        fault_arm(FAULT_ALLOC, 0);
        TASK_ASSERT((r == 0 || r == -ENOMEM) && n < 20);
    }
    auth_free(half);
}

static void any_failed_allocation_is_no_memory_and_leaks_nothing(void **state)
{
    (void)state;
    run_deterministic(1, starve, NULL);
}

/* -- with threads: the pool's only thread waits at a gate, so that checks meet -- */

struct gate_job {
    struct job job;
    int fd;
};

static _Atomic bool gate_is_shut; /* the thread waits there */

static void gate_run(struct job *job)
{
    char c;
    atomic_store(&gate_is_shut, true);
    TASK_ASSERT(read(((struct gate_job *)job)->fd, &c, 1) == 1);
}

static void gate_free(struct job *job)
{
    mem_free(job);
}

static struct pool *gated_pool;
static struct auth *gated_auth;
static int gate[2];

static void hold_gate(unsigned queue_max)
{
    atomic_store(&gate_is_shut, false);
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pool_new(1, queue_max, &gated_pool), 0);
    assert_int_equal(pool_start(gated_pool), 0);
    gated_auth = make_auth(gated_pool);
}

static void stand_at_gate(void *arg)
{
    (void)arg;
    struct gate_job *j = mem_new(sizeof(*j));
    TASK_ASSERT(j != NULL);
    *j = (struct gate_job){.job = {.run = gate_run, .free = gate_free}, .fd = gate[0]};
    TASK_ASSERT(job_run(gated_pool, &j->job, NULL, USEC_NEVER) == 0);
    gate_free(&j->job);
}

static void shut_gate(struct scope *scope)
{
    TASK_ASSERT(scope_start(scope, "gate", TASK_NORMAL, stand_at_gate, NULL, NULL) == 0);
}

static PARKS void wait_for_gate(void)
{
    while (!atomic_load(&gate_is_shut))
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
}

/* Each task that is runnable now runs up to its next wait. The first turn may be one that began
 * before they were. */
static PARKS void let_others_run(void)
{
    task_yield();
    task_yield();
}

static void open_gate(void)
{
    TASK_ASSERT(write(gate[1], "x", 1) == 1);
}

static void leave_gate(void)
{
    gated_auth = auth_free(gated_auth);
    gated_pool = pool_free(gated_pool);
    (void)close(gate[0]);
    (void)close(gate[1]);
}

struct login {
    const char *user, *password;
    int result;
};

static void log_in(void *arg)
{
    struct login *l = arg;
    l->result = check(gated_auth, l->user, l->password);
}

#define PER_WORKER 150
static struct login crowd[2][PER_WORKER];
static _Atomic unsigned workers_waiting;

static void come_in_a_crowd(void *arg)
{
    unsigned here = worker_index(worker_self());
    struct scope scope;
    scope_init(&scope);
    if (here == 0)
        shut_gate(&scope);
    wait_for_gate();
    for (unsigned i = 0; i < PER_WORKER; i++) {
        struct login *l = &crowd[here][i];
        *l = (struct login){.user = "ann", .password = arg, .result = 1};
        TASK_ASSERT(scope_start(&scope, "login", TASK_NORMAL, log_in, l, NULL) == 0);
    }
    let_others_run(); /* each of them runs up to its wait */
    atomic_fetch_add(&workers_waiting, 1);
    while (here == 0 && atomic_load(&workers_waiting) != 2)
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    if (here == 0)
        open_gate();
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
}

static void expect_crowd(char *password, int result)
{
    hold_gate(HASH_QUEUE_MAX);
    atomic_store(&workers_waiting, 0);
    run_threaded(2, come_in_a_crowd, password);
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned i = 0; i < PER_WORKER; i++)
            assert_int_equal(crowd[w][i].result, result);
    }
    assert_int_equal(auth_hashes(gated_auth), 1);
    leave_gate();
}

static void equal_checks_on_all_workers_share_one_hash(void **state)
{
    (void)state;
    char right[] = "right", wrong[] = "wrong";
    expect_crowd(right, 0);
    expect_crowd(wrong, -FERRY_EAUTH);
}

/* Who goes: the one with the job, or one that waits for it. */
static void cancel_one(void *arg)
{
    unsigned goes = *(unsigned *)arg;
    struct login logins[3];
    struct task *tasks[3];
    struct scope scope;
    scope_init(&scope);
    shut_gate(&scope);
    wait_for_gate();
    for (unsigned i = 0; i < 3; i++) {
        logins[i] = (struct login){.user = "ann", .password = "right", .result = 1};
        TASK_ASSERT(scope_start(&scope, "login", TASK_NORMAL, log_in, &logins[i], &tasks[i]) ==
                    0);
        let_others_run();
    }
    task_cancel(tasks[goes]);
    let_others_run();
    TASK_ASSERT(logins[goes].result == -ECANCELED);
    open_gate();
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    for (unsigned i = 0; i < 3; i++)
        TASK_ASSERT(logins[i].result == (i == goes ? -ECANCELED : 0));
}

static void whoever_is_cancelled_the_others_get_their_answer(void **state)
{
    (void)state;
    for (unsigned goes = 0; goes < 3; goes++) {
        hold_gate(HASH_QUEUE_MAX);
        run_threaded(1, cancel_one, &goes);
        assert_int_equal(auth_hashes(gated_auth), 1);
        leave_gate();
    }
}

static void overflow(void *arg)
{
    (void)arg;
    struct login logins[] = {
        {"ann", "right", 1}, {"ann", "right", 1}, {"bob", "bobs", 1}, {"no", "one", 1}};
    struct scope scope;
    scope_init(&scope);
    shut_gate(&scope);
    wait_for_gate();
    for (unsigned i = 0; i < ARRAY_LEN(logins); i++)
        TASK_ASSERT(scope_start(&scope, "login", TASK_NORMAL, log_in, &logins[i], NULL) == 0);
    let_others_run();
    TASK_ASSERT(logins[2].result == -EBUSY && logins[3].result == -EBUSY);
    open_gate();
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    TASK_ASSERT(logins[0].result == 0 && logins[1].result == 0);
    TASK_ASSERT(check(gated_auth, "bob", "bobs") == 0);
}

static void a_full_queue_is_busy_for_all_but_those_who_can_share(void **state)
{
    (void)state;
    hold_gate(1);
    run_threaded(1, overflow, NULL);
    leave_gate();
}

static void log_in_at_once(void *arg)
{
    (void)arg;
    struct login logins[3];
    struct scope scope;
    scope_init(&scope);
    auth_set_remember(gated_auth, 0);
    shut_gate(&scope);
    wait_for_gate();
    for (unsigned i = 0; i < ARRAY_LEN(logins); i++) {
        logins[i] = (struct login){.user = "ann", .password = "right", .result = 1};
        TASK_ASSERT(scope_start(&scope, "login", TASK_NORMAL, log_in, &logins[i], NULL) == 0);
    }
    let_others_run();
    open_gate();
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    for (unsigned i = 0; i < ARRAY_LEN(logins); i++)
        TASK_ASSERT(logins[i].result == 0);
}

static void where_nothing_is_remembered_nothing_is_shared_either(void **state)
{
    (void)state;
    hold_gate(HASH_QUEUE_MAX);
    run_threaded(1, log_in_at_once, NULL);
    assert_int_equal(auth_hashes(gated_auth), 3);
    leave_gate();
}

struct nice_job {
    struct job job;
    int niceness;
};

static void nice_run(struct job *job)
{
    ((struct nice_job *)job)->niceness = getpriority(PRIO_PROCESS, 0);
}

/* Of the thread that hashes. */
static PARKS int niceness_of_pool(void)
{
    struct nice_job *j = mem_new(sizeof(*j));
    TASK_ASSERT(j != NULL);
    *j = (struct nice_job){.job = {.run = nice_run, .free = gate_free}};
    TASK_ASSERT(job_run(gated_pool, &j->job, NULL, USEC_NEVER) == 0);
    int niceness = j->niceness;
    mem_free(j);
    return niceness;
}

static void compare_niceness(void *arg)
{
    (void)arg;
    int before = niceness_of_pool();
    TASK_ASSERT(check(gated_auth, "ann", "right") == 0);
    TASK_ASSERT(niceness_of_pool() > before || before == 19);
    TASK_ASSERT(getpriority(PRIO_PROCESS, 0) == before);
}

static void a_thread_that_hashes_gives_way_to_the_others(void **state)
{
    (void)state;
    hold_gate(HASH_QUEUE_MAX);
    run_threaded(1, compare_niceness, NULL);
    leave_gate();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_is_the_same_code_and_costs_one_hash),
        cmocka_unit_test(a_right_password_costs_one_hash_in_five_minutes),
        cmocka_unit_test(where_nothing_is_remembered_each_check_costs_a_hash),
        cmocka_unit_test(anonymous_takes_any_password_and_no_hash),
        cmocka_unit_test(any_failed_allocation_is_no_memory_and_leaks_nothing),
        cmocka_unit_test(equal_checks_on_all_workers_share_one_hash),
        cmocka_unit_test(whoever_is_cancelled_the_others_get_their_answer),
        cmocka_unit_test(a_full_queue_is_busy_for_all_but_those_who_can_share),
        cmocka_unit_test(where_nothing_is_remembered_nothing_is_shared_either),
        cmocka_unit_test(a_thread_that_hashes_gives_way_to_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
