#include "codec/controller.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/attr.h"

/* A level's rate is 3 % better twice in a row, or 25 % at once: it is taken. */
#define GAIN_TWICE   1.03
#define GAIN_AT_ONCE 1.25
#define EQUAL        0.99 /* to the best */

/* The sink's rate is measured over so much time of being busy, or so many bytes. */
#define BUSY_US         (100 * USEC_PER_MS)
#define BUSY_BYTES      (16 * 1024)
#define BUSY_US_SLOW    (300 * USEC_PER_MS)
#define BUSY_US_HOPE    (20 * USEC_PER_MS)
#define BUSY_US_FAST    (10 * USEC_PER_MS)
#define BUSY_BYTES_FAST (256 * 1024)

/* The sink may take more than it did once it has been idle for so long, and longer each time
 * that hope was in vain: what the kernel says, or so many times more. If it never was busy, so
 * many times more again for each such time. A hope ends as soon as the sink is busy. */
#define TRUST_US     (10 * USEC_PER_MS)
#define TRUST_US_MAX (8 * USEC_PER_S)
#define TRUST_GROWS  3
#define HOPE         8.0
#define HOPES_MAX    10.0
#define HOPE_MET     1.3

#define RTT_US_MAX USEC_PER_S /* what is waited for to hear of a change */

/* Figures beyond these are no measurements; they keep what is computed of them finite. */
#define RATE_MAX    1e12 /* bytes a second, of the sink and of the source */
#define STEP_US_MAX 3600e6

/* At the start all is short: a step of time is an eighth of what has passed. */
#define EVERY_US_MIN (10 * USEC_PER_MS)

#define SMOOTH_BYTES   (192.0 * 1024)
#define SMOOTH_US      200e3
#define STEP_US_MIN    0.5 /* the clock's doubt */
#define OUTLIER        1.5 /* a measured time counts as at most so much of what was known */
#define OUTLIER_FIRST  4.0
#define DOUBT          2.0
#define MEASURED_US    (5 * USEC_PER_S) /* how long the cost of a level that rests is known */
#define AT_LEAST       1.25             /* a ratio so near the least that a level can do */
#define DATA_CHANGE    0.35             /* of the logarithm of level 1's ratio */
#define TRY_SHARE      0.01             /* of the time may be lost by tries, */
#define TRY_US         2000.0           /* and so much at first */
#define TRY_HOPE       0.6 /* a level that was not measured may cost so much less */
#define INCOMPRESSIBLE 0.9

/* What is known of levels before they ran, measured on texts, sources, programs and pictures
 * (docs/adr). Costs matter relative to each other: those of this machine are scaled by what did
 * run here. `power` and `shift` make level 1's ratio into this one's: between levels, the
 * relation hardly depends on the data. No data becomes smaller than `least`. */
struct trait {
    int level;
    double ns, ns_noise; /* for each byte; of data that cannot be compressed */
    double power, shift, least;
};

static const struct trait zlib_traits[] = {
    {0, 0.35, 0.35, 0, 0, 1},      {1, 6.4, 18, 1, 0, 0.0046},    {2, 6.9, 18, 1.03, 0, 0.0046},
    {3, 8.8, 18, 1.06, 0, 0.0046}, {4, 9.5, 19, 1.11, 0, 0.0012}, {5, 13, 19, 1.135, 0, 0.0012},
    {6, 20, 19, 1.15, 0, 0.0012},  {9, 45, 19, 1.16, 0, 0.0012},
};

static const struct trait zstd_traits[] = {
    {0, 0.05, 0.05, 0, 0, 1},       {-7, 1.7, 0.35, 0.94, 0.31, 1e-4},
    {1, 2.2, 0.8, 1, 0, 1e-4},      {3, 3.2, 1.2, 0.94, -0.2, 1e-4},
    {6, 8, 3.5, 1, -0.24, 1e-4},    {9, 14, 6, 1.01, -0.26, 1e-4},
    {19, 200, 250, 1, -0.35, 1e-4},
};

static const struct plan {
    const struct trait *traits;
    unsigned count;
    unsigned light, first; /* indexes: level 1, and what the first step is tried with */
} plans[] = {
    [CODEC_NONE] = {zlib_traits, 1, 0, 0},
    [CODEC_ZLIB] = {zlib_traits, ARRAY_LEN(zlib_traits), 1, 6},
    [CODEC_ZSTD] = {zstd_traits, ARRAY_LEN(zstd_traits), 2, 4},
    [CODEC_GZIP] = {zlib_traits, ARRAY_LEN(zlib_traits), 1, 6},
};

static const struct trait *trait_of(const struct controller *c, unsigned i)
{
    return &plans[c->codec].traits[i];
}

static usec_t at_most(usec_t us, usec_t age)
{
    usec_t early = age / 8 < EVERY_US_MIN ? EVERY_US_MIN : age / 8;
    return us < early ? us : early;
}

/* Time does not go back: what is measured elsewhere may come late. */
static usec_t forward(struct controller *c, usec_t now)
{
    struct controller_inner *n = &c->inner;
    n->now = now > n->now ? now : n->now;
    return n->now;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* -- the data -- */

/* log of the ratio at a level, of data whose level 1 has exp(h), h <= 0. What is alike in all
 * data fades where there is nothing to compress. */
#define SHIFT_FULL 0.5

static double ratio_at(const struct controller *c, unsigned i, double data)
{
    const struct trait *t = trait_of(c, i);
    double h = log(data);
    return fmax(exp(t->power * h + t->shift * fmin(1, -h / SHIFT_FULL)), t->least);
}

/* The inverse: what level 1 would have made of it. */
static double data_from(const struct controller *c, unsigned i, double ratio)
{
    const struct trait *t = trait_of(c, i);
    double y = log(clamp(ratio, 1e-5, 1)), h = y / (t->power - t->shift / SHIFT_FULL);
    if (h < -SHIFT_FULL)
        h = (y - t->shift) / t->power;
    return exp(fmin(h, 0));
}

static void see_data(struct controller *c, usec_t now, unsigned i, double in, double out)
{
    struct controller_inner *n = &c->inner;
    if (trait_of(c, i)->power <= 0) /* stored: tells nothing */
        return;
    if (out / in < trait_of(c, i)->least * AT_LEAST &&
        ratio_at(c, i, n->data) <= trait_of(c, i)->least)
        return; /* as was thought: how much less it might be does not show */
    double data = data_from(c, i, out / in), age = (double)(now - n->data_at);
    double weight = fmax(in / (in + SMOOTH_BYTES), age / (age + SMOOTH_US));
    n->data = n->data_at == 0 ? data : n->data + weight * (data - n->data);
    n->data_at = now;
}

/* -- the CPU -- */

static double prior_ns(const struct controller *c, unsigned i)
{
    const struct trait *t = trait_of(c, i);
    return c->inner.data > INCOMPRESSIBLE ? t->ns_noise : t->ns;
}

/* Measured lately, on data as it is now. */
static bool is_measured(const struct controller *c, unsigned i, usec_t now)
{
    const struct controller_level *l = &c->levels[i];
    return l->steps > 0 && now - l->measured_at < MEASURED_US &&
           fabs(log(l->data / c->inner.data)) < DATA_CHANGE;
}

static double ns_at(const struct controller *c, unsigned i, usec_t now)
{
    const struct controller_level *base = &c->levels[c->inner.current];
    if (is_measured(c, i, now))
        return c->levels[i].ns_per_byte;
    double scale = base->steps > 0 ? base->ns_per_byte / prior_ns(c, c->inner.current) : 1;
    return prior_ns(c, i) * scale;
}

/* One step that took so much longer than was thought may have had to share the CPU: it is not
 * believed until a second one says so, too, or the level would be avoided for seconds. */
static void see_cost(struct controller *c, usec_t now, unsigned i, double in, double took_us)
{
    struct controller_level *l = &c->levels[i];
    bool is_known = is_measured(c, i, now);
    double was = ns_at(c, i, now), ns = fmax(took_us, STEP_US_MIN) * 1e3 / in;
    if (!is_known && i != c->inner.current && ns > was * DOUBT && l->doubted_ns == 0) {
        l->doubted_ns = ns;
        return;
    }
    if (l->doubted_ns > 0 && l->doubted_ns < ns)
        ns = l->doubted_ns;
    l->doubted_ns = 0;
    if (is_known)
        l->ns_per_byte += in / (in + SMOOTH_BYTES) * (fmin(ns, was * OUTLIER) - was);
    else if (c->levels[c->inner.current].steps > 0)
        l->ns_per_byte = fmin(ns, was * OUTLIER_FIRST);
    else
        l->ns_per_byte = ns;
    l->steps = is_known ? l->steps + 1 : 1;
    l->measured_at = now;
    l->data = c->inner.data;
}

/* -- the sink -- */

/* A hope is met by a rate that has grown, or was in vain; its window is short, and less than
 * was measured before says little. */
static void see_hope(struct controller_inner *n, double rate)
{
    if (rate > HOPE_MET * n->sink_bytes_per_s)
        n->trust_us = TRUST_US;
    else if (n->trust_us < TRUST_US_MAX)
        n->trust_us *= TRUST_GROWS;
    n->sink_bytes_per_s = fmax(n->sink_bytes_per_s, rate);
}

static void see_busy(struct controller_inner *n, usec_t now)
{
    double rate = (double)n->busy_acked * 1e6 / (double)n->busy_us;
    double weight = n->has_busy ? (double)n->busy_us / ((double)n->busy_us + BUSY_US / 2.0) : 1;
    if (n->is_optimist)
        see_hope(n, rate);
    else
        n->sink_bytes_per_s += weight * (rate - n->sink_bytes_per_s);
    n->has_busy = true;
    n->busy_at = now;
    n->busy_us = n->busy_acked = 0;
}

static bool is_busy_window_full(const struct controller_inner *n)
{
    return n->busy_us >= BUSY_US_SLOW || (n->is_optimist && n->busy_us >= BUSY_US_HOPE) ||
           (n->busy_us >= BUSY_US && n->busy_acked >= BUSY_BYTES) ||
           (n->busy_us >= BUSY_US_FAST && n->busy_acked >= BUSY_BYTES_FAST);
}

/* What it took while it had time to spare is the least that it can. One jump of what was
 * acknowledged is not believed at once. */
static void see_any(struct controller_inner *n)
{
    double rate = (double)n->any_acked * 1e6 / (double)n->any_us;
    if (n->has_busy)
        rate = fmin(rate, 2 * n->sink_bytes_per_s);
    n->sink_bytes_per_s = fmax(n->sink_bytes_per_s, rate);
    n->any_us = n->any_acked = 0;
}

/* 0: nothing is known yet. */
static double sink_rate(const struct controller *c, bool *ret_is_optimist)
{
    const struct controller_inner *n = &c->inner;
    double rate = n->sink_bytes_per_s, kernel = (double)n->kernel_bytes_per_s;
    *ret_is_optimist = n->idle_us > n->trust_us;
    if (!*ret_is_optimist)
        return n->has_busy ? fmin(rate, RATE_MAX) : 0;
    if (kernel > 0)
        return fmin(fmax(kernel, rate), RATE_MAX);
    double times = floor((double)n->idle_us / (double)n->trust_us);
    return fmin(rate * (n->has_busy ? HOPE : pow(HOPE, fmin(times, HOPES_MAX))), RATE_MAX);
}

/* -- the decision -- */

struct forecast {
    double cpu, sink, source, rate; /* of input, each second */
};

/* Of two that take turns in waiting for each other: neither is even, so where they are equal
 * some of both is lost. */
static double lesser(double a, double b)
{
    double low = fmin(a, b), high = fmax(a, b);
    return low > 0 ? low * pow(1 + pow(low / high, 8), -1.0 / 8) : 0;
}

static struct forecast forecast_of(const struct controller *c, unsigned i, usec_t now,
                                   double sink, double hope)
{
    struct forecast f = {.source = c->inner.source_bytes_per_s};
    f.cpu = fmin(1e9 / (ns_at(c, i, now) * hope), RATE_MAX);
    f.sink = sink / ratio_at(c, i, c->inner.data);
    f.rate = lesser(f.cpu, f.sink);
    if (f.source > 0)
        f.rate = fmin(f.rate, f.source);
    return f;
}

static enum controller_limit limit_of(const struct forecast *f)
{
    if (f->source > 0 && f->rate == f->source)
        return CONTROLLER_SOURCE;
    return f->cpu < f->sink ? CONTROLLER_CPU : CONTROLLER_SINK;
}

/* The cheapest of those that are as good as the best; levels stand in the order of costs. */
static unsigned best_of(const struct controller *c, const struct forecast *f, unsigned but)
{
    double most = 0;
    for (unsigned i = 0; i < c->level_count; i++)
        if (i != but)
            most = fmax(most, f[i].rate);
    unsigned i = 0;
    while (i == but || f[i].rate < most * EQUAL)
        i++;
    return i;
}

static bool is_better(struct controller_inner *n, const struct forecast *f, unsigned best)
{
    double gain = f[best].rate / f[n->current].rate;
    bool is_again = n->favourite == best;
    n->favourite = best;
    if (gain >= GAIN_AT_ONCE)
        return true;
    return is_again && (gain >= GAIN_TWICE || best < n->current);
}

static void record(struct controller *c, usec_t now, const struct forecast *f, double sink)
{
    unsigned i = c->inner.current;
    unsigned next = c->level_count > 1 ? best_of(c, f, i) : i;
    c->last = (struct controller_decision){
        .at = now,
        .level = c->levels[i].level,
        .limit = sink > 0 ? limit_of(&f[i]) : CONTROLLER_UNKNOWN,
        .sink_bytes_per_s = (uint64_t)sink,
        .cpu_bytes_per_s = (uint64_t)f[i].cpu,
        .source_bytes_per_s = (uint64_t)f[i].source,
        .expect_bytes_per_s = sink > 0 ? (uint64_t)f[i].rate : 0,
        .ratio_per_mille = (uint16_t)lrint(1e3 * ratio_at(c, i, c->inner.data)),
        .runner_up = c->levels[next].level,
        .runner_up_bytes_per_s = sink > 0 ? (uint64_t)f[next].rate : 0,
    };
}

/* While nothing is known of the sink: what is queued on a slow one is dear, so the first level
 * stays as long as something is; else the sink is faster than we are. */
static unsigned without_sink(const struct controller *c)
{
    const struct controller_inner *n = &c->inner;
    if (n->data > INCOMPRESSIBLE)
        return 0;
    return n->idle_us < TRUST_US ? n->current : plans[c->codec].light;
}

static void decide(struct controller *c, usec_t now)
{
    struct controller_inner *n = &c->inner;
    struct forecast f[CONTROLLER_LEVELS_MAX];
    bool is_optimist;
    double sink = sink_rate(c, &is_optimist);
    for (unsigned i = 0; i < c->level_count; i++)
        f[i] = forecast_of(c, i, now, sink, 1);
    unsigned before = n->current;
    if (sink <= 0) {
        n->current = without_sink(c);
    } else {
        unsigned best = best_of(c, f, c->level_count);
        if (best != n->current && is_better(n, f, best))
            n->current = best;
        else if (best == n->current)
            n->favourite = best;
    }
    n->is_optimist = is_optimist && n->current != before;
    if (n->current != before) {
        n->idle_us = 0;
        n->busy_us = n->busy_acked = 0;
        n->heard_from = now + n->rtt_us;
    }
    n->is_decided = true;
    n->data_of_last = n->data;
    record(c, now, f, sink);
}

/* Before its time: the data has become other data, or a hope about the sink has met it. */
static bool is_surprised(const struct controller *c)
{
    const struct controller_inner *n = &c->inner;
    return fabs(log(n->data / n->data_of_last)) > DATA_CHANGE ||
           (n->is_optimist && n->has_busy && n->busy_at > c->last.at);
}

static bool is_due(const struct controller *c, usec_t now)
{
    const struct controller_inner *n = &c->inner;
    if (!n->is_decided)
        return n->in_bytes >= CONTROLLER_FIRST_BYTES ||
               (n->in_bytes > 0 && now - c->started_at >= CONTROLLER_FIRST_US);
    return now - c->last.at >= at_most(CONTROLLER_EVERY_US, now - c->started_at) ||
           (now - c->last.at >= EVERY_US_MIN && is_surprised(c));
}

/* -- tries -- */

static bool may_try(const struct controller *c, usec_t now)
{
    return (double)c->inner.tried_us <= TRY_US + TRY_SHARE * (double)(now - c->started_at);
}

/* A level that would be better if it cost less than is thought. */
static bool find_hope(const struct controller *c, usec_t now, unsigned *ret)
{
    const struct controller_inner *n = &c->inner;
    bool is_optimist, is_found = false;
    double sink = sink_rate(c, &is_optimist);
    double most = GAIN_TWICE * forecast_of(c, n->current, now, sink, 1).rate;
    for (unsigned i = 0; i < c->level_count; i++) {
        double rate = forecast_of(c, i, now, sink, TRY_HOPE).rate;
        if (i == n->current || is_measured(c, i, now) || rate <= most)
            continue;
        most = rate;
        *ret = i;
        is_found = true;
    }
    return is_found;
}

/* What is stored tells nothing of the data. */
static bool find_try(const struct controller *c, usec_t now, unsigned *ret)
{
    const struct controller_inner *n = &c->inner;
    if (!may_try(c, now))
        return false;
    if (trait_of(c, n->current)->power <= 0 && c->level_count > 1 &&
        now - n->data_at >= CONTROLLER_EVERY_US) {
        *ret = plans[c->codec].light;
        return true;
    }
    return find_hope(c, now, ret);
}

/* What it took longer than a step at the expected rate, which the queue hides. */
static void count_try(struct controller *c, double in, double took_us)
{
    double usual_us =
        c->last.expect_bytes_per_s > 0 ? in * 1e6 / (double)c->last.expect_bytes_per_s : 0;
    if (took_us > usual_us)
        c->inner.tried_us += (usec_t)(took_us - usual_us);
}

/* -- what is called -- */

void controller_init(struct controller *c, enum codec codec, usec_t now)
{
    const struct plan *p = &plans[codec];
    *c = (struct controller){.codec = codec, .level_count = p->count, .started_at = now};
    c->inner.now = now;
    for (unsigned i = 0; i < p->count; i++)
        c->levels[i] = (struct controller_level){
            .level = p->traits[i].level, .ns_per_byte = p->traits[i].ns, .ratio = 1};
    c->inner.current = c->inner.favourite = p->first;
    c->inner.data = c->inner.data_of_last = 1;
    c->inner.trust_us = TRUST_US;
    c->last.level = c->last.runner_up = c->levels[p->first].level;
    c->last.at = now;
}

void controller_step(struct controller *c, usec_t now, int level, size_t in_bytes,
                     size_t out_bytes, usec_t took_us)
{
    unsigned i = 0;
    while (i < c->level_count && c->levels[i].level != level)
        i++;
    if (i == c->level_count || in_bytes == 0)
        return;
    double in = (double)in_bytes, ratio = (double)out_bytes / in;
    double us = fmin((double)took_us, STEP_US_MAX);
    struct controller_level *l = &c->levels[i];
    now = forward(c, now);
    l->ratio = l->steps == 0 ? ratio : l->ratio + in / (in + SMOOTH_BYTES) * (ratio - l->ratio);
    see_data(c, now, i, in, (double)out_bytes);
    see_cost(c, now, i, in, us);
    c->inner.in_bytes += in_bytes;
    c->inner.put_bytes += out_bytes;
    if (c->inner.is_trying && i == c->inner.trying)
        count_try(c, in, us);
}

void controller_sink(struct controller *c, usec_t now, uint64_t acked_bytes,
                     uint64_t rate_bytes_per_s, uint64_t unsent_bytes)
{
    struct controller_inner *n = &c->inner;
    now = forward(c, now);
    uint64_t acked = acked_bytes > n->acked_bytes ? acked_bytes - n->acked_bytes : 0;
    usec_t us = n->is_sampled ? now - n->sampled_at : 0;
    if (now < n->heard_from) {
        n->idle_us = 0; /* it was told of what the level before this one gave it */
    } else if (n->is_sampled && n->unsent_bytes > 0 && unsent_bytes > n->put_bytes) {
        n->busy_us += us;
        n->busy_acked += acked;
        n->idle_us = 0;
    } else {
        n->busy_us = n->busy_acked = 0;
        n->idle_us += us;
    }
    n->put_bytes = 0;
    n->any_us += us;
    n->any_acked += n->is_sampled ? acked : 0;
    n->sampled_at = now;
    n->acked_bytes = acked_bytes;
    n->unsent_bytes = unsent_bytes;
    n->kernel_bytes_per_s = rate_bytes_per_s;
    n->is_sampled = true;
    if (is_busy_window_full(n))
        see_busy(n, now);
    if (n->any_us >= at_most(BUSY_US, now - c->started_at))
        see_any(n);
}

void controller_round_trip(struct controller *c, usec_t rtt_us)
{
    c->inner.rtt_us = rtt_us < RTT_US_MAX ? rtt_us : RTT_US_MAX;
}

void controller_source(struct controller *c, usec_t now, size_t bytes, usec_t waited_us)
{
    struct controller_inner *n = &c->inner;
    now = forward(c, now);
    n->source_bytes += bytes;
    n->waited_us += waited_us;
    if (now - n->source_at < CONTROLLER_EVERY_US)
        return;
    n->source_bytes_per_s = 0;
    if (n->waited_us > 0)
        n->source_bytes_per_s =
            fmin((double)n->source_bytes * 1e6 / (double)n->waited_us, RATE_MAX);
    n->source_bytes = n->waited_us = 0;
    n->source_at = now;
}

bool controller_decide(struct controller *c, usec_t now, int *ret_level)
{
    struct controller_inner *n = &c->inner;
    now = forward(c, now);
    unsigned i;
    bool is_now = is_due(c, now);
    n->is_trying = false;
    if (is_now)
        decide(c, now);
    i = n->current;
    if (n->is_decided && !is_now && find_try(c, now, &i)) {
        n->trying = i;
        n->is_trying = true;
    }
    *ret_level = c->levels[i].level;
    return is_now;
}

size_t controller_unsent_max(const struct controller *c)
{
    return (size_t)clamp(c->inner.sink_bytes_per_s / 4, 16 * 1024, 512 * 1024);
}

/* -- in words -- */

static void print_rate(uint64_t rate, char ret[16])
{
    static const struct {
        double least;
        const char *unit;
    } units[] = {{999.5e6, "GB/s"}, {999.5e3, "MB/s"}, {0, "KB/s"}};

    unsigned i = 0;
    while ((double)rate < units[i].least)
        i++;
    static const double divisors[] = {1e9, 1e6, 1e3};
    double x = (double)rate / divisors[i];
    snprintf(ret, 16, "%.*f %s", x < 9.95 ? 1 : 0, x, units[i].unit);
}

void controller_explain(const struct controller_decision *d, size_t cap, char *ret)
{
    static const char *const limits[] = {[CONTROLLER_UNKNOWN] = "nothing known yet",
                                         [CONTROLLER_SINK] = "limited by the link",
                                         [CONTROLLER_CPU] = "limited by the CPU",
                                         [CONTROLLER_SOURCE] = "limited by the source"};
    char sink[16], cpu[16], source[16], next[16];
    print_rate(d->sink_bytes_per_s, sink);
    print_rate(d->cpu_bytes_per_s, cpu);
    print_rate(d->source_bytes_per_s, source);
    print_rate(d->runner_up_bytes_per_s, next);
    if (d->limit == CONTROLLER_UNKNOWN) {
        snprintf(ret, cap, "level %d, %s: ratio %u.%03u, CPU %s", d->level, limits[d->limit],
                 d->ratio_per_mille / 1000u, d->ratio_per_mille % 1000u, cpu);
        return;
    }
    snprintf(ret, cap, "level %d, %s: %s drain, ratio %u.%03u, CPU %s%s%s; next best %d at %s",
             d->level, limits[d->limit], sink, d->ratio_per_mille / 1000u,
             d->ratio_per_mille % 1000u, cpu, d->source_bytes_per_s > 0 ? ", source " : "",
             d->source_bytes_per_s > 0 ? source : "", d->runner_up, next);
}
