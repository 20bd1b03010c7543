#include "bench/report/goals.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"

#define PEER_TARGET  0.95 /* where no goal says another */
#define NEVER_LESS_S 1e-6 /* CPU beyond the hash: less cannot be told from nothing */
#define SEED         UINT64_C(0x676f616c)

/* What a goal is decided from. */
struct contest {
    const struct goal *goal;
    const struct bench_results *results;
    const struct bench_row *row;
    const struct bench_cell *ours;
};

static bool is_better(double value, double target, bool wants_more)
{
    return wants_more ? value >= target : value <= target;
}

/* What is measured once has no interval. */
static enum bench_verdict judge_plainly(const struct goal_result *g)
{
    return is_better(g->value, g->target, goal_is_ratio(g->kind)) ? BENCH_MET : BENCH_MISSED;
}

static enum bench_verdict judge_interval(const struct goal_result *g, unsigned samples)
{
    bool wants_more = goal_is_ratio(g->kind);
    if (!g->has_interval || samples < BENCH_VERDICT_MIN)
        return BENCH_UNDECIDED;
    bool is_low_good = is_better(g->interval.low, g->target, wants_more);
    bool is_high_good = is_better(g->interval.high, g->target, wants_more);
    if (is_low_good && is_high_good)
        return BENCH_MET;
    return is_low_good || is_high_good ? BENCH_UNDECIDED : BENCH_MISSED;
}

/* -- beside another server -- */

static void take_ratio(struct goal_result *g, const struct bench_ratio *ratio)
{
    g->is_known = true;
    g->value = ratio->value;
    g->has_interval = ratio->has_interval;
    g->interval = ratio->interval;
}

static bool beside_speed(const struct contest *c, const struct bench_cell *cell,
                         struct goal_result *g)
{
    enum bench_unit unit = c->row->unit;
    const struct bench_ratio *ratio = bench_cell_decider(cell, unit, c->ours);
    if (!ratio->is_known)
        return false;
    take_ratio(g, ratio);
    g->is_by_cpu = bench_cell_is_judged_by_cpu(cell, unit, c->ours);
    g->verdict = bench_cell_verdict(cell, unit, c->ours, g->target);
    return true;
}

static bool beside_cpu(const struct contest *c, const struct bench_cell *cell,
                       struct goal_result *g)
{
    (void)c;
    if (!cell->cpu_ratio.is_known)
        return false;
    take_ratio(g, &cell->cpu_ratio);
    g->verdict = bench_verdict_of(&cell->cpu_ratio, g->target);
    return true;
}

static bool beside_memory(const struct contest *c, const struct bench_cell *cell,
                          struct goal_result *g)
{
    if (!cell->has_memory || !c->ours->has_memory || c->ours->memory_bytes == 0)
        return false;
    g->is_known = true;
    g->value = (double)cell->memory_bytes / (double)c->ours->memory_bytes;
    g->verdict = judge_plainly(g);
    return true;
}

static const struct bench_cell *floor_of(const struct bench_row *row)
{
    for (unsigned i = 0; i < row->count; i++)
        if (row->cells[i].is_floor && !bench_cell_has_failed(&row->cells[i]))
            return &row->cells[i];
    return NULL;
}

/* CPU seconds of one hash, sample by sample: what the floor of the goal's other row took, which
 * computes it and waits for nobody. NULL: that was not measured. */
static const struct bench_cell *find_hash(const struct contest *c,
                                          double ret[BENCH_SAMPLES_MAX])
{
    const struct bench_row *row = bench_results_row(c->results, c->goal->other);
    const struct bench_cell *hash = row != NULL ? floor_of(row) : NULL;
    if (hash == NULL || bench_unit_is_speed(row->unit))
        return NULL;
    double unit_s = row->unit == BENCH_MS ? 1e-3 : 1;
    for (unsigned i = 0; i < hash->sample_count; i++)
        ret[i] = hash->samples[i] * unit_s;
    return hash;
}

/* What is left beyond the hash may be nothing at all, and has no ratio then. So what is judged
 * is how much the peer's rest exceeds the target times ours, which also carries the hash's own
 * scatter; the value shown is the ratio of the medians. */
static bool beside_beyond(const struct contest *c, const struct bench_cell *cell,
                          struct goal_result *g)
{
    double hash[BENCH_SAMPLES_MAX], excess[BENCH_SAMPLES_MAX];
    const struct bench_cell *floor = find_hash(c, hash);
    const struct bench_cell *ours = c->ours;
    if (floor == NULL || !cell->has_server_cpu || !ours->has_server_cpu)
        return false;
    unsigned count = floor->sample_count;
    count = cell->sample_count < count ? cell->sample_count : count;
    count = ours->sample_count < count ? ours->sample_count : count;
    if (count == 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        excess[i] =
            (cell->cpu_samples[i] - hash[i]) - g->target * (ours->cpu_samples[i] - hash[i]);
    double rest = statistics_median_of(hash, count);
    g->is_known = true;
    g->value = fmax(statistics_median_of(cell->cpu_samples, count) - rest, 0) /
               fmax(statistics_median_of(ours->cpu_samples, count) - rest, NEVER_LESS_S);
    struct statistics_interval interval;
    if (count < BENCH_VERDICT_MIN || statistics_interval(excess, count, SEED, &interval) < 0)
        g->verdict = BENCH_UNDECIDED;
    else if (interval.low >= 0)
        g->verdict = BENCH_MET;
    else
        g->verdict = interval.high < 0 ? BENCH_MISSED : BENCH_UNDECIDED;
    return true;
}

/* -- alone -- */

static bool alone_memory(const struct contest *c, struct goal_result *g)
{
    g->value = (double)c->ours->memory_bytes;
    return c->ours->has_memory;
}

static bool alone_slope(const struct contest *c, struct goal_result *g)
{
    g->value = c->ours->slope_bytes;
    return c->ours->has_slope;
}

static bool alone_noop(const struct contest *c, struct goal_result *g)
{
    g->value = c->ours->noop.p99_us;
    return c->ours->noop.count > 0;
}

static bool alone_value(const struct contest *c, struct goal_result *g)
{
    g->value = c->ours->value;
    g->has_interval = c->ours->has_interval;
    g->interval = c->ours->interval;
    return true;
}

/* -- the kinds -- */

static const struct kind {
    /* Of one server, whose cell did not fail. False: there is nothing to decide it by. */
    bool (*beside)(const struct contest *, const struct bench_cell *, struct goal_result *);
    bool (*alone)(const struct contest *, struct goal_result *);
    bool is_ratio, is_of_floor;
    bool is_sampled; /* alone, and more than once: its interval is judged */
} kinds[] = {
    [GOAL_PEERS] = {.beside = beside_speed, .is_ratio = true},
    [GOAL_FLOOR] = {.beside = beside_speed, .is_ratio = true, .is_of_floor = true},
    [GOAL_CPU_PEERS] = {.beside = beside_cpu, .is_ratio = true},
    [GOAL_CPU_BEYOND] = {.beside = beside_beyond, .is_ratio = true},
    [GOAL_CPU_OTHER] = {.is_ratio = true},
    [GOAL_MEMORY_PEERS] = {.beside = beside_memory, .is_ratio = true},
    [GOAL_MEMORY] = {.alone = alone_memory},
    [GOAL_SLOPE] = {.alone = alone_slope},
    [GOAL_NOOP_P99] = {.alone = alone_noop},
    [GOAL_VALUE] = {.alone = alone_value, .is_sampled = true},
    [GOAL_ONCE] = {.alone = alone_value},
};

bool goal_is_ratio(enum goal_kind kind)
{
    return kinds[kind].is_ratio;
}

double goal_margin(const struct goal_result *g)
{
    double share = g->value / g->target;
    return goal_is_ratio(g->kind) ? share - 1 : 1 - share;
}

static bool is_contender(const struct goal *goal, const struct bench_cell *cell)
{
    return cell->is_floor == kinds[goal->kind].is_of_floor &&
           (goal->peer == NULL || strcmp(goal->peer, cell->target) == 0);
}

/* Missed before undecided before met; among equals, the lower ratio. */
static bool is_worse(const struct goal_result *a, const struct goal_result *b)
{
    static const unsigned ranks[] = {
        [BENCH_NO_VERDICT] = 0, [BENCH_MET] = 1, [BENCH_UNDECIDED] = 2, [BENCH_MISSED] = 3};
    unsigned x = ranks[a->verdict], y = ranks[b->verdict];
    return x != y ? x > y : a->value < b->value;
}

/* False: nobody to stand beside was measured. */
static bool decide_beside(const struct contest *c, struct goal_result *g)
{
    bool is_decided = false, has_contender = false;
    struct goal_result blank = *g;
    for (unsigned i = 1; i < c->row->count; i++) {
        const struct bench_cell *cell = &c->row->cells[i];
        if (!is_contender(c->goal, cell) || bench_cell_has_failed(cell))
            continue;
        has_contender = true;
        struct goal_result one = blank;
        one.peer = cell->target;
        if (bench_cell_has_failed(c->ours) || !kinds[c->goal->kind].beside(c, cell, &one))
            continue;
        if (!is_decided || is_worse(&one, g))
            *g = one;
        is_decided = true;
    }
    return bench_cell_has_failed(c->ours) ? has_contender : is_decided;
}

/* Measured one after the other, not in turn: no pairs. */
static bool decide_other(const struct contest *c, struct goal_result *g)
{
    const struct bench_row *row = bench_results_row(c->results, c->goal->other);
    const struct bench_cell *other = row != NULL ? bench_row_cell(row, c->ours->target) : NULL;
    if (other == NULL || bench_cell_has_failed(other))
        return false;
    if (bench_cell_has_failed(c->ours))
        return true;
    if (!other->has_server_cpu || !c->ours->has_server_cpu || other->sample_count == 0 ||
        c->ours->sample_count == 0)
        return false;
    double ours = statistics_median_of(c->ours->cpu_samples, c->ours->sample_count);
    if (ours <= 0)
        return false;
    g->is_known = true;
    g->value = statistics_median_of(other->cpu_samples, other->sample_count) / ours;
    g->has_interval =
        statistics_ratio_interval(other->cpu_samples, other->sample_count, c->ours->cpu_samples,
                                  c->ours->sample_count, SEED, &g->interval) == 0;
    unsigned samples = other->sample_count < c->ours->sample_count ? other->sample_count
                                                                   : c->ours->sample_count;
    g->verdict = judge_interval(g, samples);
    return true;
}

static bool decide(const struct contest *c, struct goal_result *g)
{
    enum goal_kind kind = c->goal->kind;
    if (kinds[kind].beside != NULL)
        return decide_beside(c, g);
    if (kinds[kind].alone == NULL)
        return decide_other(c, g);
    if (bench_cell_has_failed(c->ours))
        return true;
    g->is_known = kinds[kind].alone(c, g);
    if (g->is_known)
        g->verdict = kinds[kind].is_sampled ? judge_interval(g, c->ours->sample_count)
                                            : judge_plainly(g);
    return g->is_known;
}

/* Rows about memory say between how many sessions they counted. */
static unsigned crowd_of(const struct contest *c)
{
    unsigned clients = c->row->clients, held = c->ours->slope_to;
    return held > clients ? held : clients;
}

unsigned goals_decide(const struct goal_table *table, const struct bench_results *results,
                      struct goal_result ret[GOALS_MAX])
{
    unsigned count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct goal *goal = &table->goals[i];
        struct contest c = {
            .goal = goal, .results = results, .row = bench_results_row(results, goal->row)};
        if (c.row == NULL || !bench_row_is_ours(results, c.row))
            continue;
        c.ours = &c.row->cells[0];
        if (crowd_of(&c) < goal->clients_min)
            continue;
        struct goal_result g = {.row = goal->row,
                                .what = goal->what,
                                .kind = goal->kind,
                                .target = goal->target,
                                .verdict = BENCH_MISSED};
        if (decide(&c, &g))
            ret[count++] = g;
    }
    return count;
}

bool goals_target(const struct goal_table *table, const char *row,
                  const struct bench_cell *cell, double *ret)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct goal *goal = &table->goals[i];
        if ((goal->kind == GOAL_PEERS || goal->kind == GOAL_FLOOR) &&
            strcmp(goal->row, row) == 0 && is_contender(goal, cell)) {
            *ret = goal->target;
            return true;
        }
    }
    *ret = PEER_TARGET;
    return !cell->is_floor;
}

enum bench_verdict goals_verdict(const struct goal_table *table, const struct bench_row *row,
                                 const struct bench_cell *cell)
{
    double target;
    if (!goals_target(table, row->name, cell, &target))
        return BENCH_NO_VERDICT;
    return bench_cell_verdict(cell, row->unit, &row->cells[0], target);
}
