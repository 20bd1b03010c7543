/* Lists what a client named: a directory, one file, or what a pattern matches (internal to
 * ftp/).
 *
 * Lines go to a stream in batches, in the order of the file system, so the memory is bounded
 * whatever the directory holds. A pattern costs at most GLOB_STEPS_MAX comparisons beside
 * one look at each name of one directory.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "io/stream.h"
#include "vfs/vfs.h"

enum ftp_lister_form {
    FTP_LISTER_LONG,  /* LIST */
    FTP_LISTER_NAMES, /* NLST: names that can be given back to RETR (RFC 1123 4.1.2.7) */
    FTP_LISTER_FACTS, /* MLSD */
    FTP_LISTER_REPLY, /* STAT: as LIST, as the middle lines of a reply */
};

struct ftp_lister {
    struct vfs *vfs;
    struct bytes cwd; /* borrowed, as is the path given to ftp_lister_open() */
    enum ftp_lister_form form;
    unsigned facts; /* of FTP_LISTER_FACTS */

    /* the lister's */
    struct bytes name;   /* as the client gave it */
    struct vpath target; /* the same, resolved; not of a pattern */
    struct vdir *dir;    /* of a directory */
    struct vstat stat;   /* of a single file */
    bool is_pattern;
    uint64_t glob_steps;
    int64_t now_us;
    struct buf prefix; /* what stands before names, as the client would write it */
    struct buf out;    /* lines not sent yet */
    struct buf scratch;
    struct stream *sink;
};

/* The first five fields are the caller's to set. Finds out what the name is; the empty name is
 * the working directory. What exists is taken literally, even if it looks like a pattern.
 * FTP_LISTER_FACTS lists directories only (-ENOTDIR) and knows no patterns. */
PARKS MUST_CHECK int ftp_lister_open(struct ftp_lister *, struct bytes name);
PARKS MUST_CHECK int ftp_lister_run(struct ftp_lister *, struct stream *sink);
void ftp_lister_close(struct ftp_lister *); /* also after a failed open */
