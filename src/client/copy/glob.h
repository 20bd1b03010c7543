/* What patterns of a server's files stand for. */
#pragma once
#include "base/glob.h"
#include "client/copy/end.h"

struct copy_names {
    char **names; /* each and the list owned */
    unsigned count;
    size_t bytes;
};

void copy_names_done(struct copy_names *); /* {0} is fine */

/* By name. A file of that very name comes first, and then it is no pattern. A hidden one is
 * matched by a pattern that begins with a dot. Bounds: GLOB_STEPS_MAX, EXEC_NAMES_MAX,
 * EXEC_NAMES_BYTES. -ENOENT: nothing matches; -FERRY_ELIMIT; ret_why in words. */
PARKS MUST_CHECK int copy_glob(struct copy_end *, struct bytes pattern, struct copy_names *ret,
                               char ret_why[COPY_WHY_MAX]);
