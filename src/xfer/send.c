#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "io/tcp.h"
#include "xfer/transfer.h"

#define LOWAT_EVERY_US (250 * USEC_PER_MS)
#define MANY_SENDERS   4 /* of one worker */
/* Rooms of one worker's transfers together, and of one of them (DESIGN 3.6). */
#define ROOMS_BYTES       (16 * 1024 * 1024)
#define ROOM_BYTES_MIN    (64 * 1024)
#define ROOM_BYTES_MAX    (512 * 1024)
#define ROOM_INLINE_BYTES (224 * 1024) /* seven packets of ssh, in a chunk of 256 KB */

/* -- the kernel moves them -- */

static _Thread_local unsigned senders; /* of this worker */

/* The first time only when the socket is full: a small file never needs it. */
static void refresh_lowat(const struct transfer *t, usec_t *last)
{
    usec_t now = clock_now();
    if (*last != 0 && now - *last < LOWAT_EVERY_US)
        return;
    *last = now;
    tcp_refresh_lowat(t->fd, senders >= MANY_SENDERS);
}

/* Once a file was not in the cache, the rest of it goes by jobs: probes ahead of what is read
 * would look to read-ahead like a file that is read here and there. */
static int sendfile_budget(struct transfer *t, uint64_t *ret)
{
    uint64_t step = transfer_pool(t) != NULL ? MOVE_JOB_BYTES : TASK_TURN_BYTES;
    int r = transfer_budget(t, step, ret);
    if (r == 0 && t->path == XFER_PATH_SENDFILE_CACHED &&
        !vfile_is_cached(t->file, t->offset, *ret))
        t->path = XFER_PATH_SENDFILE_POOL;
    return r;
}

static int send_by_sendfile(struct transfer *t)
{
    usec_t lowat_at = 0;
    while (t->left > 0) {
        uint64_t budget;
        int r = sendfile_budget(t, &budget);
        if (r < 0)
            return r;
        unsigned edges = io_fd_edges(t->fd, IO_WRITE);
        r = transfer_run(t, move_sendfile, transfer_pool(t), budget);
        uint64_t moved = atomic_load(&t->move->moved);
        transfer_give_back(t, budget - moved);
        transfer_moved(t, moved);
        if (r < 0)
            return r;
        if (t->move->end == MOVE_ENDED)
            return -FERRY_ETRUNCATED;
        if (t->move->end == MOVE_AGAIN) {
            refresh_lowat(t, &lowat_at);
            io_fd_not_ready(t->fd, IO_WRITE, edges);
            r = tcp_wait_ready(t->fd, IO_WRITE, t->request->stall_us);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* -- through rooms of the stream -- */

static _Thread_local unsigned rooms_transfers; /* of this worker */

static uint64_t room_bytes(const struct transfer *t)
{
    if (t->path == XFER_PATH_ROOMS_INLINE)
        return ROOM_INLINE_BYTES; /* read, sealed and sent, it does not stop the loop for long
                                   */
    uint64_t share = ROOMS_BYTES / rooms_transfers;
    return share < ROOM_BYTES_MIN   ? ROOM_BYTES_MIN
           : share > ROOM_BYTES_MAX ? ROOM_BYTES_MAX
                                    : share;
}

/* Inline, a file that is not in memory answers "not now", and this read goes to the pool; one
 * of a memory file system knows no such flag and needs none. */
static int read_into(struct transfer *t, uint64_t len)
{
    struct move *m = t->move;
    struct pool *pool = transfer_pool(t);
    if (pool == NULL && vfile_pool(t->file) != NULL && !vfile_is_in_memory(t->file)) {
        m->read_flags = RWF_NOWAIT;
        int r = transfer_run(t, move_read, NULL, len);
        m->read_flags = 0;
        if (r != -EAGAIN)
            return r;
        pool = vfile_pool(t->file);
    }
    return transfer_run(t, move_read, pool, len);
}

static int send_room(struct transfer *t, uint64_t budget)
{
    struct room room;
    int r = stream_room(t->stream, budget, &room);
    if (r < 0)
        return r;
    move_set_memory(t->move, room.chunk, room.pieces, room.count);
    r = read_into(t, room.len);
    uint64_t len = r == 0 ? atomic_load(&t->move->moved) : 0;
    move_set_memory(t->move, NULL, NULL, 0);
    if (r == 0 && len == 0)
        r = -FERRY_ETRUNCATED;
    if (r < 0) {
        room_drop(&room);
        return r;
    }
    r = stream_send(t->stream, &room, len);
    if (r < 0)
        return r;
    transfer_give_back(t, budget - len);
    transfer_moved(t, len);
    return 0;
}

static int send_by_rooms(struct transfer *t)
{
    int r = 0;
    rooms_transfers++;
    while (t->left > 0 && r == 0) {
        uint64_t budget;
        r = transfer_budget(t, room_bytes(t), &budget);
        if (r == 0)
            r = send_room(t, budget);
    }
    rooms_transfers--;
    return r;
}

/* -- which way -- */

static int send_planned(struct transfer *t, struct xfer_facts *facts)
{
    t->path = xfer_plan(facts);
    if (t->path == XFER_PATH_ROOMS_INLINE || t->path == XFER_PATH_ROOMS_POOL)
        return send_by_rooms(t);
    senders++;
    int r = send_by_sendfile(t);
    senders--;
    if (r != -EINVAL || t->result->file_bytes > 0)
        return r;
    facts->sendfile_refused = true;
    t->path = xfer_plan(facts);
    return send_by_rooms(t);
}

/* What is sent ends where the file ended when it was opened: a file that grows meanwhile does
 * not keep a transfer alive. */
static int bound_to_file(struct transfer *t)
{
    uint64_t size = vfile_stat(t->file)->size_bytes;
    if (t->offset > size)
        return -EINVAL;
    if (t->left > size - t->offset)
        t->left = size - t->offset;
    return 0;
}

int xfer_send(struct vfile *file, struct stream *stream, const struct xfer_request *request,
              struct xfer_result *ret)
{
    struct transfer t;
    int r = transfer_init(&t, file, stream, request, ret);
    if (r == 0)
        r = bound_to_file(&t);
    if (r == 0) {
        struct xfer_facts facts = {
            .direction = XFER_SEND,
            .stream_has_fd = t.fd != NULL,
            .file_reads_without_waiting = vfile_reads_without_waiting(file),
            .file_is_in_memory = vfile_is_in_memory(file),
            .has_pool = vfile_pool(file) != NULL,
            .is_small = t.left <= XFER_SMALL_BYTES,
            .sendfile_refused = !vfile_may_sendfile(file),
        };
        r = send_planned(&t, &facts);
    }
    transfer_done(&t);
    return r;
}
