/* How many bytes a transfer has asked for and not yet got. A path takes what its rate times its
 * round trip is, and neither is known: the limit doubles as long as that made the rate grow.
 * Pure. */
#pragma once
#include <stdint.h>

#include "base/clock.h"

#define SFTP_FLIGHT_FIRST (256 * 1024)
#define SFTP_FLIGHT_MAX   (16 * 1024 * 1024)

struct sftp_flight {
    uint64_t limit_bytes;
    uint64_t max_bytes;
    uint64_t best_bytes_per_s; /* of a round, which is limit_bytes long */
    uint64_t round_bytes;      /* of the one that runs */
    usec_t round_began_at;
};

/* least: what one request can be; max: 0: SFTP_FLIGHT_MAX. */
void sftp_flight_init(struct sftp_flight *, uint64_t least_bytes, uint64_t max_bytes,
                      usec_t now);
/* So much of what was asked for has come. */
void sftp_flight_moved(struct sftp_flight *, uint64_t bytes, usec_t now);
