/* What ferryd is to reach, and whether it does: a suite's table of goals, decided from results
 * alone.
 *
 * A goal whose row or peer is not in the results, or that asks for more clients than the row
 * was to have, is left out: it is never met by something else. One whose clients could not be
 * held here is undecided. A peer that failed is left out too; a row in which ferryd failed is
 * missed.
 */
#pragma once
#include "bench/report/results.h"

/* At least so much: */
enum goal_kind {
    GOAL_PEERS,        /* the ratio to each peer; the worst one decides */
    GOAL_FLOOR,        /* the ratio to the floor */
    GOAL_CPU_PEERS,    /* the ratio of the servers' CPU, to each peer */
    GOAL_CPU_BEYOND,   /* the same beyond a hash: what the floor of another row took */
    GOAL_CPU_OTHER,    /* CPU in another row of ferryd by that in this one */
    GOAL_MEMORY_PEERS, /* a peer's memory by ferryd's */
    GOAL_SLOPE_PEERS,  /* the same of one session more */
    /* At most so much: */
    GOAL_MEMORY,   /* in bytes */
    GOAL_SLOPE,    /* in bytes a session */
    GOAL_NOOP_P99, /* in microseconds */
    GOAL_VALUE,    /* the row's value, in its unit */
    GOAL_ONCE,     /* the same, of a row that has one sample */
    GOAL_CPU,      /* of the server, in seconds per GB */
};

#define GOALS_MAX 64

struct goal {
    const char *row;
    enum goal_kind kind;
    unsigned clients_min; /* a smaller crowd is another thing */
    double target;
    const char *what;  /* at most 32 columns */
    const char *peer;  /* NULL: every one */
    const char *other; /* GOAL_CPU_BEYOND, GOAL_CPU_OTHER: the row */
};

struct goal_table {
    const struct goal *goals;
    size_t count; /* at most GOALS_MAX */
};

struct goal_result {
    const char *row;
    const char *what; /* "at least 0.95 of every peer" */
    const char *peer; /* who decided it; NULL: nobody. Belongs to the results */
    enum goal_kind kind;
    bool is_known;  /* false: ferryd failed (missed), or it cannot be told (undecided) */
    unsigned held;  /* not 0: so few sessions could be held, and nothing is decided */
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

/* The goals whose rows are in the results, in the order of the table. Returns how many. */
unsigned goals_decide(const struct goal_table *, const struct bench_results *,
                      struct goal_result ret[GOALS_MAX]);

/* The least that the ratio to this server is to be, 0.95 of a peer if no goal says. False: it
 * is a floor that no goal names, and nothing is missed. */
bool goals_target(const struct goal_table *, const char *row, const struct bench_cell *,
                  double *ret);
/* Of the row's cell beside its first, by that target. */
enum bench_verdict goals_verdict(const struct goal_table *, const struct bench_row *,
                                 const struct bench_cell *);
