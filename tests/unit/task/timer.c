#include "task/timer.h"

#include <stdlib.h>

#include "check.h"

#define COUNT 2000

struct item {
    struct timer timer;
    bool fired;
};

static usec_t last_fired;
static unsigned fired;

static void on_fire(struct timer *t)
{
    assert_true(t->at >= last_fired);
    last_fired = t->at;
    fired++;
    ((struct item *)t)->fired = true;
}

static void timers_fire_in_order_whatever_was_disarmed(void **state)
{
    (void)state;
    static struct item items[COUNT];
    struct timers all = {0};
    srand(7);
    for (unsigned i = 0; i < COUNT; i++)
        timer_arm(&all, &items[i].timer, (usec_t)(rand() % 500), on_fire);
    unsigned disarmed = 0;
    for (unsigned i = 0; i < COUNT; i += 3, disarmed++)
        timer_disarm(&all, &items[i].timer);
    for (unsigned i = 1; i < COUNT; i += 3)
        timer_arm(&all, &items[i].timer, (usec_t)(rand() % 500), on_fire); /* moves it */
    unsigned half = timers_fire(&all, 249);
    assert_true(half > 0 && timers_next(&all) >= 250);
    unsigned rest = timers_fire(&all, 1000);
    assert_int_equal(half + rest, COUNT - disarmed);
    assert_int_equal(fired, COUNT - disarmed);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(items[i].fired, i % 3 != 0);
    assert_true(timers_next(&all) == USEC_NEVER);
}

static struct timers again;

static void on_rearm(struct timer *t)
{
    if (++fired < 5)
        timer_arm(&again, t, t->at + 1, on_rearm);
}

static void a_timer_may_arm_itself_again(void **state)
{
    (void)state;
    struct timer t = {0};
    fired = 0;
    timer_arm(&again, &t, 1, on_rearm);
    assert_int_equal(timers_fire(&again, 3), 3);
    assert_int_equal(timers_fire(&again, 100), 2);
    timer_disarm(&again, &t);
    timer_disarm(&again, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order_whatever_was_disarmed),
        cmocka_unit_test(a_timer_may_arm_itself_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
