/* A directory of this machine goes to a server as one stream: an archive that the server's tar
 * unpacks. No file costs a round trip.
 *
 * What the server stores is known at the end alone, from tar's exit status; after any other end
 * than a good one, tar_sent.h finds out what is there. Links are followed, as everywhere in a
 * copy. A file that becomes shorter while it is read is filled with zeros, and told of.
 */
#pragma once
#include "client/copy/end.h"
#include "client/copy/file.h"
#include "client/copy/plan.h"
#include "client/copy/tar_peer.h"

#define COPY_SAMPLE_FILES 256 /* are looked at before a method is chosen */

struct copy_tar_put {
    const struct copy_file_settings *settings;
    struct copy_end *source, *target; /* of this machine; over ssh */
    struct bytes top;                 /* of the source, a directory */
    struct endpoint_facts facts;      /* its */
    const char *place;                /* at the target: a directory that is there */
    struct copy_packing packing;
    int64_t now_us; /* what files are given for a time, unless theirs is kept */
    /* Told of what is left out, by path beneath the top. Cannot park. */
    void (*failed)(void *arg, struct bytes path, int result, const char *why);
    /* Told of a file that was sent with zeros for its end. Cannot park. */
    void (*damaged)(void *arg, struct bytes path, int result);
    void *arg;

    /* what is told while it runs, and afterwards */
    uint64_t files, directories;
    struct xfer_progress *progress; /* the caller's: bytes of contents */
    enum tar_filter filter;         /* that was chosen */
    int level;                      /* the last one */
    const char *refusal;            /* of -EOPNOTSUPP, in words; "" */
    bool has_begun;                 /* something may be stored */
    bool has_removed_part;          /* what was cut off in the middle: it is not there */
    char why[COPY_TAR_WORDS_MAX];   /* of the server's tar; "" */
};

/* 0: all that was sent is stored. -EOPNOTSUPP: the server has no tar that could be run, and
 * nothing was sent; or it
 * cannot unpack what alone was asked for. -FERRY_EREFUSED: its tar complained, or was none
 * after all. Or how the connection was lost. */
PARKS MUST_CHECK int copy_tar_put(struct copy_tar_put *);

/* The first files of a tree. */
PARKS MUST_CHECK int copy_sample_tree(struct copy_end *, struct bytes top,
                                      const struct endpoint_facts *, struct copy_sample *ret);
