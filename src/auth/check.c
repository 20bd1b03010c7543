#include "auth/check.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

#include "auth/accounts.h"
#include "auth/password.h"
#include "auth/remembered.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "crypto/random.h"
#include "task/runtime.h"
#include "task/sys.h"

#define HASH_NICER 10

struct auth {
    _Atomic unsigned
        refs; /* the owner's, and one for each job: a cancelled one may outlive it */
    struct pool *hash_pool;
    struct accounts accounts; /* read-only once workers run */
    uint64_t last_generation;
    char *decoy; /* a setting, while no account has a hash */
    struct crypto_mac_key *key;
    usec_t remember_us; /* 0: each check computes its own hash */
    _Atomic uint64_t hashes;

    pthread_mutex_t lock; /* for the rest. NO_PARK while it is held */
    struct list flights;  /* struct hash_job whose result is open */
    struct remembered remembered;
};

/* A check, resolved to what it takes: made at once, for right and wrong names alike. */
struct attempt {
    struct account *account; /* borrowed. NULL: refused whatever the hash says */
    struct bytes password;   /* what is hashed */
    const char *hash;        /* against this; lives as long as struct auth */
    uint8_t digest[CRYPTO_MAC_BYTES];
};

/* The computation of one hash, and who waits for it: others with the same digest. */
struct hash_job {
    struct job job;
    struct list flight;  /* in auth->flights until it is landed */
    struct list waiters; /* struct waiter, of any worker */
    struct auth *auth;
    const char *hash;
    uint64_t generation; /* of the account; 0: refused */
    struct secret password;
    uint8_t digest[CRYPTO_MAC_BYTES];
    bool has_landed;
    int result;
};

/* A task that waits for another's hash job. The message tells its worker, on which it is the
 * task's again. */
struct waiter {
    struct worker_message message;
    struct list node; /* in hash_job.waiters; in no list: the message is under way */
    struct worker *worker;
    struct event landed;
    int result;
};

static void auth_lock(struct auth *auth)
{
    no_park_begin();
    pthread_mutex_lock(&auth->lock);
}

static void auth_unlock(struct auth *auth)
{
    pthread_mutex_unlock(&auth->lock);
    no_park_end();
}

static void auth_unref(struct auth *auth)
{
    if (auth == NULL || atomic_fetch_sub_explicit(&auth->refs, 1, memory_order_acq_rel) != 1)
        return;
    accounts_done(&auth->accounts);
    remembered_done(&auth->remembered);
    mem_free(auth->decoy);
    crypto_mac_key_free(auth->key);
    (void)pthread_mutex_destroy(&auth->lock);
    mem_wipe_free(auth, sizeof(*auth));
}

/* -- the hash job -- */

static void tell_waiter(struct worker_message *message)
{
    struct waiter *w = (struct waiter *)(void *)message;
    event_set(&w->landed);
}

/* Ends the flight: remembers a right password and tells those who wait. */
static void land(struct hash_job *j, int result)
{
    auth_lock(j->auth);
    j->has_landed = true;
    j->result = result;
    list_remove(&j->flight);
    if (result == 0 && j->auth->remember_us != 0)
        remembered_put(&j->auth->remembered, j->generation, j->digest,
                       clock_after(j->auth->remember_us));
    for (struct list *node; (node = list_pop(&j->waiters)) != NULL;) {
        struct waiter *w = LIST_ENTRY(node, struct waiter, node);
        w->result = result;
        worker_post(w->worker, &w->message);
    }
    auth_unlock(j->auth);
}

/* Once in each thread of the pool: whoever has something to move or to answer goes first. Not
 * lower, or a machine that is busy with other things would let no one log in. */
static void give_way(void)
{
    static _Thread_local bool gives_way;
    if (gives_way || worker_self() != NULL) /* a worker's own: the deterministic runtime */
        return;
    gives_way = true;
    sys_be_nicer(HASH_NICER);
}

static void hash_job_run(struct job *job)
{
    struct hash_job *j = (struct hash_job *)(void *)job;
    give_way();
    int r = password_verify(&j->password, j->hash);
    if (r == 0 && j->generation == 0)
        r = -FERRY_EAUTH;
    secret_done(&j->password);
    atomic_fetch_add_explicit(&j->auth->hashes, 1, memory_order_relaxed);
    land(j, r);
}

static void hash_job_free(struct job *job)
{
    struct hash_job *j = (struct hash_job *)(void *)job;
    if (!j->has_landed)
        land(j, -EAGAIN); /* never ran: whoever waits tries again */
    secret_done(&j->password);
    auth_unref(j->auth);
    mem_wipe_free(j, sizeof(*j));
}

/* Called under the lock. */
static int hash_job_new(struct auth *auth, const struct attempt *a, struct hash_job **ret)
{
    struct hash_job *j = mem_new(sizeof(*j));
    if (j == NULL)
        return -ENOMEM;
    int r = secret_copy(a->password, &j->password);
    if (r < 0) {
        mem_free(j);
        return r;
    }
    j->job.run = hash_job_run;
    j->job.free = hash_job_free;
    j->hash = a->hash;
    j->generation = a->account != NULL ? a->account->generation : 0;
    memcpy(j->digest, a->digest, sizeof(j->digest));
    atomic_fetch_add_explicit(&auth->refs, 1, memory_order_relaxed);
    j->auth = auth;
    list_init(&j->waiters);
    list_append(&auth->flights, &j->flight);
    *ret = j;
    return 0;
}

/* -- joining a flight -- */

/* Called under the lock. */
static int waiter_new(struct hash_job *j, struct waiter **ret)
{
    struct waiter *w = mem_new(sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    w->message.fn = tell_waiter;
    w->worker = worker_self();
    event_init(&w->landed);
    list_append(&j->waiters, &w->node);
    *ret = w;
    return 0;
}

/* Takes the waiter. The flight's result, or why this task stopped waiting for it. */
static PARKS int waiter_wait(struct auth *auth, struct waiter *w, usec_t deadline)
{
    int r = event_wait(&w->landed, deadline);
    if (r < 0) {
        auth_lock(auth);
        bool is_told = list_empty(&w->node);
        list_remove(&w->node);
        auth_unlock(auth);
        if (is_told) {
            /* The message needs the waiter, and this worker is about to get it. */
            task_shield_begin(USEC_NEVER);
            int told = event_wait(&w->landed, USEC_NEVER);
            assert(told == 0);
            (void)told;
            task_shield_end();
        }
    } else {
        r = w->result;
    }
    mem_free(w);
    return r;
}

/* The job with this digest that may be shared and is under way, or NULL. At most HASH_QUEUE_MAX
 * and those that run. Called under the lock. */
static struct hash_job *find_flight(struct auth *auth, const uint8_t digest[CRYPTO_MAC_BYTES])
{
    if (auth->remember_us == 0)
        return NULL;
    LIST_EACH(it, &auth->flights)
    {
        struct hash_job *j = LIST_ENTRY(it, struct hash_job, flight);
        if (secret_equal(bytes_of(j->digest, CRYPTO_MAC_BYTES),
                         bytes_of(digest, CRYPTO_MAC_BYTES)))
            return j;
    }
    return NULL;
}

/* -- the check -- */

static struct account *find_account(const struct auth *auth, struct bytes name)
{
    struct account *a = accounts_find(&auth->accounts, name);
    /* RFC 1635: clients say either. */
    if (a == NULL && (bytes_equal_nocase(name, BYTES_LIT("ftp")) ||
                      bytes_equal_nocase(name, BYTES_LIT("anonymous"))))
        a = accounts_find(&auth->accounts, BYTES_LIT("anonymous"));
    return a;
}

static int attempt_init(struct auth *auth, const struct auth_request *request,
                        struct account *found, struct attempt *ret)
{
    struct bytes name = bytes_str(request->user);
    struct bytes password = bytes_of(request->password.data, request->password.len);
    *ret = (struct attempt){.account = found, .password = password};
    if (found == NULL || found->disabled || found->hash == NULL ||
        !password_hash_is_usable(found->hash))
        ret->account = NULL;
    if (!password_is_usable(password)) {
        ret->account = NULL;
        ret->password = BYTES_LIT("-");
    }
    ret->hash = accounts_decoy(&auth->accounts, name);
    if (ret->hash == NULL)
        ret->hash = auth->decoy;

    uint64_t generation = ret->account != NULL ? ret->account->generation : 0;
    const struct bytes parts[] = {
        name, bytes_of(&generation, sizeof(generation)),
        bytes_first(password, PASSWORD_MAX + 1), /* those beyond are never right */
    };
    return crypto_mac(auth->key, parts, ARRAY_LEN(parts), ret->digest);
}

/* The one place that decides, under the lock, how an answer is found: 1: remembered as right;
 * else 0 with either a waiter or a job. */
static int attempt_begin(struct auth *auth, const struct attempt *a, struct waiter **ret_waiter,
                         struct hash_job **ret_job)
{
    auth_lock(auth);
    int r;
    struct hash_job *flight;
    if (a->account != NULL &&
        remembered_has(&auth->remembered, a->account->generation, a->digest, clock_now()))
        r = 1;
    else if ((flight = find_flight(auth, a->digest)) != NULL)
        r = waiter_new(flight, ret_waiter);
    else
        r = hash_job_new(auth, a, ret_job);
    auth_unlock(auth);
    return r;
}

/* Takes the job. */
static PARKS int run_hash(struct auth *auth, struct hash_job *j, usec_t deadline)
{
    int r = job_run(auth->hash_pool, &j->job, NULL, deadline);
    if (r < 0)
        return r;
    r = j->result;
    j->job.free(&j->job);
    return r;
}

/* 0 or -FERRY_EAUTH when the password was judged. */
static PARKS int attempt_judge(struct auth *auth, const struct attempt *a)
{
    usec_t deadline = clock_after(DEFAULT_LOGIN_US);
    for (;;) {
        struct waiter *waiter = NULL;
        struct hash_job *job = NULL;
        int r = attempt_begin(auth, a, &waiter, &job);
        if (r != 0)
            return r < 0 ? r : 0;
        if (job != NULL)
            r = run_hash(auth, job, deadline);
        else
            r = waiter_wait(auth, waiter, deadline);
        if (r == -ETIMEDOUT)
            return -EBUSY;
        /* -EAGAIN: the task that had the job was cancelled before it ran. */
        if (r != -EAGAIN)
            return r;
    }
}

int auth_check(struct auth *auth, const struct auth_request *request, struct account **ret)
{
    struct account *found = find_account(auth, bytes_str(request->user));
    if (found != NULL && found->anonymous && !found->disabled) {
        *ret = account_ref(found);
        return 0;
    }
    struct attempt a;
    int r = attempt_init(auth, request, found, &a);
    if (r == 0)
        r = attempt_judge(auth, &a);
    mem_wipe(a.digest, sizeof(a.digest));
    if (r == 0)
        *ret = account_ref(a.account);
    return r;
}

/* -- life -- */

static int make_key(struct crypto_mac_key **ret)
{
    uint8_t key[CRYPTO_MAC_BYTES];
    int r = crypto_random(key, sizeof(key));
    if (r == 0)
        r = crypto_mac_key_new(bytes_of(key, sizeof(key)), ret);
    mem_wipe(key, sizeof(key));
    return r;
}

int auth_new(struct pool *hash_pool, struct auth **ret)
{
    struct auth *auth = mem_new(sizeof(*auth));
    if (auth == NULL)
        return -ENOMEM;
    atomic_init(&auth->refs, 1);
    (void)pthread_mutex_init(&auth->lock, NULL); /* cannot fail without attributes */
    auth->hash_pool = hash_pool;
    auth->remember_us = DEFAULT_REMEMBER_US;
    list_init(&auth->flights);
    uint64_t seed = 0;
    int r = make_key(&auth->key);
    if (r == 0)
        r = crypto_random(&seed, sizeof(seed));
    accounts_init(&auth->accounts, seed);
    if (r == 0)
        r = password_setting_new(&auth->decoy);
    if (r == 0)
        r = remembered_init(&auth->remembered);
    if (r < 0) {
        auth_unref(auth);
        return r;
    }
    *ret = auth;
    return 0;
}

struct auth *auth_free(struct auth *auth)
{
    auth_unref(auth);
    return NULL;
}

void auth_set_remember(struct auth *auth, usec_t us)
{
    auth->remember_us = us;
}

int auth_add(struct auth *auth, struct account *a)
{
    a->generation = ++auth->last_generation;
    return accounts_add(&auth->accounts, a);
}

int auth_each(struct auth *auth, int (*fn)(struct account *, void *), void *arg)
{
    return accounts_each(&auth->accounts, fn, arg);
}

struct account *auth_find(struct auth *auth, const char *user)
{
    struct account *a = find_account(auth, bytes_str(user));
    return a != NULL && !a->disabled ? account_ref(a) : NULL;
}

uint64_t auth_hashes(const struct auth *auth)
{
    return atomic_load_explicit(&auth->hashes, memory_order_relaxed);
}
