/* An archive on its way into the tree, from inside.
 *
 * Small files, and directories, are collected, and made by one job while the next are read
 * (extract_small.c). All else waits until these are there: so each entry finds what stands
 * before it in the archive.
 */
#pragma once
#include "base/buf.h"
#include "tar/internal.h"
#include "vfs/batch.h"

#define EXTRACT_SMALL_BYTES (64 * 1024)

struct extract_batch;

struct extract {
    struct tar *tar;
    struct vfs *vfs;
    struct buf directories;                    /* what they get when all is there */
    struct extract_batch *collected, *running; /* NULL: none yet */
    struct xfer_progress progress;             /* of small files */
    bool is_shown;
};

/* What an entry becomes: name: as the archive has it, for complaints. */
struct extract_entry {
    const char *name;
    const struct vpath *path;
    struct vattr attr;
    mode_t mode; /* of a new file */
};

PARKS MUST_CHECK int extract_make_parents(struct extract *, const struct vpath *);
/* A directory that is there gets its mode and time at the end. */
MUST_CHECK int extract_remember(struct extract *, const struct vpath *, const struct vattr *,
                                bool is_new);

/* 0: it will be made, or its failure told; else the archive's failure or the user's end. */
PARKS MUST_CHECK int extract_small_file(struct extract *, const struct extract_entry *,
                                        size_t len);
PARKS MUST_CHECK int extract_directory(struct extract *, const struct extract_entry *);
/* All that was collected is made and told of. */
PARKS MUST_CHECK int extract_flush(struct extract *);
/* The same at the end; after a cancel what has not begun is not made. */
PARKS MUST_CHECK int extract_small_end(struct extract *, int result);
