/* The load on one server: sessions of ferry's own client side, and what they move.
 *
 * A load belongs to the worker that runs its tasks. Files are whole ones, thrown away in the
 * kernel as they come; bytes count when the server has confirmed the file. Each login comes
 * from a loopback address of its own (when the server is on 127.0.0.0/8), so that ports of
 * closed connections do not run out.
 */
#pragma once
#include "base/secret.h"
#include "ftp/client.h"

#define LOAD_NAME_MAX 64

/* What every file holds: a block of noise, again and again. A file of it in memory is sent by
 * sendfile, which costs this side less than a copy. */
struct load_source {
    uint8_t *block;
    int file; /* -1: none */
    uint64_t file_len;
};

/* The file has so many bytes, at most LOAD_FILE_MAX. -ENOMEM, -ENOSPC, or -errno of the system;
 * load_source_done() in any case. */
#define LOAD_FILE_MAX (512 * 1024 * 1024)
MUST_CHECK int load_source_init(struct load_source *, uint64_t len);
void load_source_done(struct load_source *);

/* Outlives the load. */
struct load_settings {
    const struct load_source *source;
    const struct addr *server; /* where it listens now */
    const char *user, *password;
    uint64_t stream_bytes; /* of the file that the lone session moves */
    struct ftp_client_settings client;
};

struct load {
    const struct load_settings *settings;
    char stem[24]; /* of the names of its files */
    unsigned logins;

    struct ftp_client lone;   /* moves files alone, or beside the others */
    struct ftp_client *crowd; /* crowd_count of them, logged in */
    unsigned crowd_count;

    uint64_t stored_bytes, retrieved_bytes; /* confirmed, by all of them */
    bool has_stored;                        /* a file of the lone session may be there */
    unsigned crowd_stored;                  /* and so many of the others' */
};

/* -errno of the random source. Then load_close() at the end. */
MUST_CHECK int load_init(struct load *, const struct load_settings *);
/* Closes what is open; sessions can be opened again. */
void load_close(struct load *);

/* -- sessions -- */

/* Connects and logs in. user: NULL for that of the settings. */
PARKS MUST_CHECK int load_login(struct load *, struct ftp_client *, const char *user);
/* Logs the lone session in, in binary type, unless it is. */
PARKS MUST_CHECK int load_open_lone(struct load *);
/* Room for so many more sessions of the crowd; what is open stays. -ENOMEM. */
MUST_CHECK int load_reserve(struct load *, unsigned count);
/* QUIT to the crowd, then the reply of each: 0, or the first failure with *ret_failed. They are
 * closed in any case. */
PARKS MUST_CHECK int load_quit(struct load *, unsigned *ret_failed);

/* -- files -- */

/* The name of the index-th file of the crowd, or of `kind` of files. Returns dst. */
const char *load_name(const struct load *, const char *kind, unsigned index,
                      char dst[LOAD_NAME_MAX]);

PARKS MUST_CHECK int load_store(struct load *, struct ftp_client *, const char *name,
                                uint64_t len);
/* -FERRY_ETRUNCATED: it is not of that length. */
PARKS MUST_CHECK int load_retrieve(struct load *, struct ftp_client *, const char *name,
                                   uint64_t len);
/* The same, and every byte is looked at. -FERRY_EPROTO: another content. */
PARKS MUST_CHECK int load_verify(struct load *, struct ftp_client *, const char *name,
                                 uint64_t len);
/* A name that is not there is fine: it never got there. */
PARKS MUST_CHECK int load_remove(struct ftp_client *, const char *name);
/* Removes what the crowd stored, with load_remove(). */
PARKS MUST_CHECK int load_remove_crowd_files(struct load *, struct ftp_client *);

/* Removes what was stored, with a session of its own. *ret_left: files that may still be there.
 */
PARKS MUST_CHECK int load_remove_files(struct load *, unsigned *ret_left);

/* "what: 530 Login incorrect" or "what: Connection refused". dst is printable UTF-8. */
void load_explain(char *dst, size_t cap, const char *what, const struct ftp_client *,
                  int result);
