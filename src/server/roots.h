/* The directories that are served, and who may do what in them: opened before the process gives
 * up its rights. */
#pragma once
#include "auth/check.h"
#include "base/attr.h"
#include "server/sandbox.h"
#include "server/settings.h"
#include "vfs/vfs.h"

struct roots {
    struct vroot **at; /* each directory once; by account_setting.root_index */
    unsigned *rights;  /* what any account may do in it */
    unsigned count;
};

/* Opens each account's root and notes its index in the settings. All or none. */
MUST_CHECK int roots_open(struct settings *, struct roots *ret, struct refusal *);
void roots_close(struct roots *); /* {0} is fine */
/* Only to read where no account may change anything. */
void roots_allow(const struct roots *, struct sandbox_rules *);

/* Of what cannot be read, or not be written where an account has the right to write. Call it
 * as the user that the process became. Returns how many warnings that were. */
unsigned roots_warn_access(const struct roots *, const struct settings *);

/* The accounts of the settings: passwords are hashed (20 ms each), quotas start at zero. */
MUST_CHECK int accounts_load(const struct settings *, struct pool *hash_pool, struct auth **ret,
                             struct refusal *);
/* Their keys alone, read as for accounts_load() and forgotten. */
MUST_CHECK int accounts_check_keys(const struct settings *, struct refusal *);
