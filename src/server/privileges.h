/* What the process is and what it may still become: identity, capabilities, descriptors.
 *
 * Called in the one thread that exists at start, after everything that needs privilege is open.
 * Nothing here can be taken back.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "server/settings.h"

struct identity {
    bool changes; /* false: stay who we are */
    uid_t uid;
    gid_t gid;
    char *name; /* of the configuration's user, for its groups; NULL: no other groups */
};

/* Who the process becomes: settings.user; or, started by root without one, the owner of DIR
 * (the default root's, with a configuration). Not started by root: itself, and a `user` that is
 * somebody else is refused. */
MUST_CHECK int privileges_choose(const struct settings *, struct identity *ret,
                                 struct refusal *);
void identity_done(struct identity *); /* {0} is fine */

/* RLIMIT_NOFILE to its hard limit; returns how many descriptors that is. */
unsigned privileges_raise_descriptors(void);
/* Descriptors that so many sessions may need at once, each with a transfer. */
unsigned privileges_descriptors_for(unsigned sessions, unsigned listening_sockets);
/* How many tasks can be awake at once, whose stacks take two mappings each of the
 * vm.max_map_count that a process may have. Dozing sessions have none. 0: not known. */
unsigned privileges_tasks_awake(void);

/* No new privileges, no supplementary groups but the user's, uid and gid for good, no
 * capability in any set, bounding set included. A release build cannot be traced or dumped
 * after it. On failure the process must end. */
MUST_CHECK int privileges_drop(const struct identity *);
bool privileges_leave_core(void); /* true in a debug build */
