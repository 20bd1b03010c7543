#include "codec/controller.h"

#include <math.h>

#include "base/attr.h"
#include "codec/controller_internal.h"

/* A level's rate is 3 % better twice in a row, or 25 % at once: it is taken. */
#define GAIN_TWICE   1.03
#define GAIN_AT_ONCE 1.25
#define EQUAL        0.99 /* to the best */

#define EVERY_US_MIN (10 * USEC_PER_MS)
#define STEP_US_MAX  3600e6 /* more is no measurement */

#define TRY_SHARE 0.01   /* of the time may be lost by tries, */
#define TRY_US    2000.0 /* and so much at first */
#define TRY_HOPE  0.6    /* a level that was not measured may cost so much less */

usec_t controller_at_most(usec_t us, usec_t age)
{
    usec_t early = age / 8 < EVERY_US_MIN ? EVERY_US_MIN : age / 8;
    return us < early ? us : early;
}

usec_t controller_forward(struct controller *c, usec_t now)
{
    struct controller_inner *n = &c->inner;
    n->now = now > n->now ? now : n->now;
    return n->now;
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
    f.cpu = fmin(1e9 / (controller_ns(c, i, now) * hope), CONTROLLER_RATE_MAX);
    f.sink = sink / controller_ratio(c, i, c->inner.data);
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
        .ratio_per_mille = (uint16_t)lrint(1e3 * controller_ratio(c, i, c->inner.data)),
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
    return n->idle_us < TRUST_US ? n->current : controller_plan(c->codec)->light;
}

static void decide(struct controller *c, usec_t now)
{
    struct controller_inner *n = &c->inner;
    struct forecast f[CONTROLLER_LEVELS_MAX];
    bool is_optimist;
    double sink = controller_sink_rate(c, &is_optimist);
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
    return now - c->last.at >= controller_at_most(CONTROLLER_EVERY_US, now - c->started_at) ||
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
    double sink = controller_sink_rate(c, &is_optimist);
    double most = GAIN_TWICE * forecast_of(c, n->current, now, sink, 1).rate;
    for (unsigned i = 0; i < c->level_count; i++) {
        double rate = forecast_of(c, i, now, sink, TRY_HOPE).rate;
        if (i == n->current || controller_is_measured(c, i, now) || rate <= most)
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
    if (controller_trait(c, n->current)->power <= 0 && c->level_count > 1 &&
        now - n->data_at >= CONTROLLER_EVERY_US) {
        *ret = controller_plan(c->codec)->light;
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
    const struct plan *p = controller_plan(codec);
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
    now = controller_forward(c, now);
    l->ratio = l->steps == 0 ? ratio : l->ratio + in / (in + SMOOTH_BYTES) * (ratio - l->ratio);
    controller_see_data(c, now, i, in, (double)out_bytes);
    controller_see_cost(c, now, i, in, us);
    c->inner.in_bytes += in_bytes;
    c->inner.put_bytes += out_bytes;
    if (c->inner.is_trying && i == c->inner.trying)
        count_try(c, in, us);
}

void controller_source(struct controller *c, usec_t now, size_t bytes, usec_t waited_us)
{
    struct controller_inner *n = &c->inner;
    now = controller_forward(c, now);
    n->source_bytes += bytes;
    n->waited_us += waited_us;
    if (now - n->source_at < CONTROLLER_EVERY_US)
        return;
    n->source_bytes_per_s = 0;
    if (n->waited_us > 0)
        n->source_bytes_per_s =
            fmin((double)n->source_bytes * 1e6 / (double)n->waited_us, CONTROLLER_RATE_MAX);
    n->source_bytes = n->waited_us = 0;
    n->source_at = now;
}

bool controller_decide(struct controller *c, usec_t now, int *ret_level)
{
    struct controller_inner *n = &c->inner;
    now = controller_forward(c, now);
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
