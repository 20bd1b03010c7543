/* The client of the SSH file transfer protocol, version 3 (draft-ietf-secsh-filexfer-02, with
 * OpenSSH's extensions of PROTOCOL), over any stream.
 *
 * A task of its own reads; any task of the worker may ask, and several at once. Whole files are
 * moved with as many requests in flight as the path takes (sftp/flight.h); what is received is
 * handed on where it was received, and what is sent is read into rooms of the stream.
 *
 * What a server can do is bounded: an answer that nobody waits for, one of another kind, data
 * that is longer than was asked for, a message longer than SFTP_MESSAGE_MAX: each breaks the
 * client (-FERRY_EPROTO). So does a server that says nothing for stall_us while an answer is
 * owed (-FERRY_ESTALLED). All calls then fail as the first one did.
 *
 * Results: what a server says is -ENOENT, -EACCES, -EOPNOTSUPP or -FERRY_EREFUSED, with
 * sftp_client_why() in words. Names come as they are; whoever makes local files of them asks
 * sftp_name_is_safe() first.
 */
#pragma once
#include "io/stream.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"

#define SFTP_LISTING_MAX    (1024 * 1024) /* names of one directory */
#define SFTP_CLIENT_WHY_MAX 256

struct sftp_client;

struct sftp_client_settings {
    usec_t stall_us;          /* 0: DEFAULT_STALL_US */
    uint64_t in_flight_bytes; /* of one transfer at most; 0: SFTP_FLIGHT_MAX */
};

/* INIT, and what the server tells of its limits. Borrows the stream, which nobody else uses. */
PARKS MUST_CHECK int sftp_client_new(struct stream *, const struct sftp_client_settings *,
                                     struct sftp_client **ret);
/* Nobody is in a call. Does not end the stream. NULL is fine. */
PARKS struct sftp_client *sftp_client_free(struct sftp_client *);
/* The server has this one. */
bool sftp_client_has(const struct sftp_client *, enum sftp_kind);
/* What the server said last of a failure, printable; "" if nothing. */
const char *sftp_client_why(const struct sftp_client *);

/* -- names and attributes -- */

PARKS MUST_CHECK int sftp_client_stat(struct sftp_client *, struct bytes path, bool follow,
                                      struct sftp_attributes *ret);
PARKS MUST_CHECK int sftp_client_setstat(struct sftp_client *, struct bytes path,
                                         const struct sftp_attributes *);
PARKS MUST_CHECK int sftp_client_mkdir(struct sftp_client *, struct bytes path, uint32_t mode);
PARKS MUST_CHECK int sftp_client_rmdir(struct sftp_client *, struct bytes path);
PARKS MUST_CHECK int sftp_client_remove(struct sftp_client *, struct bytes path);
/* Over what stands there if the server has posix-rename; else it refuses. */
PARKS MUST_CHECK int sftp_client_rename(struct sftp_client *, struct bytes from,
                                        struct bytes to);
/* The server's name of it, at most max bytes with a NUL. -FERRY_ELIMIT. */
PARKS MUST_CHECK int sftp_client_realpath(struct sftp_client *, struct bytes path, char *ret,
                                          size_t max);

/* For each name, "." and ".." too; a negative result ends the listing with it. Cannot park. */
typedef int sftp_name_fn(void *arg, struct bytes name, const struct sftp_attributes *);
/* -FERRY_ELIMIT: more than names_max (0: SFTP_LISTING_MAX). */
PARKS MUST_CHECK int sftp_client_list(struct sftp_client *, struct bytes path,
                                      unsigned names_max, sftp_name_fn *, void *arg);
/* One component that can be a local file's: not empty, no "." or "..", without '/' and NUL, not
 * longer than NAME_LEN_MAX. */
bool sftp_name_is_safe(struct bytes name);

/* -- open files -- */

struct sftp_remote {
    uint8_t handle[SFTP_HANDLE_MAX];
    size_t len;
};

/* flags: enum sftp_open_flag; mode: of a file that is made. */
PARKS MUST_CHECK int sftp_client_open(struct sftp_client *, struct bytes path, uint32_t flags,
                                      uint32_t mode, struct sftp_remote *ret);
PARKS MUST_CHECK int sftp_client_close(struct sftp_client *, const struct sftp_remote *);
/* At most max bytes, of which no more than 32 KB at once need be had; 0: the end. */
PARKS MUST_CHECK ssize_t sftp_client_read(struct sftp_client *, const struct sftp_remote *,
                                          uint64_t offset, void *ret, size_t max);
PARKS MUST_CHECK int sftp_client_write(struct sftp_client *, const struct sftp_remote *,
                                       uint64_t offset, struct bytes);
PARKS MUST_CHECK int sftp_client_fstat(struct sftp_client *, const struct sftp_remote *,
                                       struct sftp_attributes *ret);
PARKS MUST_CHECK int sftp_client_fsetstat(struct sftp_client *, const struct sftp_remote *,
                                          const struct sftp_attributes *);
/* -EOPNOTSUPP: the server cannot. */
PARKS MUST_CHECK int sftp_client_fsync(struct sftp_client *, const struct sftp_remote *);

/* -- whole files -- */

/* Takes bytes of the file, in no order. The pieces are memory of the chunk, and borrowed. In
 * the client's reading task, which hears nothing meanwhile. A failure ends the transfer. */
typedef PARKS int sftp_sink(void *arg, uint64_t offset, struct chunk *,
                            const struct iovec *pieces, unsigned count);

struct sftp_get {
    uint64_t offset;
    uint64_t length; /* bytes; 0: to the end */
    sftp_sink *sink; /* NULL: thrown away */
    void *arg;
};

struct sftp_got {
    struct sftp_attributes attributes; /* as they were at the open; has == 0: not told */
    uint64_t bytes;                    /* from offset on; also on failure: what came */
};

/* *ret is always written. To the first offset at which the server has no more, however long it
 * said the file was. -FERRY_ETRUNCATED: it ended before what came already. */
PARKS MUST_CHECK int sftp_client_get(struct sftp_client *, struct bytes path,
                                     const struct sftp_get *, struct sftp_got *ret);

/* Fills the pieces, which are memory of the chunk: bytes, less than they have only at the end
 * of the source or before it cannot go on; 0: the end. */
typedef PARKS ssize_t sftp_source(void *arg, uint64_t offset, struct chunk *,
                                  const struct iovec *pieces, unsigned count);

struct sftp_put {
    uint64_t offset; /* not 0: the file is there, and is continued; else it is made anew */
    uint32_t mode;   /* of a new file; 0: 0666 */
    bool syncs;      /* fsync, if the server has it */
    const struct sftp_attributes *attributes; /* set at the end; or NULL */
    sftp_source *source;
    void *arg;
};

/* *ret_bytes: what the server has confirmed, also on failure. 0: it has all, and has closed the
 * file. */
PARKS MUST_CHECK int sftp_client_put(struct sftp_client *, struct bytes path,
                                     const struct sftp_put *, uint64_t *ret_bytes);

/* Sink and source of local files (xfer/piece.h); arg: */
struct vfile;
struct vupload;

struct sftp_local {
    struct vfile *file;
    struct vupload *upload; /* the sink's; its quota is asked first. NULL: none */
    usec_t stall_us;
};

PARKS sftp_sink sftp_local_sink;
PARKS sftp_source sftp_local_source;
