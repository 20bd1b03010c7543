#include "vfs/quota.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/err.h"
#include "base/mem.h"

struct quota {
    _Atomic unsigned refs;
    /* both counts change together or not at all, so a lock and not two atomics */
    pthread_mutex_t lock;
    uint64_t max_bytes, max_files;
    uint64_t bytes, files;
};

int quota_new(uint64_t max_bytes, uint64_t max_files, struct quota **ret)
{
    struct quota *q = mem_new(sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->refs = 1;
    q->max_bytes = max_bytes ? max_bytes : UINT64_MAX;
    q->max_files = max_files ? max_files : UINT64_MAX;
    (void)pthread_mutex_init(&q->lock, NULL);
    *ret = q;
    return 0;
}

struct quota *quota_ref(struct quota *q)
{
    if (q)
        atomic_fetch_add(&q->refs, 1);
    return q;
}

void quota_unref(struct quota *q)
{
    if (q && atomic_fetch_sub(&q->refs, 1) == 1) {
        (void)pthread_mutex_destroy(&q->lock);
        mem_free(q);
    }
}

/* An account may be over its limit already, when the limit was lowered. */
static uint64_t left(uint64_t max, uint64_t used)
{
    return used < max ? max - used : 0;
}

int quota_take(struct quota *q, uint64_t bytes, uint64_t files)
{
    if (!q)
        return 0;
    int r = 0;
    (void)pthread_mutex_lock(&q->lock);
    if (bytes > left(q->max_bytes, q->bytes) || files > left(q->max_files, q->files)) {
        r = -FERRY_EQUOTA;
    } else {
        q->bytes += bytes;
        q->files += files;
    }
    (void)pthread_mutex_unlock(&q->lock);
    return r;
}

void quota_give(struct quota *q, uint64_t bytes, uint64_t files)
{
    if (!q)
        return;
    /* what was there before the ledger was begun may be deleted too: never below zero */
    (void)pthread_mutex_lock(&q->lock);
    q->bytes = left(q->bytes, bytes);
    q->files = left(q->files, files);
    (void)pthread_mutex_unlock(&q->lock);
}

void quota_used(struct quota *q, uint64_t *ret_bytes, uint64_t *ret_files)
{
    *ret_bytes = *ret_files = 0;
    if (!q)
        return;
    (void)pthread_mutex_lock(&q->lock);
    *ret_bytes = q->bytes;
    *ret_files = q->files;
    (void)pthread_mutex_unlock(&q->lock);
}

uint64_t quota_left_bytes(struct quota *q)
{
    if (!q || q->max_bytes == UINT64_MAX)
        return UINT64_MAX;
    (void)pthread_mutex_lock(&q->lock);
    uint64_t bytes = left(q->max_bytes, q->bytes);
    (void)pthread_mutex_unlock(&q->lock);
    return bytes;
}
