/* scp's client side: files and whole trees, over the stream of a command that the server runs:
 * its `scp -f` sends, its `scp -t` receives. What becomes of them is the caller's: it is called
 * back, opens files and makes directories itself.
 *
 * A server sends what was asked for, or nothing of it is taken: a first component that is none
 * of the names asked for (or matches none of the patterns), a name with a '/', "..", a
 * directory or times nobody asked for, too many, too deep: -FERRY_EBADNAME, -FERRY_EPROTO,
 * -FERRY_ELIMIT, -EFBIG, -ENAMETOOLONG, and the dialogue is over.
 *
 * One file that cannot be had or stored is complained of, by either side, and the next comes:
 * the end is SCP_NOT_ALL. A server that complains and leaves is -FERRY_EREFUSED. One that ends
 * before all was there is -FERRY_ECLOSED. Waits end after the stream's stall time. After a
 * failure nothing more is said: free the stream, and the server keeps no half of a file for a
 * whole one.
 */
#pragma once
#include "base/buf.h"
#include "io/stream.h"

#define SCP_CLIENT_WHY_MAX 256

/* Beside 0 and failures. */
enum {
    SCP_SKIP = 1,    /* this file or directory is left out; the next comes */
    SCP_NOT_ALL = 1, /* the end was reached, and something was complained of */
};

/* A file or a directory. */
struct scp_file {
    struct bytes
        name;            /* put: one component; get: components from the first that was asked
                          * for, joined by '/', none of which leads elsewhere; valid until its end */
    uint64_t size_bytes; /* of a file */
    uint32_t mode;       /* permission bits, at most 0777 */
    bool has_times;
    int64_t mtime_us, atime_us;
};

/* What the server said, printable; of a failure of a source, what we say to it. */
typedef void scp_complaint(void *arg, const char *text);

/* -- what is asked for -- */

struct scp_path {
    struct bytes path;
    bool is_pattern; /* base/glob.h, in each of its components */
};

struct scp_request {
    bool is_recursive;            /* -r */
    bool keeps_times;             /* -p: times and modes */
    bool needs_directory;         /* -d, put: what is sent goes into the path */
    const struct scp_path *paths; /* get: sent from; put: one, sent to */
    unsigned count;
    /* get: */
    uint64_t entries_max; /* files, directories and complaints */
    uint64_t bytes_max;   /* of all files */
};

/* "scp -f -- 'PATH'", "scp -t -- 'PATH'", for a shell of the server's. All is quoted but what
 * makes a pattern one, so that a path is itself and a pattern is expanded to names, not more. A
 * hidden file is matched by a pattern that begins with a dot. -EINVAL: a path with a NUL;
 * -FERRY_EBADNAME: nothing to get has that name ("..", "/", "."): ask for what is in it, or by
 * its name; -FERRY_ELIMIT, -ENOMEM. */
MUST_CHECK int scp_client_get_command(const struct scp_request *, struct buf *ret);
MUST_CHECK int scp_client_put_command(const struct scp_request *, struct buf *ret);

/* -- get -- */

/* Bytes of a file in their order; the pieces are memory of the chunk, and borrowed. */
typedef PARKS int scp_sink(void *arg, uint64_t offset, struct chunk *,
                           const struct iovec *pieces, unsigned count);

/* Each may return a failure, which ends the dialogue with it, or SCP_SKIP, of which the server
 * is told the words in ret_why (else "skipped"). */
struct scp_sink_ops {
    /* Without is_recursive these two may be NULL. */
    PARKS int (*directory_begin)(void *arg, const struct scp_file *,
                                 char ret_why[SCP_CLIENT_WHY_MAX]);
    /* Of the innermost; not called for those that are open when the dialogue fails. */
    PARKS int (*directory_end)(void *arg, char ret_why[SCP_CLIENT_WHY_MAX]);
    PARKS int (*file_begin)(void *arg, const struct scp_file *,
                            char ret_why[SCP_CLIENT_WHY_MAX]);
    scp_sink *data;
    /* Always, after a begin that returned 0. result: 0: all of it came, and the server says
     * that it is whole. -FERRY_ETRUNCATED: it takes it back; -FERRY_EREFUSED: data() skipped,
     * and ret_why is for the server; else how the dialogue failed. After any but 0 the return
     * value has no meaning. */
    PARKS int (*file_end)(void *arg, int result, char ret_why[SCP_CLIENT_WHY_MAX]);
    scp_complaint *complaint;
};

/* 0: all that was asked for is there. */
PARKS MUST_CHECK int scp_client_get(struct stream *, const struct scp_request *,
                                    const struct scp_sink_ops *, void *arg);

/* -- put -- */

/* Fills the pieces; bytes, 0: the source has ended, which before size_bytes is a failure. */
typedef PARKS ssize_t scp_source(void *arg, uint64_t offset, struct chunk *,
                                 const struct iovec *pieces, unsigned count);

struct scp_put;

/* Borrows the stream. -FERRY_EREFUSED: the server will not receive; it was complained of. */
PARKS MUST_CHECK int scp_client_put_begin(struct stream *, scp_complaint *, void *arg,
                                          struct scp_put **ret);

/* Into the directory that was pushed last. SCP_SKIP: it was complained of: nothing goes into
 * it, and it is not popped. -FERRY_EBADNAME; -FERRY_ELIMIT: deeper than SCP_DEPTH_MAX. */
PARKS MUST_CHECK int scp_client_put_push(struct scp_put *, const struct scp_file *directory);
/* SCP_SKIP: the server could not leave it as it was told to. */
PARKS MUST_CHECK int scp_client_put_pop(struct scp_put *);
/* 0: the server has stored it; SCP_SKIP: it has not. A source that fails or ends too early is
 * complained of to both sides: what is missing of the file goes as zeros, since its size was
 * said, and the server is told that it is none. A cancel ends the dialogue. */
PARKS MUST_CHECK int scp_client_put_file(struct scp_put *, const struct scp_file *,
                                         scp_source *, void *arg);
/* After all is popped, or a failure. 0 or SCP_NOT_ALL. Frees it; the caller ends the stream,
 * and the server's command with it. */
MUST_CHECK int scp_client_put_end(struct scp_put *);
