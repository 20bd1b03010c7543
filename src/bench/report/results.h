/* What a benchmark found out: a row per thing measured, and in it a cell per server. */
#pragma once
#include <stdbool.h>

#include "base/clock.h"
#include "bench/peers/recipe.h"
#include "bench/report/statistics.h"

#define BENCH_ROWS_MAX     48
#define BENCH_TARGETS_MAX  10
#define BENCH_LABEL_MAX    96
#define BENCH_ERROR_MAX    256
#define BENCH_NAME_MAX     32
#define BENCH_SAMPLES_MAX  41
#define BENCH_INTERVAL_MIN 5 /* samples or pairs: fewer tell no interval */
#define BENCH_MB_BYTES     (1024.0 * 1024.0)
#define BENCH_LIMITED_AT   0.95 /* of a core: then the client may be what was measured */

enum bench_unit {
    BENCH_SECS,
    BENCH_MB_PER_S, /* of BENCH_MB_BYTES, as ftpbench prints */
    BENCH_MS,
    BENCH_PER_S,
    BENCH_MB,    /* of memory */
    BENCH_TIMES, /* as much as something else */
};

/* Speeds are better when they are more, all else when it is less. */
bool bench_unit_is_speed(enum bench_unit);
const char *bench_unit_name(enum bench_unit); /* "MB/sec", "secs" */

enum bench_verdict { BENCH_NO_VERDICT, BENCH_MET, BENCH_MISSED, BENCH_UNDECIDED };

/* Of NOOPs that another session sent meanwhile. */
struct bench_latency {
    unsigned count; /* 0: there is nothing to tell */
    double p50_us, p95_us, p99_us;
};

/* The server measured first (ferryd) beside this one, sample by sample: above 1, ferryd is
 * better, whatever the unit. */
struct bench_ratio {
    bool is_known, has_interval;
    double value; /* the median */
    struct statistics_interval interval;
    unsigned pairs;
};

struct bench_cell {
    char target[BENCH_NAME_MAX];
    bool is_floor;
    char note[BENCH_LABEL_MAX];  /* what must be known to compare it; may be empty */
    char error[BENCH_ERROR_MAX]; /* not empty: it failed, and the value means nothing */

    double value; /* the median of the samples */
    double samples[BENCH_SAMPLES_MAX];
    double cpu_samples[BENCH_SAMPLES_MAX]; /* the server's, in seconds per byte, or per
                                              operation where no bytes are moved */
    unsigned sample_count;
    bool has_interval;
    struct statistics_interval interval; /* 90 % of the median */

    unsigned operations; /* files, logins or listings, over all samples */
    uint64_t bytes;      /* of whole files, as the server confirmed them */
    usec_t wall_us;      /* all of it, also what lies between samples */

    usec_t client_cpu_us;
    usec_t client_busiest_us; /* of one of the client's processes; 0: it is one */
    bool has_server_cpu, has_memory, has_slope;
    usec_t server_cpu_us;
    uint64_t memory_bytes;         /* Private_Dirty of the server's processes */
    double slope_bytes;            /* of that, a further session costs */
    unsigned slope_from, slope_to; /* counted between so many sessions */
    unsigned held;                 /* sessions there were; 0: as many as the row says */

    struct bench_latency noop;

    struct bench_ratio ratio;     /* of the values; unknown for the first server */
    struct bench_ratio cpu_ratio; /* of the server's CPU per byte or operation */
};

struct bench_row {
    const char *name; /* for programs */
    char label[BENCH_LABEL_MAX];
    enum bench_unit unit;
    unsigned clients; /* that did the same at once; 1: a row of one transfer after another */
    bool is_reduced;  /* less was done than the name says, and its goals are not decided */
    struct bench_cell cells[BENCH_TARGETS_MAX];
    unsigned count;
};

/* A server of the run. */
struct bench_server {
    char name[BENCH_NAME_MAX];
    char version[64];
    char where[BENCH_LABEL_MAX]; /* "127.0.0.1 port 2121" of a URL, "/usr" or a cache's path */
    char error[BENCH_ERROR_MAX]; /* not empty: it takes no part, and why */
    char *settings[RECIPE_VARIANTS]; /* as it got them; NULL: not run so, or not ours. They
                                        belong to the results */
    bool has_memory_start;
    uint64_t memory_start_bytes;
};

struct bench_results {
    struct bench_row *rows; /* BENCH_ROWS_MAX */
    unsigned count;
    struct bench_server servers[BENCH_TARGETS_MAX];
    unsigned server_count;
    int64_t began_at_us; /* wall clock */
    usec_t took_us;
    uint64_t stored_bytes, retrieved_bytes; /* by all sessions, untimed ones included */
    bool is_complete;
    char error[BENCH_ERROR_MAX];  /* why it ended early, if no row says so */
    char notice[BENCH_ERROR_MAX]; /* what is missing in the rows, or left on the server */
};

/* Of a core, over the row: the client's busiest process, since each may be the limit. */
double bench_cell_client_share(const struct bench_cell *);
bool bench_cell_is_client_limited(const struct bench_cell *);
bool bench_cell_has_failed(const struct bench_cell *);

/* Median and interval of a cell's samples, and its ratios to the first one's, from the samples
 * that stand there. */
void bench_cell_finish(struct bench_cell *, enum bench_unit, const struct bench_cell *first);
/* Whether the row's first cell is of the first server: if that takes no part, nobody's ratio is
 * ferryd's. */
bool bench_row_is_ours(const struct bench_results *, const struct bench_row *);
/* NULL: there is none. */
const struct bench_row *bench_results_row(const struct bench_results *, const char *name);
const struct bench_cell *bench_row_cell(const struct bench_row *, const char *target);

/* An interval at or above the target: met; below it: missed; around it or none: undecided. A
 * ratio that is not known has no verdict. */
enum bench_verdict bench_verdict_of(const struct bench_ratio *, double target);
const char *bench_verdict_name(enum bench_verdict); /* "met", "missed", "undecided", "" */

/* Where the client was the limit with both servers, their speeds say nothing: the CPU decides.
 * Memory, delays and multiples are no speeds, and a busy client does not judge them. */
bool bench_cell_is_judged_by_cpu(const struct bench_cell *, enum bench_unit,
                                 const struct bench_cell *first);
const struct bench_ratio *bench_cell_decider(const struct bench_cell *, enum bench_unit,
                                             const struct bench_cell *first);
/* Of the ratio that decides. Memory has no interval, and a plain comparison does. */
enum bench_verdict bench_cell_verdict(const struct bench_cell *, enum bench_unit,
                                      const struct bench_cell *first, double target);
