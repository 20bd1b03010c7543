/* The arguments of `ferry bench ftp`: those of ftpbench, and our own. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "bench/options/url.h"

enum bench_kind {
    BENCH_TRANSFER,
    BENCH_DOWNLOAD,
    BENCH_UPLOAD,
    BENCH_CONCURRENCE,
    BENCH_ALL,
    BENCH_KIND_COUNT
};

#define BENCH_CLIENTS_MAX 100000
#define BENCH_WINDOW_MAX  1000
#define BENCH_PAIRS_MAX   41

/* No file of ours is longer than file_bytes, but a foreign server need not end a listing. */
#define BENCH_LISTING_MAX (UINT64_C(64) * 1024 * 1024)

struct bench_suite;

struct bench_options {
    const struct bench_suite *suite;
    struct bench_url server; /* host, port, user and password, wherever they came from */
    bool has_server;         /* one that runs already; else ferryd and the peers are started */
    enum bench_kind kind;
    bool has_kind;
    unsigned clients;
    unsigned window; /* logins under way at once, in the rows that do not do one by one */
    unsigned pairs;  /* samples of each server in a row */
    unsigned pid;    /* of the server; 0: not told */
    uint64_t file_bytes;
    usec_t timeout_us;
    bool quick;
    bool compat;
    bool tls; /* explicit, RFC 4217; of --compat and of a server that runs already */
    bool help;
    bool list_rows; /* --row help */

    /* borrowed from argv; NULL: not given */
    const char *json;     /* "-": standard output */
    const char *baseline; /* the JSON of an earlier run */
    const char *rows;     /* names, with commas */
    const char *peers;    /* likewise */
    const char *disk;     /* a folder on a disk, for the rows about one */
};

/* argv[0] is not looked at. 0, or -1 when what is wrong was written to `err`. A
 * password in argv is overwritten, since other users can see it there. Call
 * bench_options_done() in any case. */
MUST_CHECK int bench_options_parse(const struct bench_suite *, int argc, char **argv, FILE *err,
                                   struct bench_options *ret);
void bench_options_done(struct bench_options *);
void bench_options_print_help(FILE *);

/* -- names.c -- */

const char *bench_kind_name(enum bench_kind);
/* False: there is none of that name. */
bool bench_kind_find(const char *name, enum bench_kind *ret);

/* Whether `list` ("a,b,c"; NULL: everything) has this name in it. */
bool bench_list_has(const char *list, const char *name);
