/* Between compat.c, which begins and ends a run, and compat_rows.c and compat_crowd.c, which
 * measure. */
#pragma once
#include "bench/compat/compat_memory.h"
#include "bench/options/options.h"
#include "ftp/client.h"

#define COMPAT_FILE        BYTES_LIT("$testfile") /* the one remote file of all rows */
#define COMPAT_CHUNK_BYTES 8192                   /* of one call on a connection of its own */
#define COMPAT_WASTE_BYTES 65536                  /* of one call where many are read at once */
#define COMPAT_LABEL_MAX   96
#define COMPAT_ERROR_MAX   512

struct compat {
    const struct bench_options *options;
    struct addr server;
    struct ftp_client_settings settings;
    FILE *out;
    bool has_colour; /* of out */
    struct pool *pool;

    struct compat_samples samples;
    uint8_t *chunk; /* COMPAT_CHUNK_BYTES to send */
    uint8_t *waste; /* COMPAT_WASTE_BYTES that nobody looks at, so all may share them */

    struct ftp_client lone;       /* of the rows with a connection of their own */
    struct ftp_client *clients;   /* NULL, or options->clients of them */
    char label[COMPAT_LABEL_MAX]; /* of the row that is measured */
    char error[COMPAT_ERROR_MAX]; /* not empty: why it ended */
};

/* Connects and logs in. */
PARKS MUST_CHECK int compat_login(struct compat *, struct ftp_client *);

/* Writes t->error, unless it is written: "what: why". Returns result. */
int compat_fail(struct compat *, const char *what, const struct ftp_client *, int result);

/* The lines of the kind of benchmark, each printed when it is measured. 0, or the first
 * failure, with t->error; compat_close() in any case. */
PARKS MUST_CHECK int compat_rows_run(struct compat *);
void compat_close(struct compat *); /* closes all that is open; no task may be inside */

/* "LABEL  VALUE UNIT  MEMORY" as ftpbench sets it, the memory being the last sample, if any. */
void compat_print(struct compat *, const char *label, double value, const char *unit);
/* A line of the seconds since then, with t->label. */
void compat_print_seconds(struct compat *, usec_t began);

/* -- for the rows; results are the client's, and not yet in t->error -- */

/* Puts the server's memory on the pile, if its process is known. Writes t->error. */
PARKS MUST_CHECK int compat_sample(struct compat *);
/* TYPE I, and a transfer of the file begins. */
PARKS MUST_CHECK int compat_begin(struct ftp_client *, const char *verb, struct stream **ret);
/* The result of reading: an end of TLS without close_notify is one as well, as it is for
 * ftpbench. */
ssize_t compat_end_of_data(ssize_t n);
/* A result of the data connection, or a better one if the server says why it broke. */
PARKS int compat_ask_why(struct ftp_client *, int result);
/* To the data connection: whole chunks, so up to one less a byte more than was asked for. */
PARKS MUST_CHECK int compat_send_file(struct compat *, struct ftp_client *);
/* A whole upload that no row measures: what downloads will fetch. */
PARKS MUST_CHECK int compat_store(struct compat *, struct ftp_client *);

/* compat_crowd.c; t->clients lives from the first to the last. They write t->error. */
PARKS MUST_CHECK int compat_row_login(struct compat *);
PARKS MUST_CHECK int compat_row_retr_many(struct compat *);
PARKS MUST_CHECK int compat_row_stor_many(struct compat *);
PARKS MUST_CHECK int compat_row_quit(struct compat *);
