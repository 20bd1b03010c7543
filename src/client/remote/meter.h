/* Pace and progress of one file on its way, whatever moves it. */
#pragma once
#include "xfer/xfer.h"

struct meter {
    struct xfer_bucket *buckets[XFER_BUCKETS_MAX];
    struct xfer_progress *progress;
    uint64_t bytes; /* moved so far */
};

/* Both may be NULL. */
void meter_init(struct meter *, struct xfer_bucket *, struct xfer_progress *);
/* Waits until some of max bytes (at least 1) may move. -ECANCELED. */
PARKS MUST_CHECK int meter_budget(struct meter *, uint64_t max, uint64_t *ret);
/* Waits until all of them may. -ECANCELED. */
PARKS MUST_CHECK int meter_wait(struct meter *, uint64_t bytes);
/* Of a budget, what did not move after all. */
void meter_give_back(struct meter *, uint64_t bytes);
void meter_moved(struct meter *, uint64_t bytes);
