/* The gate of a transport, and who waits for it. */
#include "ssh/transport.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "ssh/transport_internal.h"

#define WAITERS 3

struct waiter_of_gate {
    struct ssh_transport *transport;
    usec_t deadline;
    int result;
};

static void wait_main(void *arg)
{
    struct waiter_of_gate *w = arg;
    w->result = ssh_transport_gate(w->transport, w->deadline);
}

struct world {
    struct stream *near, *far;
    struct scope scope, waiting;
    struct ssh_transport *transport;
    struct waiter_of_gate waiters[WAITERS];
};

static const struct ssh_transport_settings server = {.role = SSH_SERVER};

/* Before the first exchange the gate is closed. */
static void world_init(struct world *w)
{
    TASK_ASSERT(memory_pair_new(1000, 0, &w->near, &w->far) == 0);
    scope_init(&w->scope);
    scope_init(&w->waiting);
    TASK_ASSERT(ssh_transport_new(w->near, &w->scope, &server, NULL, &w->transport) == 0);
    TASK_ASSERT(!ssh_transport_is_open(w->transport));
    for (unsigned i = 0; i < WAITERS; i++) {
        w->waiters[i] =
            (struct waiter_of_gate){w->transport, clock_after(60 * USEC_PER_S), -EIO};
        TASK_ASSERT(scope_start(&w->waiting, "waits", TASK_NORMAL, wait_main, &w->waiters[i],
                                NULL) == 0);
    }
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0); /* they wait now */
    TASK_ASSERT(w->waiting.count == WAITERS);
}

static void world_done(struct world *w)
{
    scope_leave(&w->waiting);
    scope_leave(&w->scope);
    ssh_transport_free(w->transport);
    stream_free(w->near);
    stream_free(w->far);
}

/* All of them have the result, and no time has passed. */
static void expect_at_once(struct world *w, int result)
{
    TASK_ASSERT(scope_wait(&w->waiting, clock_after(USEC_PER_S)) == 0);
    for (unsigned i = 0; i < WAITERS; i++)
        TASK_ASSERT(w->waiters[i].result == result);
}

static void end_main(void *arg)
{
    (void)arg;
    struct world w;
    world_init(&w);
    ssh_transport_end_waits(w.transport);
    expect_at_once(&w, -FERRY_ECLOSED);
    TASK_ASSERT(ssh_transport_gate(w.transport, USEC_NEVER) == -FERRY_ECLOSED);
    world_done(&w);
}

static void who_waits_for_the_gate_is_told_the_end(void **state)
{
    (void)state;
    run_deterministic(1, end_main, NULL);
}

static void leave_main(void *arg)
{
    (void)arg;
    struct world w;
    world_init(&w);
    ssh_transport_leave(w.transport, SSH_DISCONNECT_BY_APPLICATION, "bye");
    expect_at_once(&w, -FERRY_ECLOSED);
    TASK_ASSERT(ssh_transport_phase(w.transport) == SSH_PHASE_ENDED);
    world_done(&w);
}

static void who_waits_for_the_gate_is_told_that_we_leave(void **state)
{
    (void)state;
    run_deterministic(1, leave_main, NULL);
}

static void deadline_main(void *arg)
{
    (void)arg;
    struct world w;
    world_init(&w);
    TASK_ASSERT(scope_wait(&w.waiting, USEC_NEVER) == 0);
    for (unsigned i = 0; i < WAITERS; i++)
        TASK_ASSERT(w.waiters[i].result == -ETIMEDOUT);
    world_done(&w);
}

static void who_waits_for_the_gate_has_a_deadline(void **state)
{
    (void)state;
    run_deterministic(1, deadline_main, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_the_gate_is_told_the_end),
        cmocka_unit_test(who_waits_for_the_gate_is_told_that_we_leave),
        cmocka_unit_test(who_waits_for_the_gate_has_a_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
