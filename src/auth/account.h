/* Accounts: who a user is and what they may do.
 *
 * An account is filled in by one thread and is immutable once auth_add() (auth/check.h) has
 * taken it; from then on workers share it by references. A change of an account is a new object
 * with a higher generation. The store of this release is in memory: --user, --anonymous and the
 * configuration.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "task/pool.h"
#include "vfs/quota.h"
#include "vfs/rights.h"

/* A public key that lets in, as authorized_keys has it. Values; ssh/ matches them. */
struct account_key {
    uint8_t *blob;
    size_t blob_len;
    char *from;        /* pattern list of addresses, or NULL: from anywhere */
    char *command;     /* the one command that it may run, or NULL: any that is served */
    int64_t expires_s; /* since 1970; INT64_MAX: never */
};

struct account {
    char name[USER_NAME_MAX + 1];
    uint64_t generation; /* unique in the process, never 0; auth_add() sets it */
    bool disabled;
    bool anonymous;      /* any password */
    char *hash;          /* crypt(3) format; NULL: no password is right (but for anonymous) */
    char *root;          /* host path, resolved at start to a root */
    unsigned root_index; /* of the server's table of roots */
    struct account_key *keys;
    unsigned key_count; /* at most ACCOUNT_KEYS_MAX */
    struct rights rights;
    struct quota *quota; /* NULL: none */
    uint64_t rate_bytes_per_s;

    /* What its sessions share; set and counted by session/. */
    struct pool_share *share; /* of the pool: a quarter */
    void *rate_bucket;        /* struct xfer_bucket, or NULL: unlimited */
    unsigned sessions;        /* logged in; under the lock of session/limits.h */

    _Atomic unsigned refs;
};

/* An account with default rights and nothing else, one reference. -FERRY_EBADNAME: the name is
 * empty, longer than USER_NAME_MAX, or has control characters. -ENOMEM. */
MUST_CHECK int account_new(struct bytes name, struct account **ret);

/* Thread-safe. The last one frees hash, root, rights, quota and share; NULL is fine. */
struct account *account_ref(struct account *);
void account_unref(struct account *);

/* A copy of the key, behind those that are there. -FERRY_ELIMIT: ACCOUNT_KEYS_MAX; -ENOMEM. */
MUST_CHECK int account_add_key(struct account *, const struct account_key *);

/* Hashes with yescrypt at the system's default cost (slow: about 20 ms). Wipes nothing of
 * password's. -EINVAL: empty, too long or with a NUL, so that it could never be right. */
MUST_CHECK int account_set_password(struct account *, struct bytes password);
