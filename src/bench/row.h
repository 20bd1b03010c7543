/* What a benchmark found out: a row per thing measured, and what belongs to all of them. */
#pragma once
#include <stdbool.h>

#include "base/clock.h"
#include "bench/statistics.h"

#define BENCH_ROWS_MAX    9
#define BENCH_LABEL_MAX   96
#define BENCH_ERROR_MAX   256
#define BENCH_SAMPLES_MAX 16
#define BENCH_LIMITED_AT  0.95 /* of a core: then the client may be what was measured */

enum bench_unit { BENCH_SECS, BENCH_MB_PER_S }; /* MB: 1,048,576 bytes, as ftpbench prints */

/* Of NOOPs that another session sent meanwhile. */
struct bench_latency {
    unsigned count; /* 0: there is nothing to tell */
    double p50_us, p95_us, p99_us;
};

struct bench_row {
    const char *name; /* for programs */
    char label[BENCH_LABEL_MAX];
    char error[BENCH_ERROR_MAX]; /* not empty: it failed, and the value means nothing */

    enum bench_unit unit;
    double value; /* the median of the samples, if there are any */
    double samples[BENCH_SAMPLES_MAX];
    unsigned sample_count;
    bool has_interval;
    struct statistics_interval interval; /* 90 % of the median */

    unsigned clients; /* that did the same at once; 1: a row of one transfer after another */
    unsigned files;
    uint64_t bytes; /* of whole files, as the server confirmed them */
    usec_t wall_us; /* all of it, also what lies between samples */

    usec_t client_cpu_us;
    bool has_server_cpu, has_memory, has_slope;
    usec_t server_cpu_us;
    uint64_t memory_bytes;         /* Private_Dirty of the server's processes */
    double slope_bytes;            /* of that, a further session costs */
    unsigned slope_from, slope_to; /* counted between so many sessions */

    struct bench_latency noop;
};

struct bench_results {
    struct bench_row rows[BENCH_ROWS_MAX];
    unsigned count;
    int64_t began_at_us; /* wall clock */
    bool has_memory_start;
    uint64_t memory_start_bytes;
    uint64_t stored_bytes, retrieved_bytes; /* by all sessions, untimed ones included */
    bool is_complete;
    char error[BENCH_ERROR_MAX];  /* why it ended early, if no row says so */
    char notice[BENCH_ERROR_MAX]; /* what is missing in the rows, or left on the server */
};

/* Of a core, over the row. */
double bench_row_client_share(const struct bench_row *);
