/* What each level of zlib makes of a sample, and how fast on this CPU: by the coder that copies
 * use, in the pool where it runs then. */
#pragma once
#include "base/bytes.h"
#include "client/probe/model.h"
#include "task/pool.h"

/* At most; a slow CPU does less of the sample, and of each level the same part. */
#define PROBE_LEVELS_US (1500 * USEC_PER_MS)

/* -ENOMEM, -ECANCELED. */
PARKS MUST_CHECK int probe_levels_measure(struct bytes sample, struct pool *,
                                          struct probe_data *ret);
