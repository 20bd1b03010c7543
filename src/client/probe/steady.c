#include "client/probe/steady.h"

#define GROWTH 1.125

void steady_init(struct steady *s, usec_t now)
{
    s->count = s->skipped = 0;
    s->every = 1;
    s->began_at = now;
    s->last = (struct steady_sample){.at = now};
}

static void thin_out(struct steady *s)
{
    unsigned kept = 0;
    for (unsigned i = 1; i < s->count; i += 2)
        s->samples[kept++] = s->samples[i];
    s->count = kept;
    s->every *= 2;
}

/* Only steps are kept: between two of them there is nothing to be known. */
void steady_add(struct steady *s, const struct steady_sample *sample)
{
    bool is_step = sample->bytes > s->last.bytes;
    s->last = *sample;
    if (!is_step || ++s->skipped < s->every)
        return;
    s->skipped = 0;
    if (s->count == STEADY_SAMPLES_MAX)
        thin_out(s);
    s->samples[s->count++] = *sample;
}

/* The first step at or after that time; count if there is none. */
static unsigned step_at(const struct steady *s, usec_t at)
{
    unsigned i = 0;
    while (i < s->count && s->samples[i].at < at)
        i++;
    return i;
}

static double rate_between(const struct steady *s, unsigned from, unsigned to)
{
    if (from >= s->count || to >= s->count || s->samples[to].at <= s->samples[from].at)
        return 0;
    return (double)(s->samples[to].bytes - s->samples[from].bytes) * (double)USEC_PER_S /
           (double)(s->samples[to].at - s->samples[from].at);
}

bool steady_is_settled(const struct steady *s)
{
    if (s->count == 0)
        return false;
    usec_t all = s->last.at - s->began_at;
    unsigned half = step_at(s, s->began_at + all / 2);
    unsigned late = step_at(s, s->began_at + all / 4 * 3);
    double before = rate_between(s, half, late), after = rate_between(s, late, s->count - 1);
    return before > 0 && after > 0 && after <= before * GROWTH;
}

static double share(usec_t from, usec_t to, usec_t of)
{
    return to > from ? (double)(to - from) / (double)of : 0;
}

void steady_rate(const struct steady *s, struct steady_rate *ret)
{
    *ret = (struct steady_rate){0};
    if (s->count < 2)
        return;
    unsigned from = step_at(s, s->began_at + (s->last.at - s->began_at) / 2);
    if (from + 1 >= s->count)
        from = s->count >= 3 ? s->count / 2 : 0;
    const struct steady_sample *a = &s->samples[from], *b = &s->samples[s->count - 1];
    if (b->at <= a->at || b->bytes <= a->bytes)
        return;
    *ret = (struct steady_rate){
        .bytes_per_s = rate_between(s, from, s->count - 1),
        .window_us = b->at - a->at,
        .window_bytes = b->bytes - a->bytes,
        .before_bytes = a->bytes,
        .before_at = a->at,
        .cpu = share(a->cpu_us, b->cpu_us, b->at - a->at),
        .busy = share(a->busy_us, b->busy_us, b->at - a->at),
        .full = share(a->full_us, b->full_us, b->at - a->at),
    };
}
