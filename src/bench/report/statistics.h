/* What a few samples say. Pure: chance comes from a seed. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define STATISTICS_SAMPLES_MAX 64 /* of one interval */

struct statistics_interval {
    double low, high;
};

void statistics_sort(double *values, size_t count);

/* The value below which `percent` (0 to 100) of the sorted values lie, interpolated between two
 * of them. 0 when there is none. */
double statistics_percentile(const double *sorted, size_t count, double percent);
double statistics_median(const double *sorted, size_t count);
/* Of values in any order, at most STATISTICS_SAMPLES_MAX. */
double statistics_median_of(const double *samples, size_t count);

/* The 90 % interval of the median by bootstrap: medians of 2,000 samples drawn with replacement
 * from these, less 5 % at each end. -EINVAL: fewer than two samples, or too many; -ENOMEM. */
MUST_CHECK int statistics_interval(const double *samples, size_t count, uint64_t seed,
                                   struct statistics_interval *ret);

/* Likewise of the median of `a` divided by that of `b`, drawn apart: they are no pairs. -EINVAL
 * also when a value is not above 0. */
MUST_CHECK int statistics_ratio_interval(const double *a, size_t a_count, const double *b,
                                         size_t b_count, uint64_t seed,
                                         struct statistics_interval *ret);
