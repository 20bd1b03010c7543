#include "auth/bans.h"

#include <errno.h>
#include <pthread.h>

#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "task/task.h"

#define BUCKETS 1024 /* of the hash table: chains of 4 when full */

struct ban {
    struct list by_age;    /* in bans.by_age */
    struct list by_bucket; /* in its bucket */
    struct host host;
    usec_t window_start;
    unsigned now_failures, last_failures; /* of this window and of the one before */
    usec_t banned_until;
};

struct bans {
    unsigned failures;
    uint64_t seed;
    pthread_mutex_t lock;
    struct list by_age; /* oldest failure first */
    struct list buckets[BUCKETS];
    unsigned used;
    struct ban entries[BANS_MAX];
};

int bans_new(unsigned failures, struct bans **ret)
{
    uint64_t seed;
    int r = host_seed_new(&seed);
    if (r < 0)
        return r;
    struct bans *b = mem_new(sizeof(*b));
    if (b == NULL)
        return -ENOMEM;
    b->failures = failures;
    b->seed = seed;
    (void)pthread_mutex_init(&b->lock, NULL);
    list_init(&b->by_age);
    for (unsigned i = 0; i < BUCKETS; i++)
        list_init(&b->buckets[i]);
    *ret = b;
    return 0;
}

struct bans *bans_free(struct bans *b)
{
    if (b != NULL) {
        (void)pthread_mutex_destroy(&b->lock);
        mem_free(b);
    }
    return NULL;
}

static struct list *bucket_of(struct bans *b, const struct host *host)
{
    return &b->buckets[host_hash(host, b->seed) % BUCKETS];
}

static struct ban *find(struct bans *b, const struct host *host)
{
    LIST_EACH(it, bucket_of(b, host))
    {
        struct ban *e = LIST_ENTRY(it, struct ban, by_bucket);
        if (host_equal(&e->host, host))
            return e;
    }
    return NULL;
}

/* An unused entry, or the oldest one. */
static struct ban *take(struct bans *b, const struct host *host, usec_t now)
{
    struct ban *e;
    if (b->used < BANS_MAX) {
        e = &b->entries[b->used++];
    } else {
        e = LIST_ENTRY(b->by_age.next, struct ban, by_age);
        list_remove(&e->by_age);
        list_remove(&e->by_bucket);
    }
    *e = (struct ban){.host = *host, .window_start = now};
    list_init(&e->by_age);
    list_append(bucket_of(b, host), &e->by_bucket);
    return e;
}

static void turn_window(struct ban *e, usec_t now)
{
    /* Another worker may have read the clock a little later and come here first. */
    if (now < e->window_start + BAN_WINDOW_US)
        return;
    usec_t windows = (now - e->window_start) / BAN_WINDOW_US;
    e->last_failures = windows == 1 ? e->now_failures : 0;
    e->now_failures = 0;
    e->window_start += windows * BAN_WINDOW_US;
}

static bool count(struct bans *b, const struct host *host, usec_t now)
{
    struct ban *e = find(b, host);
    if (e == NULL)
        e = take(b, host, now);
    list_remove(&e->by_age);
    list_append(&b->by_age, &e->by_age);
    turn_window(e, now);
    e->now_failures++;
    if (e->now_failures + e->last_failures < b->failures)
        return false;
    e->banned_until = now + BAN_US;
    return true;
}

bool bans_fail(struct bans *b, const struct host *host, usec_t now)
{
    if (b->failures == 0)
        return false;
    no_park_begin();
    pthread_mutex_lock(&b->lock);
    bool is_banned = count(b, host, now);
    pthread_mutex_unlock(&b->lock);
    no_park_end();
    return is_banned;
}

bool bans_has(struct bans *b, const struct host *host, usec_t now)
{
    if (b->failures == 0)
        return false;
    no_park_begin();
    pthread_mutex_lock(&b->lock);
    const struct ban *e = find(b, host);
    bool is_banned = e != NULL && now < e->banned_until;
    pthread_mutex_unlock(&b->lock);
    no_park_end();
    return is_banned;
}
