#include "bench/statistics.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

#define RESAMPLES    2000
#define TAIL_PERCENT 5.0

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof(*values), compare);
}

double statistics_percentile(const double *sorted, size_t count, double percent)
{
    if (count == 0)
        return 0;
    double at = percent / 100 * (double)(count - 1);
    size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double statistics_median(const double *sorted, size_t count)
{
    return statistics_percentile(sorted, count, 50);
}

/* splitmix64: small, and good enough to draw a few thousand indices. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int statistics_interval(const double *samples, size_t count, uint64_t seed,
                        struct statistics_interval *ret)
{
    if (count < 2 || count > STATISTICS_SAMPLES_MAX)
        return -EINVAL;
    double *medians = mem_raw(RESAMPLES * sizeof(*medians));
    if (medians == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < RESAMPLES; i++) {
        double drawn[STATISTICS_SAMPLES_MAX];
        for (size_t k = 0; k < count; k++)
            drawn[k] = samples[draw(&seed) % count];
        statistics_sort(drawn, count);
        medians[i] = statistics_median(drawn, count);
    }
    statistics_sort(medians, RESAMPLES);
    ret->low = statistics_percentile(medians, RESAMPLES, TAIL_PERCENT);
    ret->high = statistics_percentile(medians, RESAMPLES, 100 - TAIL_PERCENT);
    mem_free(medians);
    return 0;
}
