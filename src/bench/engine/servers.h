/* The servers of a run: found, started, changed for others of another variant, stopped. */
#pragma once
#include "bench/engine/bench.h"

/* The one that runs already. */
void servers_use(struct bench *, const struct addr *);
/* ferryd, the floor, and the peers that the options choose; nothing runs yet. -E2BIG. */
MUST_CHECK int servers_choose(struct bench *);

/* Has those that have this variant run, and no others. One that does not start is told so in
 * its record (of the plain variant) and takes no part. -ECANCELED, -ENOMEM; or the failure of
 * ferryd itself, with results->error. */
PARKS MUST_CHECK int servers_run(struct bench *, enum recipe_variant);
PARKS void servers_stop(struct bench *);

/* Memory at the start, for the record. -ENOENT: there is no such process, in results->error. */
PARKS MUST_CHECK int servers_look(struct bench *);
