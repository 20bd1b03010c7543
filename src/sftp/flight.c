#include "sftp/flight.h"

void sftp_flight_init(struct sftp_flight *f, uint64_t least_bytes, uint64_t max_bytes,
                      usec_t now)
{
    uint64_t max = max_bytes != 0 ? max_bytes : SFTP_FLIGHT_MAX;
    uint64_t first = least_bytes < SFTP_FLIGHT_FIRST / 2 ? SFTP_FLIGHT_FIRST : 2 * least_bytes;
    *f = (struct sftp_flight){
        .limit_bytes = first < max ? first : max,
        .max_bytes = max,
        .round_began_at = now,
    };
}

/* A round that was disturbed costs a round: the next one is held against the same best. */
static void end_round(struct sftp_flight *f, usec_t now)
{
    uint64_t took_us = now > f->round_began_at ? (uint64_t)(now - f->round_began_at) : 1;
    uint64_t rate = f->round_bytes * USEC_PER_S / took_us;
    if (rate > f->best_bytes_per_s + f->best_bytes_per_s / 8) {
        f->best_bytes_per_s = rate;
        f->limit_bytes = f->limit_bytes < f->max_bytes / 2 ? f->limit_bytes * 2 : f->max_bytes;
    }
    f->round_bytes = 0;
    f->round_began_at = now;
}

void sftp_flight_moved(struct sftp_flight *f, uint64_t bytes, usec_t now)
{
    f->round_bytes += bytes;
    if (f->round_bytes >= f->limit_bytes)
        end_round(f, now);
}
