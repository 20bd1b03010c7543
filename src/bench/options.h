/* The arguments of `ferry bench ftp`: those of ftpbench, and a few of our own. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "bench/url.h"

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

struct bench_options {
    struct bench_url server; /* host, port, user and password, wherever they came from */
    enum bench_kind kind;
    unsigned clients;
    unsigned window; /* logins under way at once, in the row that does not do one by one */
    unsigned pid;    /* of the server; 0: not told */
    uint64_t file_bytes;
    usec_t timeout_us;
    bool quick;
    bool help;
    const char *json; /* borrowed from argv; "-": standard output; NULL: none */
};

/* argv[0] is the name of the suite. 0, or -1 when what is wrong was written to `err`. A
 * password in argv is overwritten, since other users can see it there. Call
 * bench_options_done() in any case. */
MUST_CHECK int bench_options_parse(int argc, char **argv, FILE *err, struct bench_options *ret);
void bench_options_done(struct bench_options *);
void bench_options_print_help(FILE *);

const char *bench_kind_name(enum bench_kind);
