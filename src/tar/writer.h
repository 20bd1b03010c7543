/* An archive that is written to a stream, member by member. libarchive calls back while it
 * waits: for tasks with a large stack (TASK_LARGE).
 *
 *     r = tar_writer_open(&w, out, &packing);
 *     r = tar_writer_begin(&w, &member);           for each
 *     r = xfer_send(file, &w.contents, ...);       of a file: at most its size
 *     r = tar_writer_finish(&w);
 *     r = tar_writer_close(&w, r);
 */
#pragma once
#include "io/compress.h"
#include "tar/filter.h"

struct archive;
struct archive_entry;

/* How an archive is packed. Steps of compression run in the pool. */
struct tar_packing {
    enum tar_filter filter;
    int level; /* or COMPRESS_AUTO (io/compress.h): by link, processor and data */
    /* Told each level that is chosen. May be NULL. Cannot park. */
    void (*decided)(void *arg, const struct controller_decision *);
    void *arg;
};

struct tar_writer {
    struct stream contents; /* what is sent into it are the contents of the open member */
    struct stream *out;
    struct stream *packed; /* a filter on the caller's; then `out` is it; or NULL */
    struct archive *archive;
    struct archive_entry *entry;
    uint64_t written_bytes; /* to `out` */
    int error;              /* of the stream, in a callback of libarchive */
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

/* Borrows the stream. -ENOMEM, -EINVAL (no such level), or how it failed. tar_writer_close() in
 * any case. */
MUST_CHECK int tar_writer_open(struct tar_writer *, struct stream *out,
                               const struct tar_packing *);
/* -ENAMETOOLONG: the format cannot tell its name; the next can follow. */
PARKS MUST_CHECK int tar_writer_begin(struct tar_writer *, const struct tar_member *);
/* What is missing of its size goes as zeros. */
PARKS MUST_CHECK int tar_writer_finish(struct tar_writer *);
/* The end of the archive, unless result is a failure, which it then returns. If it is
 * compressed, the stream is ended, too. */
PARKS MUST_CHECK int tar_writer_close(struct tar_writer *, int result);
