/* A row of a suite's table: what is measured, of whom, and how. */
#pragma once
#include <stdint.h>

#include "base/attr.h"
#include "bench/peers/recipe.h"
#include "bench/report/results.h"

struct run;

/* One sample, as its row measured it. */
struct sample {
    double value;
    uint64_t bytes;
    unsigned operations;
    bool has_cpu; /* what it measured itself, in place of the server's processes */
    usec_t cpu_us;
    /* of programs that were the client: all of them, and the one that used most */
    usec_t client_cpu_us, client_busiest_us;
};

enum row_traits {
    ROW_PROBED = 1 << 0,    /* the probe asks beside it */
    ROW_WATCHED = 1 << 1,   /* the peak of memory during it */
    ROW_STAGED = 1 << 2,    /* only with servers of our own: it makes files, or takes long */
    ROW_THOUSANDS = 1 << 3, /* of sessions: only for servers that need no process for each,
                               one after the other, since our descriptors are bounded */
    ROW_NO_FLOOR = 1 << 4,  /* the floor cannot do it */
    ROW_P99 = 1 << 5,       /* its value is that of the probe */
    ROW_ONCE = 1 << 6,      /* one sample */
    ROW_NEEDS_PID = 1 << 7, /* it is about memory */
    ROW_GROWTH = 1 << 8,    /* memory is what it has more than before the sample */
    ROW_LOGIN = 1 << 9,     /* how the server checks a password matters, and is noted */
    ROW_FRESH = 1 << 10,    /* its servers begin anew: what an earlier row left would count */
};

/* All but sample() may be NULL; they are tasks, and return 0 or a failure that the cell
 * explains. */
struct row_kind {
    const char *name;
    const char *label;       /* '#': clients; '@': a file's size; '&': the window */
    const char *quick_label; /* of a quick run, where it does less; NULL: it does as much */
    enum bench_unit unit;
    unsigned kinds; /* 1u << enum bench_kind, of those it belongs to */
    unsigned traits;
    unsigned needs;    /* features, as the suite counts them: who lacks one takes no part */
    unsigned sessions; /* of the crowd, for rows that fix it; 0: as many as the options say */
    enum recipe_variant variant;
    const void *detail;                 /* the suite's own; NULL */
    PARKS int (*prepare)(struct run *); /* once a server */
    PARKS int (*before)(struct run *);  /* each sample, outside of its time */
    PARKS int (*sample)(struct run *, struct sample *ret);
    PARKS int (*after)(struct run *); /* likewise outside */
    /* once a server, when all have had their last sample, and then a while of silence */
    PARKS int (*conclude)(struct run *);
    PARKS void (*leave)(struct run *); /* once a server, whatever happened */
};

struct row_table {
    const struct row_kind *kinds;
    size_t count; /* at most BENCH_ROWS_MAX */
};
