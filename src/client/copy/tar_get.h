/* A directory of a server comes to this machine as one stream: an archive that the server's tar
 * makes, and that is unpacked here. No file costs a round trip.
 *
 * All that the server sends is a stranger's: nothing but files and directories comes of it,
 * with names beneath the place that the target's endpoint confines; a file has its name when it
 * is whole. Links are not made but told of, so that what they lead to can be copied by itself.
 */
#pragma once
#include "base/buf.h"
#include "client/copy/end.h"
#include "client/copy/file.h"
#include "client/copy/plan.h"
#include "client/copy/tar_peer.h"

#define COPY_GET_REFUSED_MAX 1000 /* failures, then it is given up */

struct copy_tar_get {
    const struct copy_file_settings *settings;
    struct copy_end *source, *target; /* over ssh; of this machine */
    struct bytes top;                 /* at the source, a directory */
    const char *place;                /* at the target, a directory that is there */
    int64_t now_us; /* what files are given for a time, unless theirs is kept */
    /* Paths are beneath the top. None can park. */
    void (*stored)(void *arg, struct bytes path, uint64_t bytes, usec_t took_us);
    void (*failed)(void *arg, struct bytes path, enum copy_side, int result);
    int (*link)(void *arg, struct bytes path); /* negative: ends it all */
    void *arg;

    /* what is told while it runs, and afterwards */
    uint64_t files, directories, refused;
    struct xfer_progress *progress; /* the caller's: of the large file that comes now */
    struct buf *made;               /* for tar_set_directories(), when all is there */
    bool has_begun;                 /* something may be stored */
    char why[COPY_TAR_WORDS_MAX];   /* of the server's tar; "" */
};

/* 0: all that was sent is stored, but for what was told of. -EOPNOTSUPP: the server has no tar
 * that could be run. -FERRY_EREFUSED: its tar complained. -FERRY_ELIMIT: too much was refused.
 * -EBADMSG: it is no archive, or ends in its middle. Or how the connection was lost. */
PARKS MUST_CHECK int copy_tar_get(struct copy_tar_get *);

/* The first files of a tree at a server, by two listings at most. */
PARKS MUST_CHECK int copy_sample_far(struct copy_end *, struct bytes top,
                                     struct copy_sample *ret);
