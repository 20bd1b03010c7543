/* How many sessions there may be: in all, of one host, of one account, and before login.
 *
 * One object for all workers, behind a lock. Whoever was counted by limits_enter() is uncounted
 * by limits_leave(), and by limits_logout() before that if limits_login() counted it.
 *
 * Before login the bound is soft: from half of `unauthenticated` on a new session is refused at
 * random, with a probability that rises to 1 at the bound. So a flood of connections that never
 * log in does not lock out the others: some of theirs come through.
 */
#pragma once
#include <pthread.h>

#include "auth/account.h"
#include "auth/host.h"
#include "task/pool.h"

struct session_limits {
    unsigned sessions, per_address, per_account, unauthenticated; /* 0: no bound */
};

struct limits {
    struct session_limits max;
    pthread_mutex_t lock;
    unsigned sessions, unauthenticated; /* now */
    struct host_count **buckets;        /* sessions by host; a power of two, or none yet */
    unsigned bucket_count, host_count;
    unsigned host_jobs;
    uint64_t seed; /* of the hash table */
    uint64_t dice; /* state of the early drop's generator */
};

/* host_jobs: what limits_share() lets run at once. seed: random. Holds no memory yet. */
void limits_init(struct limits *, const struct session_limits *max, unsigned host_jobs,
                 uint64_t seed);
void limits_done(struct limits *);

/* A new session, before login. -FERRY_ELIMIT, -ENOMEM: not counted. */
MUST_CHECK int limits_enter(struct limits *, const struct host *);
/* The end of a session that is not logged in (any more). */
void limits_leave(struct limits *, const struct host *);
/* What the sessions of a host that is counted may have run at once in the pool before they have
 * an account, whose share it would be. A reference. */
struct pool_share *limits_share(struct limits *, const struct host *);

/* -FERRY_ELIMIT: the account has its number of sessions; the session stays unauthenticated. */
MUST_CHECK int limits_login(struct limits *, struct account *);
void limits_logout(struct limits *, struct account *);
