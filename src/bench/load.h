/* The load itself: sessions of ferry's own client side, and what they move.
 *
 * A load belongs to the worker that runs its tasks. Files are whole ones, thrown away as they
 * come; bytes count when the server has confirmed the file.
 */
#pragma once
#include "bench/options.h"
#include "ftp/client.h"

#define LOAD_NAME_MAX 48 /* "ferry-bench-xxxxxxxx-4294967295" */

struct load {
    const struct bench_options *options;
    struct addr server;
    struct ftp_client_settings settings;
    struct ftp_source source; /* of each upload */
    uint8_t *block;
    int file; /* behind the source, or -1 */
    char stem[24];

    struct ftp_client lone;   /* moves files alone, or beside the others */
    struct ftp_client *crowd; /* options->clients of them */

    uint64_t stored_bytes, retrieved_bytes; /* confirmed, by all of them */
    bool has_stored;                        /* a file of the lone session may be there */
    unsigned crowd_stored;                  /* and so many of the others' */
};

/* -ENOMEM, or -errno of the system. load_done() in any case. */
MUST_CHECK int load_init(struct load *, const struct bench_options *,
                         const struct addr *server);
void load_done(struct load *); /* no session may be open */

/* Connects and logs in. */
PARKS MUST_CHECK int load_login(struct load *, struct ftp_client *);
/* One file; index: a name of its own for each session of the crowd. */
PARKS MUST_CHECK int load_store(struct load *);
PARKS MUST_CHECK int load_remove_lone(struct load *);
PARKS MUST_CHECK int load_retrieve(struct load *, struct ftp_client *);
PARKS MUST_CHECK int load_store_as(struct load *, unsigned index);

/* QUIT to the crowd, then the reply of each: 0, or the first failure with *ret_failed. They are
 * closed in any case. */
PARKS MUST_CHECK int load_quit(struct load *, unsigned *ret_failed);

/* Removes what was stored, with a session of its own. *ret_left: files that may still be there.
 */
PARKS MUST_CHECK int load_remove_files(struct load *, unsigned *ret_left);

/* Closes what is open. */
void load_close(struct load *);

/* "what: 530 Login incorrect" or "what: Connection refused". dst is printable UTF-8. */
void load_explain(char *dst, size_t cap, const char *what, const struct ftp_client *,
                  int result);
