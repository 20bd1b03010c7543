/* An archive that is written to a stream, member by member. libarchive calls back while it
 * waits: for tasks with a large stack (TASK_LARGE).
 *
 *     r = tar_writer_open(&w, out, TAR_PLAIN);
 *     r = tar_writer_begin(&w, &member);           for each
 *     r = xfer_send(file, &w.contents, ...);       of a file: at most its size
 *     r = tar_writer_finish(&w);
 *     r = tar_writer_close(&w, r);
 */
#pragma once
#include "io/stream.h"
#include "tar/tar.h"

struct archive;
struct archive_entry;

struct tar_writer {
    struct stream contents; /* what is sent into it are the contents of the open member */
    struct stream *out;
    struct archive *archive;
    struct archive_entry *entry;
    int error; /* of the stream, in a callback of libarchive */
};

enum tar_member_kind { TAR_MEMBER_FILE, TAR_MEMBER_DIRECTORY, TAR_MEMBER_LINK };

struct tar_member {
    enum tar_member_kind kind;
    const char *name;
    const char *target; /* of a link */
    uint32_t mode, uid, gid;
    int64_t mtime_us;
    uint64_t size_bytes; /* of a file */
};

/* Borrows the stream. -ENOMEM, or how it failed. tar_writer_close() in any case. */
MUST_CHECK int tar_writer_open(struct tar_writer *, struct stream *out, enum tar_filter);
/* -ENAMETOOLONG: the format cannot tell its name; the next can follow. */
PARKS MUST_CHECK int tar_writer_begin(struct tar_writer *, const struct tar_member *);
/* What is missing of its size goes as zeros. */
PARKS MUST_CHECK int tar_writer_finish(struct tar_writer *);
/* The end of the archive, unless result is a failure, which it then returns. */
PARKS MUST_CHECK int tar_writer_close(struct tar_writer *, int result);
