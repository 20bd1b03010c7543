/* The controller that picks the level of compression by measuring (DESIGN 3.7).
 *
 * Pure: it is fed with what was measured and with the time, and asked now and then. It knows
 *
 *     how fast each level eats input on this CPU, and what ratio it gives to this data now
 *         (controller_step(), of each step that ran; levels that did not run for long are
 *         estimated from the others, and tried with one step when that may pay),
 *     how fast the sink drains: what the kernel says was acknowledged, never the time of a
 *         write (controller_sink()),
 *     how fast the source delivers (controller_source()): nobody waits for better compression
 *         than the source needs.
 *
 * A level's rate is the least of what the CPU compresses, of what the sink takes divided by the
 * ratio, and of the source; the best wins, by hysteresis; of equals the one that costs less
 * CPU. First decision after CONTROLLER_FIRST_BYTES or CONTROLLER_FIRST_US, then each
 * CONTROLLER_EVERY_US.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "codec/codec.h"

#define CONTROLLER_FIRST_BYTES (32 * 1024)
#define CONTROLLER_FIRST_US    (100 * USEC_PER_MS)
#define CONTROLLER_EVERY_US    (250 * USEC_PER_MS)
#define CONTROLLER_LEVELS_MAX  8

/* Why a level was taken, with the figures it was taken by; for logs and --explain. */
enum controller_limit {
    CONTROLLER_UNKNOWN, /* nothing is known yet */
    CONTROLLER_SINK,    /* the link, or its reader */
    CONTROLLER_CPU,
    CONTROLLER_SOURCE
};

struct controller_decision {
    usec_t at;
    int level;                      /* of the codec; 0: stored */
    enum controller_limit limit;    /* what this level is held back by */
    uint64_t sink_bytes_per_s;      /* as it drains now */
    uint64_t cpu_bytes_per_s;       /* of input at that level */
    uint64_t source_bytes_per_s;    /* 0: never waited for */
    uint64_t expect_bytes_per_s;    /* of input */
    uint16_t ratio_per_mille;       /* output to input at that level */
    int runner_up;                  /* the next best level, and */
    uint64_t runner_up_bytes_per_s; /* what it was expected to do */
};

struct controller_level {
    int level;
    /* Smoothed; 0 steps: estimated only. */
    uint32_t steps;
    usec_t measured_at;
    double ns_per_byte, ratio;
    double doubted_ns; /* 0: none; of a first step that was slower than can be believed */
    double data;       /* what the data was like then: level 1's ratio */
};

/* A plain object of its owner; copy it as you like. */
struct controller {
    enum codec codec;
    unsigned level_count;
    struct controller_level levels[CONTROLLER_LEVELS_MAX];
    struct controller_decision last;
    usec_t started_at;

    /* the rest is of controller*.c alone */
    struct controller_inner {
        usec_t now; /* the latest that was told */
        /* the sink: a window of its being busy, and one of any time */
        double sink_bytes_per_s;
        uint64_t kernel_bytes_per_s, acked_bytes, unsent_bytes, busy_acked, any_acked,
            put_bytes; /* came out of steps since the last word of the sink */
        usec_t sampled_at, busy_us, any_us, idle_us, busy_at, trust_us, rtt_us, heard_from;
        bool is_sampled, has_busy, is_optimist;
        /* the source */
        double source_bytes_per_s;
        uint64_t source_bytes;
        usec_t source_at, waited_us;
        /* the data: level 1's ratio */
        double data, data_of_last;
        usec_t data_at;
        uint64_t in_bytes;
        /* levels, as indexes */
        unsigned current, trying, favourite;
        usec_t tried_us;
        bool is_decided, is_trying;
    } inner;
};

void controller_init(struct controller *, enum codec, usec_t now);
/* One step ran at `level`: wall time of the compressor alone. */
void controller_step(struct controller *, usec_t now, int level, size_t in_bytes,
                     size_t out_bytes, usec_t took_us);
/* What stream_info() says of the sink. rate 0: the kernel knows none. */
void controller_sink(struct controller *, usec_t now, uint64_t acked_bytes,
                     uint64_t rate_bytes_per_s, uint64_t unsent_bytes);
/* The sink's round trip, as far as it is known: what it acknowledges tells of so long ago. */
void controller_round_trip(struct controller *, usec_t rtt_us);
/* So many bytes of the source were waited for so long. */
void controller_source(struct controller *, usec_t now, size_t bytes, usec_t waited_us);
/* The level of the next step. true: a decision was made now (controller.last). */
bool controller_decide(struct controller *, usec_t now, int *ret_level);
/* How many bytes may be queued and unsent at this drain rate: a quarter of a second, between 16
 * KB and 512 KB. */
size_t controller_unsent_max(const struct controller *);
/* "level 6, limited by the link: 494 KB/s drain, ratio 0.29, CPU 41 MB/s; next best 1 at ..."
 */
void controller_explain(const struct controller_decision *, size_t cap, char *ret);
