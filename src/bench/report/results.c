#include "bench/report/results.h"

#include <string.h>

#include "base/attr.h"

#define SEED UINT64_C(0x6665727279) /* any: the same samples give the same interval */

static const char *const units[] = {
    [BENCH_SECS] = "secs",     [BENCH_MB_PER_S] = "MB/sec", [BENCH_MS] = "ms",
    [BENCH_PER_S] = "per sec", [BENCH_MB] = "MB",           [BENCH_TIMES] = "times",
};

static const char *const verdicts[] = {
    [BENCH_NO_VERDICT] = "",
    [BENCH_MET] = "met",
    [BENCH_MISSED] = "missed",
    [BENCH_UNDECIDED] = "undecided",
};

bool bench_unit_is_speed(enum bench_unit unit)
{
    return unit == BENCH_MB_PER_S || unit == BENCH_PER_S;
}

const char *bench_unit_name(enum bench_unit unit)
{
    return units[unit];
}

double bench_cell_client_share(const struct bench_cell *cell)
{
    usec_t cpu_us = cell->client_busiest_us > 0 ? cell->client_busiest_us : cell->client_cpu_us;
    return cell->wall_us > 0 ? (double)cpu_us / (double)cell->wall_us : 0;
}

bool bench_cell_is_client_limited(const struct bench_cell *cell)
{
    return bench_cell_client_share(cell) > BENCH_LIMITED_AT;
}

bool bench_cell_has_failed(const struct bench_cell *cell)
{
    return cell->error[0] != '\0';
}

/* -- from samples -- */

static void take_median(struct bench_cell *cell)
{
    unsigned count = cell->sample_count;
    if (count == 0)
        return;
    cell->value = statistics_median_of(cell->samples, count);
    cell->has_interval = count >= BENCH_INTERVAL_MIN &&
                         statistics_interval(cell->samples, count, SEED, &cell->interval) == 0;
}

/* A pair of which one is 0 was too short to be measured, and has no ratio. */
static struct bench_ratio compare(const double *above, const double *below, unsigned count)
{
    struct bench_ratio ratio = {0};
    double ratios[BENCH_SAMPLES_MAX];
    for (unsigned i = 0; i < count; i++)
        if (above[i] > 0 && below[i] > 0)
            ratios[ratio.pairs++] = above[i] / below[i];
    if (ratio.pairs == 0)
        return ratio;
    ratio.is_known = true;
    ratio.value = statistics_median_of(ratios, ratio.pairs);
    ratio.has_interval = ratio.pairs >= BENCH_INTERVAL_MIN &&
                         statistics_interval(ratios, ratio.pairs, SEED, &ratio.interval) == 0;
    return ratio;
}

void bench_cell_finish(struct bench_cell *cell, enum bench_unit unit,
                       const struct bench_cell *first)
{
    take_median(cell);
    cell->ratio = cell->cpu_ratio = (struct bench_ratio){0};
    if (first == NULL || first == cell || bench_cell_has_failed(first) ||
        bench_cell_has_failed(cell))
        return;
    unsigned pairs =
        cell->sample_count < first->sample_count ? cell->sample_count : first->sample_count;
    if (bench_unit_is_speed(unit))
        cell->ratio = compare(first->samples, cell->samples, pairs);
    else
        cell->ratio = compare(cell->samples, first->samples, pairs);
    if (first->has_server_cpu && cell->has_server_cpu)
        cell->cpu_ratio = compare(cell->cpu_samples, first->cpu_samples, pairs);
}

/* -- looking up -- */

bool bench_row_is_ours(const struct bench_results *results, const struct bench_row *row)
{
    return row->count > 0 && strcmp(row->cells[0].target, results->servers[0].name) == 0;
}

const struct bench_row *bench_results_row(const struct bench_results *results, const char *name)
{
    for (unsigned i = 0; i < results->count; i++)
        if (strcmp(results->rows[i].name, name) == 0)
            return &results->rows[i];
    return NULL;
}

const struct bench_cell *bench_row_cell(const struct bench_row *row, const char *target)
{
    for (unsigned i = 0; i < row->count; i++)
        if (strcmp(row->cells[i].target, target) == 0)
            return &row->cells[i];
    return NULL;
}

/* -- verdicts -- */

enum bench_verdict bench_verdict_of(const struct bench_ratio *ratio, double target)
{
    if (!ratio->is_known)
        return BENCH_NO_VERDICT;
    if (!ratio->has_interval)
        return BENCH_UNDECIDED;
    if (ratio->interval.low >= target)
        return BENCH_MET;
    return ratio->interval.high < target ? BENCH_MISSED : BENCH_UNDECIDED;
}

const char *bench_verdict_name(enum bench_verdict verdict)
{
    return verdicts[verdict];
}

bool bench_cell_is_judged_by_cpu(const struct bench_cell *cell, enum bench_unit unit,
                                 const struct bench_cell *first)
{
    bool is_of_work = bench_unit_is_speed(unit) || unit == BENCH_SECS;
    return is_of_work && bench_cell_is_client_limited(cell) &&
           bench_cell_is_client_limited(first);
}

const struct bench_ratio *bench_cell_decider(const struct bench_cell *cell,
                                             enum bench_unit unit,
                                             const struct bench_cell *first)
{
    return bench_cell_is_judged_by_cpu(cell, unit, first) ? &cell->cpu_ratio : &cell->ratio;
}

enum bench_verdict bench_cell_verdict(const struct bench_cell *cell, enum bench_unit unit,
                                      const struct bench_cell *first, double target)
{
    const struct bench_ratio *ratio = bench_cell_decider(cell, unit, first);
    if (unit == BENCH_MB && ratio->is_known && !ratio->has_interval)
        return ratio->value >= target ? BENCH_MET : BENCH_MISSED;
    return bench_verdict_of(ratio, target);
}
