/* Time. The only file of base/ that asks the system for anything.
 *
 * All times in the tree are usec_t, microseconds of the monotonic clock; a deadline is a point
 * of that clock, USEC_NEVER is none. Wall-clock time is for people and for files only.
 */
#pragma once
#include <stdint.h>

typedef uint64_t usec_t;

#define USEC_NEVER  UINT64_MAX
#define USEC_PER_MS UINT64_C(1000)
#define USEC_PER_S  UINT64_C(1000000)

usec_t clock_now(void);      /* monotonic */
int64_t clock_wall_us(void); /* since 1970, UTC */

/* now + us, or USEC_NEVER when us is 0 (0 as a setting means "no limit") or on overflow. */
usec_t clock_after(usec_t us);

/* The deterministic runtime's clock: from now on clock_now() returns *now. NULL: the real one.
 * clock_wall_us() then moves with it from a fixed date. Not thread-safe; tests only. */
#define CLOCK_FAKE_WALL_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
void clock_set_fake(const usec_t *now);
