/* A decision in words. */
#include <stdio.h>

#include "codec/controller.h"

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
