/* What ferryd is to reach, and whether it does: a table of goals, decided from results alone.
 *
 * A goal whose row or peer is not in the results, or whose number of clients was not reached,
 * is left out: it is never met by something else. A peer that failed is left out too; a row in
 * which ferryd failed is missed.
 */
#pragma once
#include "bench/report/results.h"

/* At least so much: */
enum goal_kind {
    GOAL_PEERS,        /* the ratio to each peer; the worst one decides */
    GOAL_FLOOR,        /* the ratio to the floor */
    GOAL_CPU_PEERS,    /* the ratio of the servers' CPU, to each peer */
    GOAL_CPU_BEYOND,   /* the same beyond a hash: what the floor of row "login_first" took */
    GOAL_CPU_OTHER,    /* CPU in another row of ferryd by that in this one */
    GOAL_MEMORY_PEERS, /* a peer's memory by ferryd's */
    /* At most so much: */
    GOAL_MEMORY,   /* in bytes */
    GOAL_SLOPE,    /* in bytes a session */
    GOAL_NOOP_P99, /* in microseconds */
    GOAL_VALUE,    /* the row's value, in its unit */
};

#define GOALS_MAX 64

struct goal_result {
    const char *row;
    const char *what; /* "at least 0.95 of every peer" */
    const char *peer; /* who decided it; NULL: nobody. Belongs to the results */
    enum goal_kind kind;
    bool is_known;  /* false: ferryd failed, and there is no value */
    bool is_by_cpu; /* the client was the limit: the ratio is of the servers' CPU */
    bool has_interval;
    double value; /* what was measured: a ratio, bytes, microseconds, or of the row's unit */
    double target;
    struct statistics_interval interval; /* of the value, that decided */
    enum bench_verdict verdict;
};

/* Whether the value is to be at least the target (a ratio), not at most. */
bool goal_is_ratio(enum goal_kind);
/* How far the value is on the right side of the target, by the target: 0.1 is 10 % better than
 * asked for, below 0: so much is missing. */
double goal_margin(const struct goal_result *);

/* The goals whose rows are in the results, at most GOALS_MAX, in the order of the table.
 * Returns how many. */
unsigned goals_decide(const struct bench_results *, struct goal_result ret[GOALS_MAX]);

/* The least that the ratio to this server is to be; 0.95, or 0.90 of a floor, if no goal says.
 */
double goals_target(const char *row, const struct bench_cell *);
