/* Token bucket: how many bytes may move now. A plain object; time is an argument, so tests need
 * no sleep and whoever owns it decides about threads (session/ shares some under a lock). */
#pragma once
#include "base/clock.h"

struct bucket {
    uint64_t rate_per_s; /* bytes; 0: unlimited */
    uint64_t burst;      /* bytes it can hold */
    int64_t tokens;      /* may go below zero by one step */
    usec_t filled_at;
};

void bucket_init(struct bucket *, uint64_t rate_per_s, uint64_t burst, usec_t now);

/* Bytes that may move now, at most want; 0: none before *ret_when. Unlimited: want. */
uint64_t bucket_budget(struct bucket *, uint64_t want, usec_t now, usec_t *ret_when);
void bucket_take(struct bucket *, uint64_t bytes, usec_t now);
