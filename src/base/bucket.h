/* Token bucket: how many bytes may move now. A plain object; time is an argument, so tests need
 * no sleep and whoever owns it decides about threads (session/ shares some under a lock). */
#pragma once
#include "base/clock.h"

struct bucket {
    uint64_t rate_per_s; /* bytes; 0: unlimited */
    uint64_t burst;      /* bytes it can hold */
    int64_t tokens;      /* may go below zero by one step */
    uint64_t rest;       /* of the last filling, in millionths of a byte */
    usec_t filled_at;
};

/* The bucket starts full. A burst of 0 counts as 1 byte. */
void bucket_init(struct bucket *, uint64_t rate_per_s, uint64_t burst, usec_t now);

/* Bytes that may move now, at most want; 0: none before *ret_when. Unlimited: want.
 * It gives nothing before a step is there (the least of want, the burst and BUCKET_STEP_US of
 * the rate), so that a slow rate is not a wake-up for every byte. */
#define BUCKET_STEP_US (20 * USEC_PER_MS)
uint64_t bucket_budget(struct bucket *, uint64_t want, usec_t now, usec_t *ret_when);
void bucket_take(struct bucket *, uint64_t bytes, usec_t now);
