/* The table of accounts in memory, by name. Filled at start, then read by all workers without a
 * lock. For auth/ only. */
#pragma once
#include "auth/account.h"

struct accounts {
    struct account **slots; /* open addressing; a power of two, at most half full */
    unsigned slot_count;
    unsigned count;
    uint64_t seed;
};

void accounts_init(struct accounts *, uint64_t seed);
void accounts_done(struct accounts *); /* drops its references */

/* Takes the account, also on failure. -EEXIST, -ENOMEM. */
MUST_CHECK int accounts_add(struct accounts *, struct account *);

/* Borrowed, or NULL. */
struct account *accounts_find(const struct accounts *, struct bytes name);

/* Calls fn for each until it fails; its failure, or 0. */
MUST_CHECK int accounts_each(const struct accounts *, int (*fn)(struct account *, void *arg),
                             void *arg);

/* The hash that a check which can only fail is computed against: that of the account itself if
 * it has one, else of another that the name picks, the same each time. NULL: no account has
 * one. */
const char *accounts_decoy(const struct accounts *, struct bytes name);
