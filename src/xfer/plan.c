#include "xfer/plan.h"

static enum xfer_path plan_send(const struct xfer_facts *f)
{
    bool needs_pool = f->has_pool && !f->file_is_in_memory;
    /* A copy of 64 KB costs a few microseconds, the trip to the pool that sendfile needs (it
     * has no "only if it need not wait") forty. */
    bool copies = needs_pool && f->is_small && f->file_reads_without_waiting;
    if (f->stream_has_fd && !f->sendfile_refused && !copies) {
        if (!needs_pool)
            return XFER_PATH_SENDFILE_INLINE;
        return f->file_reads_without_waiting ? XFER_PATH_SENDFILE_CACHED
                                             : XFER_PATH_SENDFILE_POOL;
    }
    if (f->file_reads_without_waiting || !needs_pool)
        return XFER_PATH_ROOMS_INLINE;
    return XFER_PATH_ROOMS_POOL;
}

/* A write may wait for a disk, whatever reads can do: a journal that commits, pages that are
 * over the limit of dirty ones. No file system says so beforehand, so when there is a pool it
 * does not run on the loop. To memory it could, but new pages cost so much more than sent ones
 * that the sessions of a loop with many uploads would wait for it: there only a small file's
 * one write stays (xfer/receive.c). */
static enum xfer_path plan_receive(const struct xfer_facts *f)
{
    if (f->stream_has_fd)
        return f->has_pool ? XFER_PATH_SOCKET_POOL : XFER_PATH_SOCKET_INLINE;
    return f->has_pool ? XFER_PATH_SLICES_POOL : XFER_PATH_SLICES_INLINE;
}

enum xfer_path xfer_plan(const struct xfer_facts *f)
{
    return f->direction == XFER_SEND ? plan_send(f) : plan_receive(f);
}
