/* What patterns of a server's files stand for. */
#pragma once
#include "base/glob.h"
#include "client/remote/endpoint.h"

struct endpoint_names {
    char **names; /* each and the list owned */
    unsigned count;
    size_t bytes;
};

void endpoint_names_done(struct endpoint_names *); /* {0} is fine */

/* By name. A file of that very name comes first, and then it is no pattern. A hidden one is
 * matched by a pattern that begins with a dot. Bounds: GLOB_STEPS_MAX, EXEC_NAMES_MAX,
 * EXEC_NAMES_BYTES. -ENOENT: nothing matches; -FERRY_ELIMIT: too much does; or what the
 * endpoint failed with. */
PARKS MUST_CHECK int endpoint_glob(struct endpoint *, struct bytes pattern,
                                   struct endpoint_names *ret);
