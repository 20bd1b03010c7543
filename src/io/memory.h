/* A pair of streams joined in memory, for tests: what one writes the other reads, cut into
 * pieces of any size by a seed. No descriptors. */
#pragma once
#include "io/stream.h"

/* cap: bytes in flight per direction; cut: 0, or the seed that splits reads and writes
 * anywhere. */
MUST_CHECK int memory_pair_new(size_t cap, uint64_t cut, struct stream **ret_a,
                               struct stream **ret_b);
