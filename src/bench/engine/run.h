/* A row under way on one server, and what rows of every suite need. */
#pragma once
#include "bench/engine/bench.h"
#include "bench/engine/row_kind.h"

struct run {
    struct bench *bench;
    const struct row_kind *kind;
    struct target *target;
    struct bench_row *row;
    struct bench_cell *cell;
    struct latencies latencies;
    /* its row's own */
    usec_t quiet_since;
    uint64_t memory_first;
    usec_t waited_us; /* for the machine, before the sample: no time of the server's */
};

/* How many sessions the row has. */
unsigned run_clients(const struct run *);
/* Of them, so many as both sides have descriptors for; the cell is told if that is fewer. */
unsigned run_held(struct run *);

/* The cell has the reason of its first failure, unless that is -ECANCELED. Both return result;
 * the second says "what: " and the text of the error. */
int run_fail(struct run *, const char *reason, int result);
int run_fail_at(struct run *, const char *what, int result);

/* A while of silence since then, in which a server gives back what it needs no longer. */
PARKS MUST_CHECK int run_wait_idle(const struct run *, usec_t since);
/* Until few ports of the server are held by connections that it has closed, or for little more
 * than the minute that they are; the cell's note says so. */
PARKS MUST_CHECK int run_wait_ports(struct run *);
/* What the server holds now; *ret_known false: that cannot be told. */
PARKS MUST_CHECK int run_held_memory(struct run *, uint64_t *ret_bytes, bool *ret_known);
