/* Whose turn it is: the servers of a row take samples one after the other, and each round
 * begins with another, so that nobody always comes after the same one.
 *
 * Everybody gets `least` samples, unless they take longer than `most_us`. Then a server gets
 * further ones, up to `wanted`, until it has used its share of the row's time. The first
 * server, which all others are held against, goes on as long as any of them does: so each of
 * their samples has its pair.
 */
#pragma once
#include "bench/report/results.h"

struct turns_server {
    unsigned samples;
    usec_t spent_us;
    bool is_out; /* it failed: no further turn */
};

/* The caller sets the first group, the rest begins as 0. */
struct turns {
    unsigned count; /* of servers, at least 1 */
    unsigned wanted, least;
    usec_t share_us, most_us; /* of each; most_us is not below share_us */

    struct turns_server servers[BENCH_TARGETS_MAX];
    unsigned round, step;
};

/* The number of the server that is next; -1: the row is over. What its sample took is to be
 * told by turns_took() before it is asked again. */
int turns_next(struct turns *);
void turns_took(struct turns *, unsigned server, usec_t spent_us);
void turns_out(struct turns *, unsigned server);
