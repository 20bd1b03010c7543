/* The question "is this the right password?", message-shaped (DESIGN 3.5): values in, a value
 * out, so that another process may answer it one day.
 *
 * Every refusal costs one hash and reads the same: for an unknown name, a disabled account and
 * a password that nobody can have, a hash is computed against a decoy: the hash of some
 * account, picked by the name, so that names do not tell themselves by the method of their hash
 * either.
 *
 * A right password is remembered for some minutes as a keyed digest over account, generation
 * and password; a wrong one never changes what is remembered. Checks of the same name and
 * password that are under way at one time, on whatever worker, share one hash, right or wrong:
 * 300 logins at once cost one. Both can be switched off: then each check costs its hash.
 *
 * Threads that hash run below the others' priority, so that a storm of logins leaves the
 * processors to sessions that have work to do.
 *
 * One object for all workers. Adding is for the start; auth_check() is for tasks of any worker.
 */
#pragma once
#include "auth/account.h"
#include "base/secret.h"
#include "task/task.h"

struct auth;

/* Starts nothing. The hash pool is the runtime's. -ENOMEM, or the failure of the random source.
 */
MUST_CHECK int auth_new(struct pool *hash_pool, struct auth **ret);
/* After the last check has returned. A hash that a cancelled check has left behind may still be
 * computed. NULL is fine. Returns NULL. */
struct auth *auth_free(struct auth *);

/* How long a right password is remembered, DEFAULT_REMEMBER_US at first. 0: nothing is, and no
 * two checks share a hash. Before workers run. */
void auth_set_remember(struct auth *, usec_t);

/* Before workers run. Takes the account, also on failure. -EEXIST, -ENOMEM. */
MUST_CHECK int auth_add(struct auth *, struct account *);

/* Calls fn for each account until it fails; its failure, or 0. Before workers run, or after. */
MUST_CHECK int auth_each(struct auth *, int (*fn)(struct account *, void *arg), void *arg);

struct auth_request {
    char user[USER_NAME_MAX + 1];
    struct secret password;
};

/* 0 and a reference: right. -FERRY_EAUTH: refused. -EBUSY: the queue for hashes is full, or no
 * answer came within DEFAULT_LOGIN_US. -ENOMEM, -ECANCELED. Borrows the request.
 *
 * An anonymous account takes any password and costs no hash. "anonymous" and "ftp", in any
 * case, mean the account named "anonymous" unless one of that very name exists. */
PARKS MUST_CHECK int auth_check(struct auth *, const struct auth_request *,
                                struct account **ret);

/* The account of that name if it is enabled, for who checks it in another way (its keys): a
 * reference, or NULL. "anonymous" as above. Costs the same for every name. */
struct account *auth_find(struct auth *, const char *user);

uint64_t auth_hashes(const struct auth *); /* computed for checks since the start */
