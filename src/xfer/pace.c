#include "xfer/pace.h"

#include <errno.h>
#include <pthread.h>

#include "base/mem.h"

/* What a bucket holds: a fifth of a second. More would be a visible burst after a pause, less
 * would lose rate to a loop that wakes late. */
#define BURSTS_PER_S    5
#define BURST_MIN_BYTES 1024

struct xfer_bucket {
    pthread_mutex_t lock;
    struct bucket bucket; /* under the lock */
};

int xfer_bucket_new(uint64_t rate_bytes_per_s, struct xfer_bucket **ret)
{
    struct xfer_bucket *b = mem_new(sizeof(*b));
    if (b == NULL)
        return -ENOMEM;
    uint64_t burst = rate_bytes_per_s / BURSTS_PER_S;
    bucket_init(&b->bucket, rate_bytes_per_s, burst > BURST_MIN_BYTES ? burst : BURST_MIN_BYTES,
                clock_now());
    (void)pthread_mutex_init(&b->lock, NULL);
    *ret = b;
    return 0;
}

struct xfer_bucket *xfer_bucket_free(struct xfer_bucket *b)
{
    if (b == NULL)
        return NULL;
    (void)pthread_mutex_destroy(&b->lock);
    mem_free(b);
    return NULL;
}

static uint64_t budget(struct xfer_bucket *b, uint64_t want, usec_t now, usec_t *ret_when)
{
    (void)pthread_mutex_lock(&b->lock);
    uint64_t n = bucket_budget(&b->bucket, want, now, ret_when);
    (void)pthread_mutex_unlock(&b->lock);
    return n;
}

uint64_t pace_take(struct xfer_bucket *const buckets[XFER_BUCKETS_MAX], uint64_t want,
                   usec_t now, usec_t *ret_when)
{
    uint64_t n = want;
    for (unsigned i = 0; i < XFER_BUCKETS_MAX && n > 0; i++) {
        if (buckets[i] != NULL)
            n = budget(buckets[i], n, now, ret_when);
    }
    /* Between asking and taking another transfer may take: a bucket may go below zero by a
     * step, and the next one waits for it. */
    for (unsigned i = 0; i < XFER_BUCKETS_MAX && n > 0; i++) {
        if (buckets[i] == NULL)
            continue;
        (void)pthread_mutex_lock(&buckets[i]->lock);
        bucket_take(&buckets[i]->bucket, n, now);
        (void)pthread_mutex_unlock(&buckets[i]->lock);
    }
    return n;
}

void pace_give_back(struct xfer_bucket *const buckets[XFER_BUCKETS_MAX], uint64_t bytes)
{
    for (unsigned i = 0; i < XFER_BUCKETS_MAX && bytes > 0; i++) {
        if (buckets[i] == NULL || buckets[i]->bucket.rate_per_s == 0)
            continue;
        struct bucket *b = &buckets[i]->bucket;
        (void)pthread_mutex_lock(&buckets[i]->lock);
        uint64_t lacks = b->burst - (uint64_t)b->tokens; /* right for negative tokens too */
        b->tokens += (int64_t)(bytes < lacks ? bytes : lacks);
        (void)pthread_mutex_unlock(&buckets[i]->lock);
    }
}
