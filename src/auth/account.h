/* Accounts, and the question "is this the right password?".
 *
 * An account is an immutable object with references, shared by all workers; a change makes a
 * new one with a higher generation. The store of this release is in memory: --user, --anonymous
 * and the configuration.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/secret.h"
#include "task/pool.h"
#include "task/task.h"
#include "vfs/quota.h"
#include "vfs/rights.h"

struct account {
    char name[129];
    uint64_t generation;
    bool disabled;
    bool anonymous;      /* any password */
    char *hash;          /* crypt(3) format; NULL for anonymous */
    char *root;          /* host path, resolved at start to a root */
    unsigned root_index; /* of the server's table of roots */
    struct rights rights;
    struct quota *quota; /* NULL: none */
    uint64_t rate_bytes_per_s;
    void *rate_bucket;        /* session/'s: struct xfer_bucket */
    struct pool_share *share; /* of the pool: a quarter */
};

struct auth;

/* Reads nothing, starts nothing. The hash pool is the runtime's. */
MUST_CHECK int auth_new(struct pool *hash_pool, struct auth **ret);
struct auth *auth_free(struct auth *);

/* Adding is for the start, before workers run. Takes the account, also on failure. -EEXIST. */
MUST_CHECK int auth_add(struct auth *, struct account *);
MUST_CHECK int account_new(struct bytes name, struct account **ret);
void account_unref(struct account *); /* NULL is fine */
struct account *account_ref(struct account *);
/* Hashes with yescrypt at the system's default cost (slow: about 20 ms). Wipes nothing of
 * password's. */
MUST_CHECK int account_set_password(struct account *, struct bytes password);

/* -- the check: message-shaped (DESIGN 3.5) -- */

struct auth_request {
    char user[129];
    struct secret password;
};

/* 0 and a reference: right. -FERRY_EAUTH: refused; unknown user, wrong password and disabled
 * account take the same time (a hash is computed for each) and look the same. -EBUSY: the hash
 * queue is full. -ECANCELED. A right password is remembered for five minutes as a keyed digest,
 * so repeated logins cost one hash; a wrong one never evicts it. */
PARKS MUST_CHECK int auth_check(struct auth *, const struct auth_request *,
                                struct account **ret);
