/* tar archives made from a tree and unpacked into one, over any stream. The format is
 * libarchive's affair; it reads and writes through our stream alone and never sees a file.
 *
 * What comes from an archive goes through vfs as anything from a peer: names are beneath the
 * directory that was asked for (a ".." in one is refused, a leading '/' dropped), rights and
 * quotas hold, files appear when they are whole, set-id bits are dropped, devices and FIFOs are
 * complained of, links need RIGHT_LINK. Each file leaves an audit record.
 *
 * Both run in a task with a large stack of their own, since libarchive calls back while it
 * waits, and yield between pieces of work (DESIGN 3.3).
 */
#pragma once
#include "session/session.h"
#include "tar/filter.h"

struct tar_request {
    struct session *session;
    struct stream *stream;
    enum tar_filter filter;        /* of create; extract sees what it is given */
    bool keeps_modes;              /* extract: -p; else new files have the usual bits at most */
    const struct vpath *directory; /* -C: where relative names begin */
    struct bytes names;            /* create: paths, each with a NUL behind it */
    /* Tells the user what failed, and returns a negative failure if it cannot. */
    PARKS int (*complain)(void *arg, const char *path, int error);
    void *arg;
};

/* 0, 1 (something was complained of), or how the stream failed. */
PARKS MUST_CHECK int tar_create(const struct tar_request *);
PARKS MUST_CHECK int tar_extract(const struct tar_request *);
