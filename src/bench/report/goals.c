#include "bench/report/goals.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"

#define PEER_TARGET 0.95 /* where no goal says another */
#define GB_BYTES    1e9
#define SEED        UINT64_C(0x676f616c)

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

static enum bench_verdict judge_interval(const struct goal_result *g)
{
    bool wants_more = goal_is_ratio(g->kind);
    if (!g->has_interval)
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

static bool beside_slope(const struct contest *c, const struct bench_cell *cell,
                         struct goal_result *g)
{
    if (!cell->has_slope || !c->ours->has_slope || c->ours->slope_bytes <= 0)
        return false;
    g->is_known = true;
    g->value = cell->slope_bytes / c->ours->slope_bytes;
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

/* Of CPU beyond the hash, which the floor of the goal's other row computes and waits for
 * nobody: the median, and where it lies. */
struct rest {
    double value;
    struct statistics_interval interval;
};

static const struct bench_cell *find_hash(const struct contest *c)
{
    const struct bench_row *row = bench_results_row(c->results, c->goal->other);
    const struct bench_cell *hash = row != NULL ? floor_of(row) : NULL;
    return hash != NULL && hash->has_server_cpu && hash->sample_count > 0 ? hash : NULL;
}

/* False: too few samples for an interval. */
static bool rest_of(const struct bench_cell *cell, const struct bench_cell *hash,
                    struct rest *ret)
{
    double rests[BENCH_SAMPLES_MAX] = {0}; /* gcc -O2 cannot see that count is not 0 */
    unsigned count =
        cell->sample_count < hash->sample_count ? cell->sample_count : hash->sample_count;
    for (unsigned i = 0; i < count; i++)
        rests[i] = cell->cpu_samples[i] - hash->cpu_samples[i];
    ret->value = statistics_median_of(rests, count);
    return count >= BENCH_INTERVAL_MIN &&
           statistics_interval(rests, count, SEED, &ret->interval) == 0;
}

/* The ratio of the peer's rest to ours, with all that either may be. A rest that may be nothing
 * has no ratio. */
static bool beside_beyond(const struct contest *c, const struct bench_cell *cell,
                          struct goal_result *g)
{
    const struct bench_cell *hash = find_hash(c);
    struct rest ours, peer;
    if (hash == NULL || !cell->has_server_cpu || !c->ours->has_server_cpu ||
        cell->sample_count == 0 || c->ours->sample_count == 0)
        return false;
    bool has_interval = rest_of(c->ours, hash, &ours);
    has_interval = rest_of(cell, hash, &peer) && has_interval;
    g->verdict = BENCH_UNDECIDED;
    if (ours.value <= 0 || (has_interval && ours.interval.low <= 0))
        return true;
    g->is_known = true;
    g->value = peer.value / ours.value;
    g->has_interval = has_interval;
    if (has_interval)
        g->interval = (struct statistics_interval){
            peer.interval.low /
                (peer.interval.low < 0 ? ours.interval.low : ours.interval.high),
            peer.interval.high /
                (peer.interval.high < 0 ? ours.interval.high : ours.interval.low)};
    g->verdict = judge_interval(g);
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

static bool alone_cpu(const struct contest *c, struct goal_result *g)
{
    double per_gb[BENCH_SAMPLES_MAX];
    unsigned count = c->ours->sample_count;
    if (!c->ours->has_server_cpu || c->ours->bytes == 0 || count == 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        per_gb[i] = c->ours->cpu_samples[i] * GB_BYTES;
    g->value = statistics_median_of(per_gb, count);
    g->has_interval = count >= BENCH_INTERVAL_MIN &&
                      statistics_interval(per_gb, count, SEED, &g->interval) == 0;
    return true;
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
    [GOAL_SLOPE_PEERS] = {.beside = beside_slope, .is_ratio = true},
    [GOAL_MEMORY] = {.alone = alone_memory},
    [GOAL_SLOPE] = {.alone = alone_slope},
    [GOAL_NOOP_P99] = {.alone = alone_noop},
    [GOAL_VALUE] = {.alone = alone_value, .is_sampled = true},
    [GOAL_ONCE] = {.alone = alone_value},
    [GOAL_CPU] = {.alone = alone_cpu, .is_sampled = true},
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
        other->sample_count >= BENCH_INTERVAL_MIN &&
        c->ours->sample_count >= BENCH_INTERVAL_MIN &&
        statistics_ratio_interval(other->cpu_samples, other->sample_count, c->ours->cpu_samples,
                                  c->ours->sample_count, SEED, &g->interval) == 0;
    g->verdict = judge_interval(g);
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
        g->verdict = kinds[kind].is_sampled ? judge_interval(g) : judge_plainly(g);
    return g->is_known;
}

unsigned goals_decide(const struct goal_table *table, const struct bench_results *results,
                      struct goal_result ret[GOALS_MAX])
{
    unsigned count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct goal *goal = &table->goals[i];
        struct contest c = {
            .goal = goal, .results = results, .row = bench_results_row(results, goal->row)};
        if (c.row == NULL || c.row->is_reduced || !bench_row_is_ours(results, c.row))
            continue;
        c.ours = &c.row->cells[0];
        if (c.row->clients < goal->clients_min)
            continue;
        struct goal_result g = {.row = goal->row,
                                .what = goal->what,
                                .kind = goal->kind,
                                .target = goal->target,
                                .verdict = BENCH_MISSED};
        bool is_short = c.ours->held > 0 && c.ours->held < goal->clients_min &&
                        !bench_cell_has_failed(c.ours);
        if (is_short) {
            g.held = c.ours->held;
            g.verdict = BENCH_UNDECIDED;
        }
        if (is_short || decide(&c, &g))
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
