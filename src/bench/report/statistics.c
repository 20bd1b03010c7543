#include "bench/report/statistics.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

double statistics_median_of(const double *samples, size_t count)
{
    double sorted[STATISTICS_SAMPLES_MAX];
    assert(count <= STATISTICS_SAMPLES_MAX);
    memcpy(sorted, samples, count * sizeof(*sorted));
    statistics_sort(sorted, count);
    return statistics_median(sorted, count);
}

/* splitmix64: small, and good enough to draw a few thousand indices. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The median of as many values, drawn from these. */
static double draw_median(const double *samples, size_t count, uint64_t *seed)
{
    double drawn[STATISTICS_SAMPLES_MAX];
    for (size_t i = 0; i < count; i++)
        drawn[i] = samples[draw(seed) % count];
    statistics_sort(drawn, count);
    return statistics_median(drawn, count);
}

/* Sorts what was found by drawing again and again, and takes its middle part. */
static struct statistics_interval cut_tails(double found[RESAMPLES])
{
    statistics_sort(found, RESAMPLES);
    return (struct statistics_interval){
        .low = statistics_percentile(found, RESAMPLES, TAIL_PERCENT),
        .high = statistics_percentile(found, RESAMPLES, 100 - TAIL_PERCENT),
    };
}

static bool can_draw(size_t count)
{
    return count >= 2 && count <= STATISTICS_SAMPLES_MAX;
}

static bool are_above_zero(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0))
            return false;
    return true;
}

int statistics_interval(const double *samples, size_t count, uint64_t seed,
                        struct statistics_interval *ret)
{
    if (!can_draw(count))
        return -EINVAL;
    double *found = mem_raw(RESAMPLES * sizeof(*found));
    if (found == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < RESAMPLES; i++)
        found[i] = draw_median(samples, count, &seed);
    *ret = cut_tails(found);
    mem_free(found);
    return 0;
}

int statistics_ratio_interval(const double *a, size_t a_count, const double *b, size_t b_count,
                              uint64_t seed, struct statistics_interval *ret)
{
    if (!can_draw(a_count) || !can_draw(b_count) || !are_above_zero(a, a_count) ||
        !are_above_zero(b, b_count))
        return -EINVAL;
    double *found = mem_raw(RESAMPLES * sizeof(*found));
    if (found == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < RESAMPLES; i++) {
        double above = draw_median(a, a_count, &seed);
        found[i] = above / draw_median(b, b_count, &seed);
    }
    *ret = cut_tails(found);
    mem_free(found);
    return 0;
}
