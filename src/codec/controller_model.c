/* What is known of the data, and of what levels cost on this CPU. */
#include <math.h>

#include "base/attr.h"
#include "codec/controller_internal.h"

#define SMOOTH_US     200e3
#define STEP_US_MIN   0.5 /* the clock's doubt */
#define OUTLIER       1.5 /* a measured time counts as at most so much of what was known */
#define OUTLIER_FIRST 4.0
#define DOUBT         2.0
#define MEASURED_US   (5 * USEC_PER_S) /* how long the cost of a level that rests is known */
#define AT_LEAST      1.25             /* a ratio so near the least that a level can do */

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

static const struct plan plans[] = {
    [CODEC_NONE] = {zlib_traits, 1, 0, 0},
    [CODEC_ZLIB] = {zlib_traits, ARRAY_LEN(zlib_traits), 1, 6},
    [CODEC_ZSTD] = {zstd_traits, ARRAY_LEN(zstd_traits), 2, 4},
    [CODEC_GZIP] = {zlib_traits, ARRAY_LEN(zlib_traits), 1, 6},
};

const struct plan *controller_plan(enum codec codec)
{
    return &plans[codec];
}

const struct trait *controller_trait(const struct controller *c, unsigned i)
{
    return &plans[c->codec].traits[i];
}

/* -- the data -- */

/* log of the ratio at a level, of data whose level 1 has exp(h), h <= 0. What is alike in all
 * data fades where there is nothing to compress. */
#define SHIFT_FULL 0.5

double controller_ratio(const struct controller *c, unsigned i, double data)
{
    const struct trait *t = controller_trait(c, i);
    double h = log(data);
    return fmax(exp(t->power * h + t->shift * fmin(1, -h / SHIFT_FULL)), t->least);
}

/* The inverse: what level 1 would have made of it. */
static double data_from(const struct controller *c, unsigned i, double ratio)
{
    const struct trait *t = controller_trait(c, i);
    double y = log(fmin(fmax(ratio, 1e-5), 1)), h = y / (t->power - t->shift / SHIFT_FULL);
    if (h < -SHIFT_FULL)
        h = (y - t->shift) / t->power;
    return exp(fmin(h, 0));
}

void controller_see_data(struct controller *c, usec_t now, unsigned i, double in, double out)
{
    struct controller_inner *n = &c->inner;
    if (controller_trait(c, i)->power <= 0) /* stored: tells nothing */
        return;
    if (out / in < controller_trait(c, i)->least * AT_LEAST &&
        controller_ratio(c, i, n->data) <= controller_trait(c, i)->least)
        return; /* as was thought: how much less it might be does not show */
    double data = data_from(c, i, out / in), age = (double)(now - n->data_at);
    double weight = fmax(in / (in + SMOOTH_BYTES), age / (age + SMOOTH_US));
    n->data = n->data_at == 0 ? data : n->data + weight * (data - n->data);
    n->data_at = now;
}

/* -- the CPU -- */

static double prior_ns(const struct controller *c, unsigned i)
{
    const struct trait *t = controller_trait(c, i);
    return c->inner.data > INCOMPRESSIBLE ? t->ns_noise : t->ns;
}

/* Measured lately, on data as it is now. */
bool controller_is_measured(const struct controller *c, unsigned i, usec_t now)
{
    const struct controller_level *l = &c->levels[i];
    return l->steps > 0 && now - l->measured_at < MEASURED_US &&
           fabs(log(l->data / c->inner.data)) < DATA_CHANGE;
}

double controller_ns(const struct controller *c, unsigned i, usec_t now)
{
    const struct controller_level *base = &c->levels[c->inner.current];
    if (controller_is_measured(c, i, now))
        return c->levels[i].ns_per_byte;
    double scale = base->steps > 0 ? base->ns_per_byte / prior_ns(c, c->inner.current) : 1;
    return prior_ns(c, i) * scale;
}

/* One step that took so much longer than was thought may have had to share the CPU: it is not
 * believed until a second one says so, too, or the level would be avoided for seconds. */
void controller_see_cost(struct controller *c, usec_t now, unsigned i, double in,
                         double took_us)
{
    struct controller_level *l = &c->levels[i];
    bool is_known = controller_is_measured(c, i, now);
    double was = controller_ns(c, i, now), ns = fmax(took_us, STEP_US_MIN) * 1e3 / in;
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
