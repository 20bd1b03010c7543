/* How fast the sink drains: what the kernel says was acknowledged while there was something to
 * send. */
#include <math.h>

#include "base/attr.h"
#include "codec/controller_internal.h"

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
#define TRUST_US_MAX (8 * USEC_PER_S)
#define TRUST_GROWS  3
#define HOPE         8.0
#define HOPES_MAX    10.0
#define HOPE_MET     1.3

#define RTT_US_MAX USEC_PER_S /* what is waited for to hear of a change */

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

double controller_sink_rate(const struct controller *c, bool *ret_is_optimist)
{
    const struct controller_inner *n = &c->inner;
    double rate = n->sink_bytes_per_s, kernel = (double)n->kernel_bytes_per_s;
    *ret_is_optimist = n->idle_us > n->trust_us;
    if (!*ret_is_optimist)
        return n->has_busy ? fmin(rate, CONTROLLER_RATE_MAX) : 0;
    if (kernel > 0)
        return fmin(fmax(kernel, rate), CONTROLLER_RATE_MAX);
    double times = floor((double)n->idle_us / (double)n->trust_us);
    return fmin(rate * (n->has_busy ? HOPE : pow(HOPE, fmin(times, HOPES_MAX))),
                CONTROLLER_RATE_MAX);
}

void controller_sink(struct controller *c, usec_t now, uint64_t acked_bytes,
                     uint64_t rate_bytes_per_s, uint64_t unsent_bytes)
{
    struct controller_inner *n = &c->inner;
    now = controller_forward(c, now);
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
    if (n->any_us >= controller_at_most(BUSY_US, now - c->started_at))
        see_any(n);
}

void controller_round_trip(struct controller *c, usec_t rtt_us)
{
    c->inner.rtt_us = rtt_us < RTT_US_MAX ? rtt_us : RTT_US_MAX;
}

size_t controller_unsent_max(const struct controller *c)
{
    return (size_t)fmin(fmax(c->inner.sink_bytes_per_s / 4, 16 * 1024), 512 * 1024);
}
