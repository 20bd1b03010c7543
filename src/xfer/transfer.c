#include "xfer/transfer.h"

#include <errno.h>

#include "base/limits.h"
#include "xfer/pace.h"

/* Below a filter it is the kernel that is asked, as dear as a step of a fast stream. */
#define COUNT_EVERY_US (20 * USEC_PER_MS)

static uint64_t bytes_of_stream(const struct stream *s)
{
    struct stream_info info;
    stream_info(s, &info);
    return info.sent_bytes + info.received_bytes;
}

int transfer_init(struct transfer *t, struct vfile *file, struct stream *stream,
                  const struct xfer_request *request, struct xfer_result *result)
{
    *result = (struct xfer_result){0};
    *t = (struct transfer){
        .request = request,
        .result = result,
        .file = file,
        .stream = stream,
        .fd = stream_fd(stream),
        .offset = request->offset,
        .left = request->length,
        .started_at = clock_now(),
    };
    t->counted_at = t->started_at;
    if (t->fd == NULL)
        t->stream_before = bytes_of_stream(stream);
    return move_new(file, t->fd, &t->move);
}

/* Over a plain connection both counts are one, whoever moved the bytes; anything else turns
 * them into others and knows how many. */
static void count_wire(struct transfer *t, usec_t now)
{
    t->counted_at = now;
    t->result->wire_bytes =
        t->fd != NULL ? t->result->file_bytes : bytes_of_stream(t->stream) - t->stream_before;
}

static void note_progress(struct transfer *t)
{
    struct xfer_progress *p = t->request->progress;
    usec_t now = clock_now();
    if (t->fd != NULL || now - t->counted_at >= COUNT_EVERY_US)
        count_wire(t, now);
    if (p == NULL)
        return;
    atomic_store_explicit(&p->file_bytes, t->result->file_bytes, memory_order_relaxed);
    atomic_store_explicit(&p->wire_bytes, t->result->wire_bytes, memory_order_relaxed);
    atomic_store_explicit(&p->moved_at, now, memory_order_relaxed);
}

void transfer_done(struct transfer *t)
{
    usec_t now = clock_now();
    count_wire(t, now);
    if (t->request->progress != NULL)
        atomic_store_explicit(&t->request->progress->wire_bytes, t->result->wire_bytes,
                              memory_order_relaxed);
    t->result->seconds_us = now - t->started_at;
    move_leave(t->move);
    t->move = NULL;
}

struct pool *transfer_pool(const struct transfer *t)
{
    switch (t->path) {
    case XFER_PATH_ROOMS_POOL:
    case XFER_PATH_SENDFILE_POOL:
    case XFER_PATH_SLICES_POOL:
    case XFER_PATH_SOCKET_POOL:
        return vfile_pool(t->file);
    case XFER_PATH_ROOMS_INLINE:
    case XFER_PATH_SENDFILE_INLINE:
    case XFER_PATH_SENDFILE_CACHED:
    case XFER_PATH_SLICES_INLINE:
    case XFER_PATH_SOCKET_INLINE:
    case XFER_PATH_COUNT:
        break;
    }
    return NULL;
}

int transfer_budget(struct transfer *t, uint64_t max, uint64_t *ret)
{
    uint64_t want = t->left < max ? t->left : max;
    for (;;) {
        if (task_is_cancelled()) /* a transfer that never waits must see it too */
            return -ECANCELED;
        usec_t when;
        uint64_t n = pace_take(t->request->buckets, want, clock_now(), &when);
        if (n > 0) {
            *ret = n;
            return 0;
        }
        int r = task_sleep_until(when);
        if (r < 0)
            return r;
    }
}

void transfer_give_back(struct transfer *t, uint64_t bytes)
{
    pace_give_back(t->request->buckets, bytes);
}

void transfer_moved(struct transfer *t, uint64_t bytes)
{
    t->offset += bytes;
    if (t->left != UINT64_MAX)
        t->left -= bytes;
    t->result->file_bytes += bytes;
    if (bytes > 0)
        note_progress(t);
}

int transfer_run(struct transfer *t, void (*mover)(struct move *), struct pool *pool,
                 uint64_t budget)
{
    struct move *m = t->move;
    m->offset = t->offset;
    m->budget = budget;
    if (pool == NULL && (t->result->file_bytes > 0 || task_turn_is_over()))
        task_yield();
    int r = move_run(m, mover, pool, vfile_shares(t->file), clock_after(t->request->stall_us));
    if (r == 0 && m->end == MOVE_FAILED)
        r = m->error;
    return r;
}
