#include "bench/report/goals.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"

#define PEER_TARGET  0.95
#define FLOOR_TARGET 0.90
#define KIB          1024.0
#define MIB          (1024.0 * KIB)
#define MS           1000.0
#define NEVER_LESS_S 1e-6 /* CPU beyond the hash: less cannot be told from nothing */
#define SEED         UINT64_C(0x676f616c)

static const struct goal {
    const char *row;
    enum goal_kind kind;
    unsigned clients_min; /* a smaller crowd is another thing */
    double target;
    const char *what;  /* at most 32 columns */
    const char *peer;  /* NULL: every one */
    const char *other; /* GOAL_CPU_OTHER: the row */
} goals[] = {
    {"stor", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"stor", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"stor", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"retr", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"retr", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"retr", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"stor_idle", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"stor_idle", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"stor_idle", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"retr_idle", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"retr_idle", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"retr_idle", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"login_first", GOAL_FLOOR, .target = 1 / 1.2, .what = "at most 1.2 times the hash"},
    {"login", GOAL_FLOOR, .target = 1 / 1.25, .what = "at most 1.25 times the floor"},
    {"login", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"login", GOAL_CPU_PEERS, .target = 1 / 0.6, .what = "at most 0.6 of pyftpdlib's CPU",
     .peer = "pyftpdlib"},
    {"login_window", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"login_hashed", GOAL_PEERS, .target = 1, .what = "as many as vsftpd", .peer = "vsftpd"},
    {"login_hashed", GOAL_PEERS, .target = 1, .what = "as many as proftpd", .peer = "proftpd"},
    {"login_hashed", GOAL_CPU_BEYOND, .target = 5, .what = "5 times less CPU beyond the hash",
     .peer = "vsftpd"},
    {"login_hashed", GOAL_CPU_BEYOND, .target = 5, .what = "5 times less CPU beyond the hash",
     .peer = "proftpd"},
    {"login_hashed", GOAL_NOOP_P99, .target = 5 * MS, .what = "NOOP p99 at most 5 ms"},
    {"retr_many", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"retr_many", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"retr_many", GOAL_NOOP_P99, .target = 50 * MS, .what = "NOOP p99 at most 50 ms",
     .clients_min = 300},
    {"stor_many", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"stor_many", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"stor_many", GOAL_NOOP_P99, .target = 50 * MS, .what = "NOOP p99 at most 50 ms",
     .clients_min = 300},
    {"memory", GOAL_MEMORY, .target = 4 * MIB, .what = "at most 4M of memory",
     .clients_min = 300},
    {"memory", GOAL_MEMORY_PEERS, .target = 4, .what = "a quarter of pyftpdlib's memory",
     .peer = "pyftpdlib", .clients_min = 300},
    {"memory", GOAL_SLOPE, .target = 1.5 * KIB, .what = "at most 1.5K a session",
     .clients_min = 300},
    {"memory_10k", GOAL_MEMORY, .target = 20 * MIB, .what = "at most 20M of memory",
     .clients_min = 10000},
    {"memory_10k", GOAL_SLOPE, .target = 1.5 * KIB, .what = "at most 1.5K a session",
     .clients_min = 10000},
    {"idle_100k", GOAL_MEMORY, .target = 200 * MIB, .what = "at most 200M of memory",
     .clients_min = 100000},
    {"idle_100k", GOAL_VALUE, .target = 1.5, .what = "a login: at most 1.5 times alone",
     .clients_min = 100000},
    {"retr_10k", GOAL_CPU_OTHER, .target = 1 / 1.05, .what = "CPU within 5 % of RETR alone",
     .other = "retr"},
    {"list_100k", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"list_100k", GOAL_MEMORY, .target = MIB, .what = "at most 1M more memory"},
    {"mlsd_100k", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"mlsd_100k", GOAL_MEMORY, .target = MIB, .what = "at most 1M more memory"},
    {"small_up_1", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_up_1", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"small_down_1", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_down_1", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"small_up_10", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_up_10", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"small_down_10", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_down_10", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"noop_downloads", GOAL_VALUE, .target = 50, .what = "at most 50 ms", .clients_min = 300},
    {"noop_hashes", GOAL_VALUE, .target = 5, .what = "at most 5 ms"},
    {"noop_stopped", GOAL_VALUE, .target = 5, .what = "at most 5 ms"},
};

_Static_assert(ARRAY_LEN(goals) <= GOALS_MAX, "a result for each");

/* What a goal is decided from. */
struct contest {
    const struct bench_results *results;
    const struct bench_row *row;
    const struct bench_cell *ours;
};

static bool is_better(double value, double target, bool wants_more)
{
    return wants_more ? value >= target : value <= target;
}

/* Without an interval: a plain comparison. */
static enum bench_verdict judge(const struct goal_result *g)
{
    bool wants_more = goal_is_ratio(g->kind);
    if (!g->has_interval)
        return is_better(g->value, g->target, wants_more) ? BENCH_MET : BENCH_MISSED;
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
    g->verdict = judge(g);
    return true;
}

static const struct bench_cell *floor_of(const struct bench_row *row)
{
    for (unsigned i = 0; i < row->count; i++)
        if (row->cells[i].is_floor && !bench_cell_has_failed(&row->cells[i]))
            return &row->cells[i];
    return NULL;
}

/* CPU seconds of one hash, sample by sample: what the floor of row "login_first" took, which
 * computes it and waits for nobody. NULL: that was not measured. */
static const struct bench_cell *find_hash(const struct contest *c,
                                          double ret[BENCH_SAMPLES_MAX])
{
    const struct bench_row *row = bench_results_row(c->results, "login_first");
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
    if (count < BENCH_INTERVAL_MIN || statistics_interval(excess, count, SEED, &interval) < 0)
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
} kinds[] = {
    [GOAL_PEERS] = {beside_speed, NULL, true, false},
    [GOAL_FLOOR] = {beside_speed, NULL, true, true},
    [GOAL_CPU_PEERS] = {beside_cpu, NULL, true, false},
    [GOAL_CPU_BEYOND] = {beside_beyond, NULL, true, false},
    [GOAL_CPU_OTHER] = {NULL, NULL, true, false},
    [GOAL_MEMORY_PEERS] = {beside_memory, NULL, true, false},
    [GOAL_MEMORY] = {NULL, alone_memory, false, false},
    [GOAL_SLOPE] = {NULL, alone_slope, false, false},
    [GOAL_NOOP_P99] = {NULL, alone_noop, false, false},
    [GOAL_VALUE] = {NULL, alone_value, false, false},
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
static bool decide_beside(const struct contest *c, const struct goal *goal,
                          struct goal_result *g)
{
    bool is_decided = false, has_contender = false;
    struct goal_result blank = *g;
    for (unsigned i = 1; i < c->row->count; i++) {
        const struct bench_cell *cell = &c->row->cells[i];
        if (!is_contender(goal, cell) || bench_cell_has_failed(cell))
            continue;
        has_contender = true;
        struct goal_result one = blank;
        one.peer = cell->target;
        if (bench_cell_has_failed(c->ours) || !kinds[goal->kind].beside(c, cell, &one))
            continue;
        if (!is_decided || is_worse(&one, g))
            *g = one;
        is_decided = true;
    }
    return bench_cell_has_failed(c->ours) ? has_contender : is_decided;
}

/* Measured one after the other, not in turn: no pairs. */
static bool decide_other(const struct contest *c, const struct goal *goal,
                         struct goal_result *g)
{
    const struct bench_row *row = bench_results_row(c->results, goal->other);
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
    g->verdict = g->has_interval ? judge(g) : BENCH_UNDECIDED;
    return true;
}

static bool decide(const struct contest *c, const struct goal *goal, struct goal_result *g)
{
    if (kinds[goal->kind].beside != NULL)
        return decide_beside(c, goal, g);
    if (kinds[goal->kind].alone == NULL)
        return decide_other(c, goal, g);
    if (bench_cell_has_failed(c->ours))
        return true;
    g->is_known = kinds[goal->kind].alone(c, g);
    if (g->is_known)
        g->verdict = judge(g);
    return g->is_known;
}

/* Rows about memory say between how many sessions they counted. */
static unsigned crowd_of(const struct contest *c)
{
    unsigned clients = c->row->clients, held = c->ours->slope_to;
    return held > clients ? held : clients;
}

unsigned goals_decide(const struct bench_results *results, struct goal_result ret[GOALS_MAX])
{
    unsigned count = 0;
    for (size_t i = 0; i < ARRAY_LEN(goals); i++) {
        const struct goal *goal = &goals[i];
        struct contest c = {.results = results, .row = bench_results_row(results, goal->row)};
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
        if (decide(&c, goal, &g))
            ret[count++] = g;
    }
    return count;
}

double goals_target(const char *row, const struct bench_cell *cell)
{
    for (size_t i = 0; i < ARRAY_LEN(goals); i++)
        if ((goals[i].kind == GOAL_PEERS || goals[i].kind == GOAL_FLOOR) &&
            strcmp(goals[i].row, row) == 0 && is_contender(&goals[i], cell))
            return goals[i].target;
    return cell->is_floor ? FLOOR_TARGET : PEER_TARGET;
}
