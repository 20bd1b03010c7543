/* The state directory: one ferryd at a time, and nobody else's to write. */
#pragma once
#include "base/attr.h"
#include "server/privileges.h"
#include "server/settings.h"

struct state_dir {
    int fd;
    int lock; /* held until it is closed */
};

/* Makes it (0700, and what leads to it) for that identity if it is not there, refuses one that
 * others may write, and takes its lock: refused when another ferryd has it. */
MUST_CHECK int state_dir_open(const char *path, const struct identity *, struct state_dir *ret,
                              struct refusal *);
void state_dir_close(struct state_dir *);
