#include "base/clock.h"

#include <time.h>

static const usec_t *fake_now;

static usec_t read_clock(clockid_t id)
{
    struct timespec ts;
    /* Cannot fail: both clocks exist and ts is ours. */
    (void)clock_gettime(id, &ts);
    return (usec_t)ts.tv_sec * USEC_PER_S + (usec_t)ts.tv_nsec / 1000;
}

usec_t clock_now(void)
{
    return fake_now != NULL ? *fake_now : read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_us(void)
{
    if (fake_now != NULL)
        return CLOCK_FAKE_WALL_US + (int64_t)*fake_now;
    return (int64_t)read_clock(CLOCK_REALTIME);
}

usec_t clock_after(usec_t us)
{
    usec_t at;
    if (us == 0 || __builtin_add_overflow(clock_now(), us, &at))
        return USEC_NEVER;
    return at;
}

void clock_set_fake(const usec_t *now)
{
    fake_now = now;
}
