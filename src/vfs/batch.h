/* Small files and directories that are made in one job of the pool, in the order in which they
 * were added: a trip to the pool costs more than a small file (ADR 34).
 *
 *     struct vbatch *b = vbatch_new(vfs);
 *     if (vbatch_has_room(b, len)) {                the contents go to vbatch_contents(b)
 *         r = vbatch_add_file(b, &path, &request, &attr, len);
 *         r = vbatch_add_directory(b, &path);
 *     }
 *     r = vbatch_start(b);                          a trip to the pool begins
 *     r = vbatch_wait(b);                           parks
 *     ... vbatch_item(b, i) says what became of each ...
 *     vbatch_clear(b); ... b = vbatch_free(b);
 *
 * Each is made as by vfs_mkdir(), or vfs_upload_begin() and vupload_commit(): with the same
 * rights, quota and policy, and a file has its name when it is whole or not at all. A failure
 * is one item's; the next are tried. But where a parent is missing the batch stops in front of
 * that item, so that who wants to can make the parents, and goes on with the next start.
 *
 * The batch is one operation and owns all it holds. Whoever frees it while it runs leaves it
 * behind: it ends as it would have, and nobody hears of it.
 */
#pragma once
#include "vfs/vfs.h"

#define VBATCH_ITEMS_MAX 128
#define VBATCH_BYTES     ((size_t)512 * 1024) /* contents */
#define VBATCH_SYNCED    4 /* items, where each waits for the disk: who waits has a deadline */

struct vbatch;

enum vbatch_kind { VBATCH_FILE, VBATCH_DIRECTORY };

struct vbatch_item {
    enum vbatch_kind kind;
    int result;     /* 0: it is there */
    int set_result; /* of a file that is there: its mode and times */
    bool is_new;    /* a directory that was not there before */
    size_t len;     /* of a file */
};

/* NULL: no memory. */
struct vbatch *vbatch_new(struct vfs *);
/* One more item, with that many bytes of contents. */
bool vbatch_has_room(const struct vbatch *, size_t len);
uint8_t *vbatch_contents(struct vbatch *); /* of the next file */
unsigned vbatch_count(const struct vbatch *);

/* -ENOMEM; all else is the item's result. A file gets attr's mode and times before it has its
 * name, if the account may set them. REPLACE only. */
MUST_CHECK int vbatch_add_file(struct vbatch *, const struct vpath *,
                               const struct vupload_request *, const struct vattr *,
                               size_t len);
MUST_CHECK int vbatch_add_directory(struct vbatch *, const struct vpath *);

/* -EBUSY: the pool's queue is full, and nothing has been done. */
MUST_CHECK int vbatch_start(struct vbatch *);
/* 0: it has run: *ret is the index of the item whose parent is missing, or the count. Negative
 * (-ECANCELED, -ETIMEDOUT in a shield): the batch is gone. */
PARKS MUST_CHECK int vbatch_wait(struct vbatch *, unsigned *ret);
/* Of an item that was not yet made: should its parent be missing again, it fails with that; it
 * fails with this. */
void vbatch_insist(struct vbatch *, unsigned index);
void vbatch_refuse(struct vbatch *, unsigned index, int result);
const struct vbatch_item *vbatch_item(const struct vbatch *, unsigned index);
/* Both of one that does not run: it is as new; it goes. NULL is fine; returns NULL. */
void vbatch_clear(struct vbatch *);
struct vbatch *vbatch_free(struct vbatch *);
