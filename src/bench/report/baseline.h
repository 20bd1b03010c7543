/* An earlier run, from the JSON that it wrote: the same rows then and now. */
#pragma once
#include "base/bytes.h"
#include "bench/report/results.h"

#define BASELINE_BYTES_MAX (64 * 1024 * 1024)

struct baseline;

/* -ENOENT and other failures of the system; -FERRY_ELIMIT: longer than BASELINE_BYTES_MAX;
 * -FERRY_EPROTO: it is not the JSON of a run, with the place in `why`. Blocking. */
MUST_CHECK int baseline_load(const char *path, char why[BENCH_ERROR_MAX],
                             struct baseline **ret);
/* The same from memory. Rows and servers that failed then are left out. */
MUST_CHECK int baseline_parse(struct bytes text, char why[BENCH_ERROR_MAX],
                              struct baseline **ret);
struct baseline *baseline_free(struct baseline *); /* NULL is fine. Returns NULL. */

/* This cell beside the same row, by name, label and unit, and server then: above 1, it is
 * better now. The interval comes from both sets of samples, which are no pairs. Unknown: that
 * run had no such row or server, or one of them failed. */
struct bench_ratio baseline_ratio(const struct baseline *, const struct bench_row *,
                                  const struct bench_cell *);
