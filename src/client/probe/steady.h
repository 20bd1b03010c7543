/* The rate that a transfer settles at, from counts taken while it ran. Pure.
 *
 * The first half is left out: TCP's slow start and the requests in flight grow there. Counts
 * come in steps (acknowledgements, packets), so the rate is that from one step to another, and
 * as long as it still grows it is not the rate that a long transfer has.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define STEADY_SAMPLES_MAX 1024

struct steady_sample {
    usec_t at;
    uint64_t bytes; /* that have arrived there or here */
    usec_t cpu_us;  /* of this process so far */
    usec_t busy_us; /* something of ours was under way */
    usec_t full_us; /* of that: the peer's window was full */
};

/* A plain object of its owner. */
struct steady {
    struct steady_sample samples[STEADY_SAMPLES_MAX];
    unsigned count;
    unsigned every; /* of so many samples one is kept */
    unsigned skipped;
    usec_t began_at;
    struct steady_sample last;
};

struct steady_rate {
    double bytes_per_s; /* 0: nothing moved for long enough */
    usec_t window_us;
    uint64_t window_bytes;
    uint64_t before_bytes; /* that had arrived when the window began, at */
    usec_t before_at;
    /* of the window's time, 0 to 1 */
    double cpu, busy, full;
};

void steady_init(struct steady *, usec_t now);
/* Later than the sample before; counts do not fall. Any number: when there are too many, every
 * second one goes. */
void steady_add(struct steady *, const struct steady_sample *);
/* The last quarter was not faster than the one before it by more than an eighth. */
bool steady_is_settled(const struct steady *);
void steady_rate(const struct steady *, struct steady_rate *ret);
