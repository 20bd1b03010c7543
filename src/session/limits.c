#include "session/limits.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/task.h"

#define BUCKETS_MIN 64

struct host_count {
    struct host_count *next;
    struct host host;
    unsigned sessions;
    struct pool_share *share;
};

static void lock(struct limits *l)
{
    no_park_begin();
    pthread_mutex_lock(&l->lock);
}

static void unlock(struct limits *l)
{
    pthread_mutex_unlock(&l->lock);
    no_park_end();
}

void limits_init(struct limits *l, const struct session_limits *max, unsigned host_jobs,
                 uint64_t seed)
{
    *l = (struct limits){.max = *max, .host_jobs = host_jobs, .seed = seed, .dice = ~seed};
    (void)pthread_mutex_init(&l->lock, NULL);
}

static void count_free(struct host_count *c)
{
    pool_share_unref(c->share);
    mem_free(c);
}

void limits_done(struct limits *l)
{
    for (unsigned i = 0; i < l->bucket_count; i++) {
        for (struct host_count *c = l->buckets[i], *next; c != NULL; c = next) {
            next = c->next;
            count_free(c);
        }
    }
    mem_free(l->buckets);
    (void)pthread_mutex_destroy(&l->lock);
}

/* -- sessions by host -- */

/* The link that points to the host's count, or to NULL at the end of its chain. */
static struct host_count **find_count(struct limits *l, const struct host *host)
{
    uint64_t hash = host_hash(host, l->seed);
    struct host_count **link = &l->buckets[hash & (l->bucket_count - 1)];
    while (*link != NULL && !host_equal(&(*link)->host, host))
        link = &(*link)->next;
    return link;
}

/* Keeps chains short. If there is no memory they get longer, and it is tried again. */
static int make_room(struct limits *l)
{
    if (l->host_count < l->bucket_count)
        return 0;
    struct limits larger = {.seed = l->seed};
    larger.bucket_count = l->bucket_count != 0 ? l->bucket_count * 2 : BUCKETS_MIN;
    larger.buckets = mem_new(larger.bucket_count * sizeof(struct host_count *));
    if (larger.buckets == NULL)
        return l->bucket_count != 0 ? 0 : -ENOMEM;
    for (unsigned i = 0; i < l->bucket_count; i++) {
        for (struct host_count *c = l->buckets[i], *next; c != NULL; c = next) {
            next = c->next;
            c->next = NULL;
            *find_count(&larger, &c->host) = c;
        }
    }
    mem_free(l->buckets);
    l->buckets = larger.buckets;
    l->bucket_count = larger.bucket_count;
    return 0;
}

static int count_host(struct limits *l, const struct host *host)
{
    int r = make_room(l);
    if (r < 0)
        return r;
    struct host_count **link = find_count(l, host);
    struct host_count *c = *link;
    if (c == NULL) {
        c = mem_new(sizeof(*c));
        if (c == NULL)
            return -ENOMEM;
        r = pool_share_new(l->host_jobs, &c->share);
        if (r < 0) {
            mem_free(c);
            return r;
        }
        c->host = *host;
        *link = c;
        l->host_count++;
    }
    if (l->max.per_address != 0 && c->sessions >= l->max.per_address)
        return -FERRY_ELIMIT;
    c->sessions++;
    return 0;
}

static void uncount_host(struct limits *l, const struct host *host)
{
    struct host_count **link = find_count(l, host);
    struct host_count *c = *link;
    if (--c->sessions != 0)
        return;
    *link = c->next;
    count_free(c);
    l->host_count--;
}

/* -- the early drop -- */

/* splitmix64. Who could guess it would win a connection, so it need not be a secret's. */
static uint64_t throw_dice(struct limits *l)
{
    uint64_t x = l->dice += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static bool drops_early(struct limits *l)
{
    unsigned max = l->max.unauthenticated;
    unsigned half = max / 2;
    if (max == 0 || l->unauthenticated <= half)
        return false;
    return throw_dice(l) % (max - half) < l->unauthenticated - half;
}

/* -- sessions -- */

static int enter(struct limits *l, const struct host *host)
{
    if (l->max.sessions != 0 && l->sessions >= l->max.sessions)
        return -FERRY_ELIMIT;
    if (drops_early(l))
        return -FERRY_ELIMIT;
    int r = count_host(l, host);
    if (r < 0)
        return r;
    l->sessions++;
    l->unauthenticated++;
    return 0;
}

int limits_enter(struct limits *l, const struct host *host)
{
    lock(l);
    int r = enter(l, host);
    unlock(l);
    return r;
}

void limits_leave(struct limits *l, const struct host *host)
{
    lock(l);
    uncount_host(l, host);
    l->sessions--;
    l->unauthenticated--;
    unlock(l);
}

struct pool_share *limits_share(struct limits *l, const struct host *host)
{
    lock(l);
    struct pool_share *share = pool_share_ref((*find_count(l, host))->share);
    unlock(l);
    return share;
}

int limits_login(struct limits *l, struct account *a)
{
    lock(l);
    int r = 0;
    if (l->max.per_account != 0 && a->sessions >= l->max.per_account) {
        r = -FERRY_ELIMIT;
    } else {
        a->sessions++;
        l->unauthenticated--;
    }
    unlock(l);
    return r;
}

void limits_logout(struct limits *l, struct account *a)
{
    lock(l);
    a->sessions--;
    l->unauthenticated++;
    unlock(l);
}
