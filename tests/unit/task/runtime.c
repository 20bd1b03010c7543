#include "task/runtime.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/fault.h"
#include "check.h"
#include "runtime_fixture.h"

#include <cmocka.h>

static void count(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void runs_main_once_on_every_worker(void **state)
{
    (void)state;
    atomic_uint mains = 0;
    run_threaded(4, count, &mains);
    assert_int_equal(mains, 4);
}

#ifdef FERRY_FAULTS
/* A worker that is missing would leave the connections waiting that the kernel gives to its
 * listening sockets. */
static void runs_nothing_when_a_worker_gets_no_thread(void **state)
{
    (void)state;
    const struct runtime_settings settings = {.workers = 4};
    for (unsigned nth = 1; nth < 4; nth++) {
        struct runtime *rt = NULL;
        atomic_uint mains = 0;
        assert_int_equal(runtime_new(&settings, &rt), 0);
        fault_arm(FAULT_SYSCALL, nth);
        int r = runtime_run(rt, count, &mains);
        fault_arm(FAULT_SYSCALL, 0);
        assert_int_equal(r, -EAGAIN);
        assert_int_equal(mains, 0);
        assert_int_equal(runtime_workers(rt), 4);
        rt = runtime_free(rt);
        assert_null(rt);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_main_once_on_every_worker),
#ifdef FERRY_FAULTS
        cmocka_unit_test(runs_nothing_when_a_worker_gets_no_thread),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
