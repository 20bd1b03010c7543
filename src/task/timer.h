/* Timers of one worker: an intrusive pairing heap, so that arming one needs no memory and
 * cannot fail. Private to task/. */
#pragma once
#include <stdbool.h>

#include "base/clock.h"

struct timer {
    usec_t at;
    void (*fn)(struct timer *);
    struct timer *child, *next, *prev; /* prev: the parent if this is its first child */
    bool armed;
};

struct timers {
    struct timer *top;
};

void timer_arm(struct timers *, struct timer *, usec_t at, void (*fn)(struct timer *));
void timer_disarm(struct timers *, struct timer *); /* fine if it is not armed */
usec_t timers_next(const struct timers *);          /* USEC_NEVER: none */
/* Disarms and calls those that are due; a function may arm timers again. Returns how many. */
unsigned timers_fire(struct timers *, usec_t now);
