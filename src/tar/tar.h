/* tar archives made from a tree and unpacked into one, over any stream. The format is
 * libarchive's affair; it reads and writes through our stream alone and never sees a file.
 *
 * What comes from an archive goes through vfs as anything from a peer: names are beneath the
 * directory that was asked for (a ".." in one is refused, a leading '/' dropped), rights and
 * quotas hold, files appear when they are whole, set-id bits are dropped, devices and FIFOs are
 * complained of, links need RIGHT_LINK. What is small is written some dozens at a time, in the
 * archive's order (vfs/batch.h).
 *
 * Both run in a task with a large stack of their own, since libarchive calls back while it
 * waits, and yield between pieces of work (DESIGN 3.3). Neither knows who asks: a session of a
 * server (tar/session.h) or a client.
 */
#pragma once
#include "base/buf.h"
#include "tar/filter.h"
#include "xfer/xfer.h"

/* What is told of a file on its way. None but `begin` is asked for an answer. Cannot park. */
struct tar_watch {
    /* length: of the file; of small ones in a row, UINT64_MAX, once for all. */
    struct xfer_request (*begin)(void *arg, uint64_t length_bytes, struct xfer_progress *);
    void (*end)(void *arg, const struct xfer_progress *);
    /* A file is through, well or not. operation: "upload", "download"; path: of the vfs. */
    void (*moved)(void *arg, const char *operation, struct bytes path,
                  const struct xfer_result *, int result);
    /* extract: a directory is there. May be NULL. */
    void (*made)(void *arg, struct bytes path, bool is_new);
};

/* How an archive is unpacked that nobody asked a server to store. */
enum tar_trust {
    TAR_AS_ASKED, /* by the account's rights */
    /* Files and directories alone, with names beneath the directory. A link is no failure but
     * handed to `link`; nothing is made of it. */
    TAR_PLAIN_ONLY,
};

struct tar_request {
    const void *owner; /* may have TAR_PER_SESSION at once; NULL: any number */
    struct vfs *vfs;
    struct stream *stream;
    const struct tar_watch *watch;
    void *watch_arg;
    /* Tells the user what failed, and returns a negative failure if it cannot. */
    PARKS int (*complain)(void *arg, const char *path, int error);
    void *arg;
    const struct vpath *directory; /* -C: where relative names begin */

    /* create */
    enum tar_filter filter;
    struct bytes names; /* paths, each with a NUL behind it */

    /* extract; it sees how it is compressed */
    bool keeps_modes; /* -p; else new files have the usual bits at most, or: */
    mode_t mode_mask; /* not 0: these */
    /* Files have this time and not the archive's, and what is there keeps its mode. */
    bool leaves_facts;
    int64_t stamp_us;
    enum tar_trust trust;
    /* TAR_PLAIN_ONLY: path: beneath the directory. As complain(); what is wrong with the
     * archive itself is then returned, and not complained of. */
    PARKS int (*link)(void *arg, const char *path);
    struct buf *made; /* what directories get, for tar_set_directories(); NULL: at the end */
};

/* 0, 1 (something was complained of), or how the stream failed. */
PARKS MUST_CHECK int tar_create(const struct tar_request *);
PARKS MUST_CHECK int tar_extract(const struct tar_request *);
/* When all is there that goes into them. 0, or the first failure; all are tried. */
PARKS MUST_CHECK int tar_set_directories(struct vfs *, struct buf *made);
