/* The benchmark under way: its servers, and the row that each of them is at. */
#pragma once
#include "bench/engine/meter.h"
#include "bench/ftp/load.h"
#include "bench/options/options.h"
#include "bench/peers/peer.h"
#include "bench/report/results.h"

/* Told from the loop while it runs; each may be NULL. */
struct bench_watcher {
    void (*began)(void *arg, const struct bench_results *); /* the servers are known */
    void (*ended)(void *arg, const struct bench_row *);     /* the row is complete */
    void (*tick)(void *arg, const char *label); /* now and then: what is under way */
    void *arg;
};

/* A server under measurement. */
struct target {
    struct bench_server *record; /* in the results; an error there: it takes no part */
    const struct recipe *recipe; /* NULL: it runs already, somewhere */
    struct peer peer;
    unsigned pid; /* 0: not known */
    struct load_settings load_settings;
    struct load load;
};

struct bench {
    const struct bench_options *options;
    const struct bench_watcher *watcher;
    struct bench_results *results;
    struct target targets[BENCH_TARGETS_MAX];
    unsigned target_count;
    struct load_source source;
    struct tls_context *tls; /* NULL: in clear */
    struct stage *stage;     /* NULL: the server runs already */
    bool has_variant;
    enum recipe_variant variant; /* of the servers that run */
    struct probe probe;
    struct pool *pool; /* for what blocks: /proc, starting servers, making files */
    const char *label; /* of what is under way */
    char progress[BENCH_LABEL_MAX + 96];
    usec_t idle_wait_us; /* before memory is read: buffers of what was before are given back */
};

struct row_kind;

/* A row under way on one server. */
struct run {
    struct bench *bench;
    const struct row_kind *kind;
    struct target *target;
    struct load *load;
    struct bench_row *row;
    struct bench_cell *cell;
    struct latencies latencies;
    /* its row's own */
    usec_t quiet_since;
    uint64_t memory_first;
};

/* One sample, as its row measured it. */
struct sample {
    double value;
    uint64_t bytes;
    unsigned operations;
};

/* Explains the failure in the cell, once; returns it. */
int run_fail(struct run *, const char *what, const struct ftp_client *, int result);

enum row_traits {
    ROW_PROBED = 1 << 0,     /* a NOOP beside it */
    ROW_WATCHED = 1 << 1,    /* the peak of memory during it */
    ROW_STAGED = 1 << 2,     /* only with servers of our own: it makes files, or takes long */
    ROW_THOUSANDS = 1 << 3,  /* of sessions: only for servers that need no process for each,
                                one after the other, since our descriptors are bounded */
    ROW_NO_FLOOR = 1 << 4,   /* the floor cannot do it */
    ROW_NEEDS_MLSD = 1 << 5, /* servers without it take no part */
    ROW_P99 = 1 << 6,        /* its value is that of the NOOPs */
    ROW_ONCE = 1 << 7,       /* one sample */
    ROW_NEEDS_PID = 1 << 8,  /* it is about memory */
    ROW_GROWTH = 1 << 9,     /* memory is what it has more than before the sample */
    ROW_HASHERS = 1 << 10,   /* servers that compare a password's plain text take no part */
    ROW_LOGIN = 1 << 11,     /* how the server checks a password matters, and is noted */
};

/* All but sample() may be NULL; they are tasks, and return 0 or a failure that the cell
 * explains. */
struct row_kind {
    const char *name;
    const char *label; /* '#': clients; '@': a file's size; '&': the window */
    enum bench_unit unit;
    unsigned kinds; /* 1u << enum bench_kind, of those it belongs to */
    unsigned traits;
    unsigned sessions; /* of the crowd, for rows that fix it; 0: as many as the options say */
    enum recipe_variant variant;
    PARKS int (*prepare)(struct run *); /* once a server */
    PARKS int (*before)(struct run *);  /* each sample, outside of its time */
    PARKS int (*sample)(struct run *, struct sample *ret);
    PARKS int (*after)(struct run *); /* likewise outside */
    /* once a server, when all have had their last sample, and then a while of silence */
    PARKS int (*conclude)(struct run *);
    PARKS void (*leave)(struct run *); /* once a server, whatever happened */
};

extern const struct row_kind row_kinds[];
extern const size_t row_kind_count;
