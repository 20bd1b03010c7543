/* A directory and all that is in it, one thing at a time, without following links.
 *
 * A directory is entered; what is no directory in it comes next; then its directories, one
 * after the other, each entered and left; then it is left. So one listing is open at a time,
 * however deep the tree, and what waits is bounded (WALK_NAMES_BYTES, WALK_DEPTH_MAX).
 */
#pragma once
#include "vfs/vfs.h"

struct vwalk;

enum vwalk_kind { VWALK_ENTER, VWALK_ENTRY, VWALK_LEAVE, VWALK_FAILED };

struct vwalk_step {
    enum vwalk_kind kind;
    struct bytes path;  /* valid until the next step */
    struct vstat stat;  /* ENTER, ENTRY */
    const char *target; /* ENTRY, of a link, cut at 255 bytes; else NULL */
    int error;          /* FAILED: of the path; what is in it is missing, the rest comes */
};

/* top: a directory, which may be named by a link. -ENOTDIR, and as vfs_stat(). */
PARKS MUST_CHECK int vwalk_new(struct vfs *, const struct vpath *top, struct vwalk **ret);
/* 1: *ret; 0: the end; -ECANCELED, -ENOMEM. */
PARKS MUST_CHECK int vwalk_next(struct vwalk *, struct vwalk_step *ret);
/* After ENTER: what is in that directory is left out, and it is not left. */
PARKS void vwalk_skip(struct vwalk *);
PARKS struct vwalk *vwalk_free(struct vwalk *); /* NULL is fine; returns NULL */
