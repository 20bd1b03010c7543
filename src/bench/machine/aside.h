/* What blocks, for a task: on a thread of the pool. */
#pragma once
#include "task/pool.h"

/* Returns what fn does, or -ENOMEM, or a failure of job_run(). Not cancellable, since fn may
 * use what is the caller's: it has a deadline of its own. */
PARKS MUST_CHECK int aside_run(struct pool *, int (*fn)(void *arg), void *arg);
