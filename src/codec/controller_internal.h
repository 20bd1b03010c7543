/* What controller*.c share: what is known of levels before they ran, what is known of the data
 * and of the CPU (controller_model.c), and of the sink (controller_sink.c). */
#pragma once
#include "codec/controller.h"

/* Bytes a second: more is no measurement, and what is computed of it stays finite. */
#define CONTROLLER_RATE_MAX 1e12

#define SMOOTH_BYTES   (192.0 * 1024)
#define DATA_CHANGE    0.35 /* of the logarithm of level 1's ratio */
#define INCOMPRESSIBLE 0.9
#define TRUST_US       (10 * USEC_PER_MS) /* of the sink's being idle; see controller_sink.c */

/* What is known of levels before they ran, measured on texts, sources, programs and pictures
 * (docs/adr). Costs matter relative to each other: those of this machine are scaled by what did
 * run here. `power` and `shift` make level 1's ratio into this one's: between levels, the
 * relation hardly depends on the data. No data becomes smaller than `least`. */
struct trait {
    int level;
    double ns, ns_noise; /* for each byte; of data that cannot be compressed */
    double power, shift, least;
};

/* What the controller does with a codec. */
struct plan {
    const struct trait *traits;
    unsigned count;
    unsigned light, first; /* indexes: level 1, and what the first step is tried with */
};

const struct plan *controller_plan(enum codec);
const struct trait *controller_trait(const struct controller *, unsigned i);

/* Levels by index. The ratio of data whose level 1 has the ratio `data`. */
double controller_ratio(const struct controller *, unsigned i, double data);
/* Nanoseconds for each byte: as measured lately, or as is to be expected. */
double controller_ns(const struct controller *, unsigned i, usec_t now);
/* Lately, on data as it is now. */
bool controller_is_measured(const struct controller *, unsigned i, usec_t now);
/* A step: what it made of the data, then what it cost. */
void controller_see_data(struct controller *, usec_t now, unsigned i, double in, double out);
void controller_see_cost(struct controller *, usec_t now, unsigned i, double in,
                         double took_us);

/* Bytes a second; 0: nothing is known yet. *ret_is_optimist: it is a hope. */
double controller_sink_rate(const struct controller *, bool *ret_is_optimist);

/* Time does not go back: what is measured elsewhere may come late. */
usec_t controller_forward(struct controller *, usec_t now);
/* At the start all is short: a step of time is an eighth of what has passed. */
usec_t controller_at_most(usec_t us, usec_t age);
