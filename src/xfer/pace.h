/* Pacing: how many bytes the buckets of a request allow now. Time is an argument. */
#pragma once
#include "xfer/xfer.h"

/* Takes up to want bytes from all of them (NULL ones allow everything) and returns the number.
 * 0: nothing before *ret_when. want is at least 1. */
uint64_t pace_take(struct xfer_bucket *const buckets[XFER_BUCKETS_MAX], uint64_t want,
                   usec_t now, usec_t *ret_when);
/* Of what was taken, bytes that did not move after all. */
void pace_give_back(struct xfer_bucket *const buckets[XFER_BUCKETS_MAX], uint64_t bytes);
