#include "bench/engine/crowd.h"

#include <errno.h>

#include "check.h"
#include "runtime_fixture.h"

struct stage {
    struct crowd crowd;
    unsigned acting, most, done, seen[16];
    unsigned fails_at; /* UINT32_MAX: nowhere */
    int result;
};

static int act(void *arg, unsigned index)
{
    struct stage *s = arg;
    s->seen[index]++;
    s->acting++;
    if (s->acting > s->most)
        s->most = s->acting;
    int r = task_sleep_until(clock_now() + 1000 * (index + 1));
    s->acting--;
    if (r == 0 && index == s->fails_at)
        r = -EIO;
    s->done += r == 0;
    return r;
}

static void stage_main(void *arg)
{
    struct stage *s = arg;
    s->crowd.act = act;
    s->crowd.arg = s;
    s->result = crowd_run(&s->crowd);
}

static void each_index_acts_once_and_no_more_than_the_width_at_once(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= 20; width++) {
        struct stage s = {.crowd = {.count = 10, .width = width}, .fails_at = UINT32_MAX};
        run_deterministic(width, stage_main, &s);
        assert_int_equal(s.result, 0);
        assert_int_equal(s.done, 10);
        assert_int_equal(s.most, width < 10 ? width : 10);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(s.seen[i], i < 10 ? 1 : 0);
    }
}

static void the_first_failure_ends_all_and_is_told_with_its_index(void **state)
{
    (void)state;
    struct stage s = {.crowd = {.count = 16, .width = 4}, .fails_at = 5};
    run_deterministic(1, stage_main, &s);
    assert_int_equal(s.result, -EIO);
    assert_int_equal(s.crowd.failed, 5);
    assert_int_equal(s.done, 5); /* those that were acting then did not finish */
    assert_int_equal(s.acting, 0);
    assert_int_equal(s.seen[15], 0);
}

static void nobody_is_a_crowd_too(void **state)
{
    (void)state;
    struct stage s = {.crowd = {.count = 0, .width = 4}, .fails_at = UINT32_MAX};
    run_deterministic(1, stage_main, &s);
    assert_int_equal(s.result, 0);
    assert_int_equal(s.done, 0);
}

static void cancel_main(void *arg)
{
    struct stage *s = arg;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "stage", TASK_NORMAL, stage_main, s, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_now() + 2500) == 0);
    scope_leave(&scope);
}

static void cancelling_who_waits_ends_all(void **state)
{
    (void)state;
    struct stage s = {.crowd = {.count = 16, .width = 16}, .fails_at = UINT32_MAX};
    run_deterministic(1, cancel_main, &s);
    assert_int_equal(s.result, -ECANCELED);
    assert_int_equal(s.acting, 0);
    assert_int_equal(s.done, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_acts_once_and_no_more_than_the_width_at_once),
        cmocka_unit_test(the_first_failure_ends_all_and_is_told_with_its_index),
        cmocka_unit_test(nobody_is_a_crowd_too),
        cmocka_unit_test(cancelling_who_waits_ends_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
