/* Which rows a run has, and which servers take part in each. */
#pragma once
#include "bench/engine/bench.h"

/* What takes minutes is left out of a quick run, and what needs servers of our own of one with
 * a server that runs already; unless it was asked for by name, and can be done. */
bool choice_has_row(const struct bench *, const struct row_kind *);

/* Those that run and can do it, in their order: ret[i] belongs to the bench. Returns how many;
 * 0 if the first server is not among them, since there is nothing to hold the others against.
 */
unsigned choice_of_targets(struct bench *, const struct row_kind *,
                           struct target *ret[BENCH_TARGETS_MAX]);
