/* A root's inside: what is known of its file system. Shared by threads; what changes is atomic.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

#include "task/pool.h"
#include "vfs/beneath.h"
#include "vfs/vfs.h"

struct device;

struct vroot {
    _Atomic unsigned refs;
    struct beneath tree;
    struct device *device; /* the share of the pool that its disk has */
    dev_t number;          /* st_dev */
    bool is_local;         /* an open or close of what is cached waits for nobody */
    bool is_memory;        /* a plain read waits for nobody */
    _Atomic dev_t below; /* of a mount below that is local, too: the last that was met; or 0 */
    _Atomic int nowait;  /* RWF_NOWAIT: 0 unknown, 1 works, -1 does not */
};

/* Half of the pool for all roots on one device, so that a dead disk leaves the other half.
 * Borrowed from the root. */
MUST_CHECK int vroot_share(struct vroot *, struct pool *, struct pool_share **ret);

/* Of what was opened below, on a pool thread: is its mount local? Then that is remembered. */
void vroot_learn(struct vroot *, int fd, const struct stat *);
/* A device on which an open or close of what is cached waits for nobody. */
bool vroot_is_local(const struct vroot *, dev_t);

/* Whether this open regular file is of a memory file system. Waits for nobody. */
bool vroot_is_memory(const struct vroot *, int fd, const struct stat *);
/* Whether reads with RWF_NOWAIT of this open regular file, which is not in memory, never wait.
 * The first file asked about is the probe. */
bool vroot_reads_without_waiting(struct vroot *, int fd, const struct stat *);
