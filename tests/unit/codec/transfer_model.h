/* A transfer that compresses, as a model: source, compressor, queue, link, acknowledgements.
 * Its clock is its own, its noise has a seed: each run is the same.
 *
 * While a step is compressed the link drains what was queued. A step's output is queued when
 * what is unsent has fallen below the mark, as a socket with TCP_NOTSENT_LOWAT has it. What
 * left is acknowledged a round trip later, in lumps. The rate of the link begins as TCP's slow
 * start does.
 */
#pragma once
#include <math.h>

#include "codec/controller.h"
#include "codec_data.h"
#include "level_costs.h"

#define MODEL_EVENTS 8192 /* what left when, for a round trip */

struct phase {
    const struct data_kind *data;
    double until_s; /* of a transfer's time */
};

struct path {
    double link_bytes_per_s, rtt_us, source_bytes_per_s; /* source 0: at once */
    double slowness;                                     /* of the CPU: 1 is the table's */
    bool has_kernel_rate, is_noisy;
    enum codec codec;
};

struct transfer {
    const struct path *path;
    uint64_t seed;
    double now_us, queued, drained;

    struct {
        double at_us, drained;
    } left[MODEL_EVENTS];

    unsigned first_left, left_count;

    struct {
        double put, in; /* up to the end of a step */
    } steps[MODEL_EVENTS];

    unsigned first_step, step_count;
    double put, in, gone_put, gone_in;
    struct controller controller;
    int fixed_level;
    unsigned switches;
};

#define MODEL_AUTO (-100)

static inline double link_rate(const struct transfer *t)
{
    double slow_start =
        14600 * exp2(fmin(t->now_us / t->path->rtt_us, 40)) * 1e6 / t->path->rtt_us;
    return fmin(t->path->link_bytes_per_s, slow_start);
}

/* Time passes, in pieces in which the link's rate is nearly one. */
static inline void pass(struct transfer *t, double us)
{
    while (us > 1e-6) {
        double piece = fmin(us, fmax(t->path->rtt_us / 4, 50));
        double out = fmin(t->queued, link_rate(t) * piece / 1e6);
        t->queued -= out;
        t->drained += out;
        t->now_us += piece;
        us -= piece;
        unsigned at = (t->first_left + t->left_count) % MODEL_EVENTS;
        t->left[at].at_us = t->now_us;
        t->left[at].drained = t->drained;
        if (t->left_count < MODEL_EVENTS)
            t->left_count++;
        else
            t->first_left = (t->first_left + 1) % MODEL_EVENTS;
    }
}

static inline double acked(struct transfer *t)
{
    double limit = t->now_us - t->path->rtt_us, bytes = 0;
    while (t->left_count > 1 && t->left[(t->first_left + 1) % MODEL_EVENTS].at_us <= limit) {
        t->first_left = (t->first_left + 1) % MODEL_EVENTS;
        t->left_count--;
    }
    if (t->left_count > 0 && t->left[t->first_left].at_us <= limit)
        bytes = t->left[t->first_left].drained;
    if (bytes + 1e-6 > t->drained) /* delayed acknowledgements end soon */
        return bytes;
    double lump = fmin(fmax(t->path->link_bytes_per_s / 1000, 2896), 65536);
    return floor(bytes / lump) * lump;
}

/* Of the input, what has left. */
static inline double delivered(struct transfer *t)
{
    double put = 0, in = 0;
    while (t->step_count > 0 && t->steps[t->first_step].put <= t->drained + 1e-6) {
        put = t->steps[t->first_step].put;
        in = t->steps[t->first_step].in;
        t->first_step = (t->first_step + 1) % MODEL_EVENTS;
        t->step_count--;
    }
    t->gone_put = put > 0 ? put : t->gone_put;
    t->gone_in = in > 0 ? in : t->gone_in;
    if (t->step_count == 0)
        return t->gone_in;
    double share = (t->drained - t->gone_put) / (t->steps[t->first_step].put - t->gone_put);
    return t->gone_in + share * (t->steps[t->first_step].in - t->gone_in);
}

static inline double noise(struct transfer *t)
{
    if (!t->path->is_noisy)
        return 1;
    if (dice_below(&t->seed, 50) == 0)
        return 10; /* somebody else had the CPU */
    return 0.9 + 0.2 * (double)dice_below(&t->seed, 1001) / 1000;
}

static inline double variety(double step)
{
    uint64_t seed = (uint64_t)step * 1000003 + 77;
    (void)dice(&seed);
    return 0.85 + 0.3 * (double)dice_below(&seed, 1001) / 1000;
}

static inline void drain_below(struct transfer *t, double mark)
{
    while (t->queued >= mark) {
        double us = (t->queued - mark) * 1e6 / link_rate(t) + 1;
        pass(t, fmin(us, t->path->rtt_us));
    }
}

static inline const struct level_cost *cost_of(const struct data_kind *d, enum codec codec,
                                               int level)
{
    const struct level_cost *c = codec == CODEC_ZLIB ? d->zlib : d->zstd;
    while (c->level != level)
        c++;
    return c;
}

static inline void model_step(struct transfer *t, const struct data_kind *data)
{
    const struct path *p = t->path;
    const double in = CODEC_STEP_BYTES;
    struct controller *c = &t->controller;
    usec_t now = (usec_t)t->now_us;
    int level = t->fixed_level, before = c->last.level;
    if (p->source_bytes_per_s > 0) {
        double wait = in * 1e6 / p->source_bytes_per_s;
        pass(t, wait);
        controller_source(c, (usec_t)t->now_us, (size_t)in, (usec_t)wait);
    }
    now = (usec_t)t->now_us;
    controller_sink(c, now, (uint64_t)acked(t), p->has_kernel_rate ? (uint64_t)link_rate(t) : 0,
                    (uint64_t)t->queued);
    if (t->fixed_level == MODEL_AUTO) {
        controller_decide(c, now, &level);
        t->switches += c->last.level != before;
    }
    const struct level_cost *cost = cost_of(data, p->codec, level);
    double took = cost->ns * p->slowness * in / 1e3 * noise(t), ratio = cost->ratio;
    if (p->is_noisy && ratio < 0.9) /* no two files are alike, but a file is for all levels */
        ratio *= variety(t->in / CODEC_STEP_BYTES);
    pass(t, took);
    controller_step(c, (usec_t)t->now_us, level, (size_t)in, (size_t)(in * ratio),
                    (usec_t)took);
    drain_below(t, (double)controller_unsent_max(c));
    t->queued += in * ratio;
    t->put += in * ratio;
    t->in += in;
    unsigned at = (t->first_step + t->step_count++) % MODEL_EVENTS;
    t->steps[at].put = t->put;
    t->steps[at].in = t->in;
    (void)delivered(t);
}

/* Input each second, over the time of all phases, at a level or MODEL_AUTO. What is still
 * queued is of the last step's data. */
static inline double model_run(struct transfer *t, const struct path *p,
                               const struct phase *phases, unsigned count, int level)
{
    *t = (struct transfer){.path = p, .seed = 88172645463325252u, .fixed_level = level};
    controller_init(&t->controller, p->codec, 0);
    controller_round_trip(&t->controller, (usec_t)p->rtt_us);
    for (unsigned i = 0; i < count; i++)
        while (t->now_us < phases[i].until_s * 1e6)
            model_step(t, phases[i].data);
    return delivered(t) * 1e6 / t->now_us;
}
