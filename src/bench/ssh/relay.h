/* A path with a round trip: a relay that hands each byte on half a round trip after it came.
 *
 * It ends TCP: each side talks to the relay's own kernel, whose acknowledgements come at once.
 * So TCP's windows are not measured, but those above it; and no byte is lost. Sockets here have
 * small buffers, since what lies in them would make the path look longer than it is: what is
 * under way lies in the relay, up to RELAY_HELD_MAX in each direction, which is more than any
 * window of ssh.
 *
 * With a rate, bytes leave one after the other as a wire of that rate would let them, each way
 * by itself; sockets and what is held are cut to RELAY_QUEUE_US of it, so that who sends is
 * held back as by a short queue. A rate is that of the bytes that are carried: there are no
 * headers.
 *
 * All of it on one worker.
 */
#pragma once
#include "io/addr.h"
#include "task/task.h"

#define RELAY_SOCKET_BYTES (256 * 1024)
#define RELAY_HELD_MAX     (64 * 1024 * 1024)

#define RELAY_QUEUE_US (50 * USEC_PER_MS)

struct relay;

struct relay_path {
    usec_t round_trip_us;
    uint64_t bytes_per_s; /* 0: as fast as it goes */
};

/* Listens on a free port of 127.0.0.1, and connects to `to` for each who comes. */
MUST_CHECK int relay_new(const struct addr *to, usec_t round_trip_us, struct relay **ret);
/* The same with a rate. */
MUST_CHECK int relay_new_shaped(const struct addr *to, const struct relay_path *,
                                struct relay **ret);
/* Ends what is under way. NULL is fine. */
PARKS struct relay *relay_free(struct relay *);
const struct addr *relay_addr(const struct relay *);

/* What the path is by itself, measured with an echo behind another relay of the same kind. */
struct relay_quality {
    usec_t round_trip_us; /* the median of a few, one byte each */
    double mb_per_s;      /* one way, with nothing to wait for */
};

PARKS MUST_CHECK int relay_test(usec_t round_trip_us, struct relay_quality *ret);
/* The same with a rate, by as much as goes through in two seconds. */
PARKS MUST_CHECK int relay_test_shaped(const struct relay_path *, struct relay_quality *ret);
