#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "io/tcp.h"
#include "task/sys.h"
#include "xfer/transfer.h"

#define TAKE_BYTES (256 * 1024) /* slices at a time */

/* Quota is taken here and not in the job: a job may outlive the upload. The file gets what is
 * allowed to the last byte, and the next byte fails. Returns that much of want in *ret, at
 * least 1; -FERRY_EQUOTA: nothing more. */
static int reserve(struct vupload *u, uint64_t offset, uint64_t want, uint64_t *ret)
{
    uint64_t granted = 0;
    int r = vupload_reserve(u, offset + want);
    if (r == 0)
        granted = want;
    while (r == -FERRY_EQUOTA && want - granted > 1) {
        uint64_t middle = granted + (want - granted) / 2;
        int tried = vupload_reserve(u, offset + middle);
        if (tried == 0)
            granted = middle;
        else if (tried == -FERRY_EQUOTA)
            want = middle;
        else
            r = tried;
    }
    if (granted == 0)
        return r;
    *ret = granted;
    return 0;
}

/* -- from the socket -- */

/* 1: there are bytes; 0: the peer has ended. Asked before each job, which costs a hundredth of
 * one: no trip to the pool ends with "not yet", and none is made for the end or an empty file.
 * So a small file whose bytes and end are here costs one job, the write that must not run on
 * the loop. */
static int wait_for_bytes(struct transfer *t)
{
    for (;;) {
        int r = tcp_wait_ready(t->fd, IO_READ, t->request->stall_us);
        if (r < 0)
            return r;
        uint8_t first;
        unsigned edges = io_fd_edges(t->fd, IO_READ);
        ssize_t n = sys_recv(io_fd_number(t->fd), &first, 1, MSG_PEEK);
        if (n != -EAGAIN)
            return tcp_result(n);
        io_fd_not_ready(t->fd, IO_READ, edges);
    }
}

/* One run: 1: go on; 0: the peer has ended. */
static int receive_step(struct transfer *t, struct vupload *u, struct pool *pool, uint64_t step)
{
    uint64_t budget, allowed;
    int r = transfer_budget(t, step, &budget);
    if (r < 0)
        return r;
    r = reserve(u, t->offset, budget, &allowed);
    if (r < 0) {
        transfer_give_back(t, budget);
        return r;
    }
    unsigned edges = io_fd_edges(t->fd, IO_READ);
    bool is_long = pool != NULL && t->move->is_dense;
    if (is_long)
        io_fd_mute(t->fd);
    r = transfer_run(t, move_from_socket, pool, allowed);
    if (is_long)
        io_fd_unmute(t->fd);
    uint64_t moved = atomic_load(&t->move->moved);
    transfer_give_back(t, budget - moved);
    transfer_moved(t, moved);
    if (r < 0)
        return r;
    if (t->move->end == MOVE_AGAIN)
        io_fd_not_ready(t->fd, IO_READ, edges);
    return t->move->end != MOVE_ENDED;
}

/* The first bytes of a file in memory are written here: with a small file that is all of it. */
static int receive_first(struct transfer *t, struct vupload *u)
{
    int r = wait_for_bytes(t);
    return r > 0 ? receive_step(t, u, NULL, XFER_SMALL_BYTES) : r;
}

static int receive_from_socket(struct transfer *t, struct vupload *u)
{
    struct pool *pool = transfer_pool(t);
    uint64_t step = pool != NULL ? MOVE_JOB_BYTES : TASK_TURN_BYTES;
    int r = vfile_is_in_memory(t->file) ? receive_first(t, u) : 1;
    while (r > 0 && t->left > 0) {
        r = wait_for_bytes(t);
        if (r > 0)
            r = receive_step(t, u, pool, step);
    }
    return r < 0 ? r : 0;
}

/* -- slices of the stream -- */

static int write_slices(struct transfer *t, struct vupload *u, const struct slices *slices)
{
    uint64_t allowed;
    int r = reserve(u, t->offset, slices->len, &allowed);
    if (r < 0)
        return r;
    move_set_memory(t->move, slices->chunk, slices->pieces, slices->count);
    struct pool *pool = vfile_is_in_memory(t->file) ? NULL : transfer_pool(t);
    r = transfer_run(t, move_from_memory, pool, allowed);
    move_set_memory(t->move, NULL, NULL, 0);
    transfer_moved(t, atomic_load(&t->move->moved));
    if (r == 0 && allowed < slices->len)
        r = -FERRY_EQUOTA;
    return r;
}

/* As receive_step(). */
static int slices_step(struct transfer *t, struct vupload *u)
{
    struct slices slices;
    uint64_t budget;
    int r = transfer_budget(t, TAKE_BYTES, &budget);
    if (r < 0)
        return r;
    r = stream_take(t->stream, budget, &slices);
    if (r < 0)
        return r;
    transfer_give_back(t, budget - slices.len);
    r = slices.len > 0 ? write_slices(t, u, &slices) : 0;
    int more = slices.len > 0;
    slices_drop(&slices);
    return r < 0 ? r : more;
}

static int receive_slices(struct transfer *t, struct vupload *u)
{
    int r = 1;
    while (r > 0 && t->left > 0) {
        /* the wait comes before the budget, which is for bytes that are here */
        r = stream_wait(t->stream, NULL, clock_after(t->request->stall_us));
        if (r == -ETIMEDOUT)
            r = -FERRY_ESTALLED;
        if (r == 0)
            r = slices_step(t, u);
    }
    return r;
}

int xfer_receive(struct stream *stream, struct vupload *u, const struct xfer_request *request,
                 struct xfer_result *ret)
{
    struct transfer t;
    struct vfile *file = vupload_file(u);
    int r = transfer_init(&t, file, stream, request, ret);
    if (r == 0) {
        const struct xfer_facts facts = {
            .direction = XFER_RECEIVE,
            .stream_has_fd = t.fd != NULL,
            .has_pool = vfile_pool(file) != NULL,
        };
        t.path = xfer_plan(&facts);
        t.offset = vupload_offset(u);
        r = t.fd != NULL ? receive_from_socket(&t, u) : receive_slices(&t, u);
    }
    transfer_done(&t);
    return r;
}
