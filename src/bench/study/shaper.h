/* A link of a given rate where no name space can be had: the relay of the ssh suite, in a
 * process of its own, before one port of one server. What opens further connections by itself,
 * as FTP does for data, goes past it. Blocking. */
#pragma once
#include "base/clock.h"
#include "io/addr.h"

struct shaper_path {
    uint64_t bytes_per_s; /* 0: none */
    usec_t round_trip_us;
};

struct shaper {
    struct addr to;
    struct shaper_path path; /* of rate 0: none runs */
    unsigned pid;
    int lifeline; /* it ends when this does */
    struct addr addr;
    double measured; /* its self-test: bytes per second */
    usec_t measured_trip_us;
};

/* Lets one run for this server and path, in place of any other. -errno; -ECHILD: it said
 * nothing. */
MUST_CHECK int shaper_use(struct shaper *, const struct addr *to, const struct shaper_path *);
void shaper_stop(struct shaper *);

/* The process: tests itself, says "ADDRESS BYTES_PER_S ROUND_TRIP_US" on standard output, and
 * relays until its standard input ends. 0; -errno. */
MUST_CHECK int shaper_run(const struct addr *to, const struct shaper_path *);
