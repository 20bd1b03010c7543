/* One file of a copy: from any end to any end, with resume, check and retries.
 *
 * Under its final name a file is complete or it is not there. Until then it is, on this
 * machine, an upload of vfs/ (a hidden name, kept if it breaks off), and on a server that has
 * no such names of its own NAME.ferry-part. Mode and times are set before the name is.
 */
#pragma once
#include "client/copy/end.h"
#include "io/stream.h"

struct copy_sent;

struct copy_file_settings {
    bool preserves, verifies, resumes;
    uint32_t umask;             /* what a new file may not be, unless its mode is preserved */
    struct xfer_bucket *bucket; /* or NULL */
};

enum copy_side { COPY_SIDE_SOURCE, COPY_SIDE_TARGET };

enum copy_check { COPY_CHECK_NONE, COPY_CHECK_SAME, COPY_CHECK_NOT_POSSIBLE };

struct copy_file {
    const struct copy_file_settings *settings;
    /* An end, or a stream: of standard input or output. */
    struct copy_end *source, *target;
    struct stream *input, *output;
    char *source_path, *target_path; /* owned; NULL of a stream */
    struct endpoint_facts facts;     /* of the source, when it was found */
    bool is_new_place;               /* its directory was made by this command */
    /* A stream of tar was here before: what it stored is not sent again. Or NULL */
    struct copy_sent *sent;
    bool was_sent;    /* it stands there as the stream brought it */
    bool has_remains; /* what stands under its name is no whole file, and goes with a failure */

    /* what is told while it runs, and afterwards */
    struct xfer_progress progress; /* of the current try */
    uint64_t began_at;             /* the offset of the current try */
    usec_t started_at;
    int result;
    enum copy_side side; /* that failed */
    char why[256];       /* the server's words, or ours; "" */
    const char *method;
    const char *compression; /* of a stream of tar; or NULL: what the connection says */
    uint64_t moved_bytes;    /* of all tries, also of those that failed */
    uint64_t size_bytes;     /* of the file, when it is complete */
    uint64_t kept_bytes;     /* else: that can be gone on with */
    enum copy_check check;
    bool has_grown; /* while it was read */

    /* between tries */
    uint64_t certain; /* bytes that the part has without doubt */
    uint64_t reached; /* the farthest offset so far */
    bool is_anew;     /* what was there is not to be used */
};

/* Writes what is told. The result is file->result. */
PARKS int copy_file_run(struct copy_file *);
void copy_file_done(struct copy_file *); /* the paths */
