#include "client/probe/steady.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

#define MS 1000

static struct steady s; /* larger than a frame may be */

/* `rate(t)` bytes a millisecond, seen each 5 ms, arriving in lumps. */
static void run(unsigned ms, uint64_t lump, double (*rate)(unsigned at))
{
    double bytes = 0;
    steady_init(&s, 1000 * MS);
    for (unsigned at = 1; at <= ms; at++) {
        bytes += rate(at);
        if (at % 5 != 0)
            continue;
        struct steady_sample sample = {.at = (1000 + at) * (usec_t)MS,
                                       .bytes = (uint64_t)bytes / lump * lump,
                                       .cpu_us = at * MS / 4,
                                       .busy_us = at * MS * 9 / 10,
                                       .full_us = at * MS / 10};
        steady_add(&s, &sample);
    }
}

static double flat(unsigned at)
{
    (void)at;
    return 32.768; /* 32 KB/s */
}

static double slow_start(unsigned at)
{
    return at < 800 ? 1000.0 * at / 800 : 1000;
}

static double still_growing(unsigned at)
{
    return at;
}

static double stops(unsigned at)
{
    return at < 1000 ? 100 : 0;
}

static void assert_rate(double should, double off)
{
    struct steady_rate r;
    steady_rate(&s, &r);
    if (fabs(r.bytes_per_s / should - 1) > off)
        fail_msg("%f B/s, not %f", r.bytes_per_s, should);
}

static void a_slow_link_is_told_from_step_to_step(void **state)
{
    (void)state;
    run(2000, 2 * 1448, flat);
    assert_rate(32768, 0.02);
    assert_true(steady_is_settled(&s));
}

static void the_start_is_left_out(void **state)
{
    (void)state;
    run(2000, 1448, slow_start);
    assert_rate(1e6, 0.01);
    assert_true(steady_is_settled(&s));
    struct steady_rate r;
    steady_rate(&s, &r);
    assert_true(fabs(r.cpu - 0.25) < 0.01 && fabs(r.busy - 0.9) < 0.01);
    assert_true(fabs(r.full - 0.1) < 0.01);
    assert_true(r.window_us > 900 * MS && r.window_us < 1100 * MS);
    assert_true(r.before_at >= 2000 * MS && r.before_bytes > 0);
}

static void what_still_grows_is_not_settled(void **state)
{
    (void)state;
    run(2000, 1448, still_growing);
    assert_false(steady_is_settled(&s));
}

static void the_time_after_the_last_byte_does_not_count(void **state)
{
    (void)state;
    run(1500, 100, stops);
    assert_rate(100e3, 0.03);
}

static void a_long_transfer_is_thinned_out_and_stays_right(void **state)
{
    (void)state;
    run(60000, 100, slow_start);
    assert_true(s.count <= STEADY_SAMPLES_MAX);
    assert_true(s.samples[0].at < 2000 * MS); /* of its beginning something is left */
    assert_rate(1e6, 0.01);
}

static void few_steps_or_none_tell_little_or_nothing(void **state)
{
    (void)state;
    struct steady_rate r;
    steady_init(&s, 0);
    steady_rate(&s, &r);
    assert_true(r.bytes_per_s <= 0);
    assert_false(steady_is_settled(&s));
    steady_add(&s, &(struct steady_sample){.at = 10 * MS, .bytes = 100});
    steady_rate(&s, &r);
    assert_true(r.bytes_per_s <= 0);
    steady_add(&s, &(struct steady_sample){.at = 20 * MS, .bytes = 200});
    steady_rate(&s, &r);
    assert_true(fabs(r.bytes_per_s - 10000) < 1);
    steady_add(&s, &(struct steady_sample){.at = 20 * MS, .bytes = 300});
    steady_rate(&s, &r); /* at the same moment: no division by it */
    assert_true(isfinite(r.bytes_per_s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_link_is_told_from_step_to_step),
        cmocka_unit_test(the_start_is_left_out),
        cmocka_unit_test(what_still_grows_is_not_settled),
        cmocka_unit_test(the_time_after_the_last_byte_does_not_count),
        cmocka_unit_test(a_long_transfer_is_thinned_out_and_stays_right),
        cmocka_unit_test(few_steps_or_none_tell_little_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
