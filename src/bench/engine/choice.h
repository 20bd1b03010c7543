/* Which rows a run has, and which servers take part in each. */
#pragma once
#include "bench/engine/bench.h"
#include "bench/engine/row_kind.h"

/* Why the row cannot be had of a server that runs already, or for want of descriptors, as the
 * end of a sentence about the row. NULL: it can. */
const char *choice_refusal(const struct bench_options *, const struct row_kind *);

/* None that is refused; what takes minutes is left out of a quick run, unless it was asked for
 * by name. */
bool choice_has_row(const struct bench_options *, const struct row_kind *);

/* Those that run and can do it, in their order: ret[i] belongs to the bench. Returns how many;
 * 0 if the first server is not among them, since there is nothing to hold the others against.
 */
unsigned choice_of_targets(struct bench *, const struct row_kind *,
                           struct target *ret[BENCH_TARGETS_MAX]);
