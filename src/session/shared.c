#include "session/shared.h"

#include <errno.h>

#include "base/mem.h"

/* An account's files may keep a quarter of the pool busy, whatever disk they wait for. */
#define ACCOUNT_POOL_PART 4
/* And what a host asks before its logins, as key exchanges, half of it. */
#define HOST_POOL_PART 2

static unsigned part_of(const struct pool *pool, unsigned part)
{
    unsigned at_once = pool_threads(pool) / part;
    return at_once != 0 ? at_once : 1;
}

static int equip_account(struct account *a, void *arg)
{
    const struct session_settings *settings = arg;
    if (a->share == NULL) {
        int r = pool_share_new(part_of(settings->files_pool, ACCOUNT_POOL_PART), &a->share);
        if (r < 0)
            return r;
    }
    if (a->rate_bucket == NULL && a->rate_bytes_per_s != 0) {
        struct xfer_bucket *bucket;
        int r = xfer_bucket_new(a->rate_bytes_per_s, &bucket);
        if (r < 0)
            return r;
        a->rate_bucket = bucket;
    }
    return 0;
}

/* The share goes with the account: auth/ knows that type. */
static int strip_account(struct account *a, void *arg)
{
    (void)arg;
    a->rate_bucket = xfer_bucket_free(a->rate_bucket);
    return 0;
}

int session_shared_new(const struct session_settings *settings, struct session_shared **ret)
{
    uint64_t seed;
    int r = host_seed_new(&seed);
    if (r < 0)
        return r;
    struct session_shared *shared = mem_new(sizeof(*shared));
    if (shared == NULL)
        return -ENOMEM;
    shared->settings = *settings;
    limits_init(&shared->limits, &settings->limits,
                part_of(settings->files_pool, HOST_POOL_PART), seed);
    r = bans_new(settings->ban_failures, &shared->bans);
    if (r == 0)
        r = auth_each(settings->auth, equip_account, &shared->settings);
    if (r < 0) {
        session_shared_free(shared);
        return r;
    }
    *ret = shared;
    return 0;
}

struct session_shared *session_shared_free(struct session_shared *shared)
{
    if (shared == NULL)
        return NULL;
    int r = auth_each(shared->settings.auth, strip_account, NULL);
    (void)r; /* stripping cannot fail */
    bans_free(shared->bans);
    limits_done(&shared->limits);
    mem_free(shared);
    return NULL;
}

const struct session_timeouts *session_timeouts(const struct session_shared *shared)
{
    return &shared->settings.timeouts;
}
