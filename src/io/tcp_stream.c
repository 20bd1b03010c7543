/* The stream over a connected socket: no queue, no buffer. What a write was given is in the
 * kernel when it returns, so an idle session holds nothing here but this struct. */
#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "io/tcp_internal.h"
#include "task/sys.h"

#define SENDMSG_PIECES 16           /* of one call; they lie on the stack */
#define TAKE_BYTES_MAX (256 * 1024) /* of one take */
#define WASTE_BYTES    1024         /* thrown away at a time; they lie on the stack too */

struct tcp_stream {
    struct stream stream;
    struct io_fd *fd;
    uint64_t sent_bytes, received_bytes;
    unsigned tried; /* what io_fd_edges() was when a read was tried last */
};

static_assert(sizeof(struct tcp_stream) <= 64, "an idle session has one");

static struct tcp_stream *tcp_of(struct stream *s)
{
    return (struct tcp_stream *)(void *)s; /* its first member */
}

static const struct tcp_stream *tcp_of_const(const struct stream *s)
{
    return (const struct tcp_stream *)(const void *)s;
}

/* -- sending -- */

/* What is left of a list of pieces. */
struct pieces_left {
    const struct iovec *pieces;
    int count;
    size_t skip; /* of the first */
    size_t len;  /* to send; may be less than the pieces hold */
};

static void advance(struct pieces_left *left, size_t len)
{
    left->len -= len;
    left->skip += len;
    while (left->count > 0 && left->skip >= left->pieces->iov_len) {
        left->skip -= left->pieces->iov_len;
        left->pieces++;
        left->count--;
    }
}

static ssize_t send_some(const struct tcp_stream *t, const struct pieces_left *left)
{
    if (left->count == 1) /* a reply: without a list of pieces it costs less */
        return sys_send(io_fd_number(t->fd), (uint8_t *)left->pieces->iov_base + left->skip,
                        left->len, 0);
    struct iovec window[SENDMSG_PIECES];
    struct msghdr message = {.msg_iov = window};
    size_t skip = left->skip, len = left->len;
    for (int i = 0; i < left->count && i < SENDMSG_PIECES && len > 0; i++) {
        struct iovec piece = left->pieces[i];
        piece.iov_base = (uint8_t *)piece.iov_base + skip;
        piece.iov_len -= skip;
        if (piece.iov_len > len)
            piece.iov_len = len;
        len -= piece.iov_len;
        skip = 0;
        window[message.msg_iovlen++] = piece;
    }
    return sys_sendmsg(io_fd_number(t->fd), &message, 0);
}

static int send_pieces(struct tcp_stream *t, struct pieces_left left)
{
    size_t in_turn = 0;
    while (left.len > 0) {
        unsigned edges = io_fd_edges(t->fd, IO_WRITE);
        ssize_t n = send_some(t, &left);
        if (n == -EAGAIN) {
            io_fd_not_ready(t->fd, IO_WRITE, edges);
            n = tcp_wait_ready(t->fd, IO_WRITE, t->stream.stall_us);
        }
        if (n < 0)
            return tcp_result(n);
        advance(&left, (size_t)n);
        t->sent_bytes += (uint64_t)n;
        in_turn += (size_t)n;
        if (left.len > 0 && in_turn >= TASK_TURN_BYTES) {
            in_turn = 0;
            task_yield();
        }
    }
    return 0;
}

static int tcp_send(struct stream *s, struct room *room, size_t len)
{
    struct pieces_left left = {.pieces = room->pieces, .count = (int)room->count, .len = len};
    int r = send_pieces(tcp_of(s), left);
    chunk_unref(room->chunk);
    return r;
}

static int tcp_write(struct stream *s, const struct iovec *data, int count)
{
    struct pieces_left left = {.pieces = data, .count = count};
    for (int i = 0; i < count; i++)
        left.len += data[i].iov_len;
    return send_pieces(tcp_of(s), left);
}

static ssize_t tcp_try_write(struct stream *s, const struct iovec *data, int count)
{
    struct tcp_stream *t = tcp_of(s);
    struct pieces_left left = {.pieces = data, .count = count};
    for (int i = 0; i < count; i++)
        left.len += data[i].iov_len;
    unsigned edges = io_fd_edges(t->fd, IO_WRITE);
    ssize_t n = send_some(t, &left);
    if (n == -EAGAIN) {
        io_fd_not_ready(t->fd, IO_WRITE, edges);
        return n;
    }
    if (n > 0)
        t->sent_bytes += (uint64_t)n;
    return n < 0 ? tcp_result(n) : n;
}

/* -- receiving -- */

static int wait_readable(struct tcp_stream *t, unsigned edges)
{
    io_fd_not_ready(t->fd, IO_READ, edges);
    return tcp_wait_ready(t->fd, IO_READ, t->stream.stall_us);
}

static ssize_t tcp_read(struct stream *s, void *data, size_t max)
{
    struct tcp_stream *t = tcp_of(s);
    for (;;) {
        unsigned edges = t->tried = io_fd_edges(t->fd, IO_READ);
        ssize_t n = sys_recv(io_fd_number(t->fd), data, max, 0);
        if (n == -EAGAIN) {
            int r = wait_readable(t, edges);
            if (r < 0)
                return r;
            continue;
        }
        if (n > 0 && (size_t)n < max)
            io_fd_read_short(t->fd, edges);
        if (n > 0)
            t->received_bytes += (uint64_t)n;
        return n < 0 ? tcp_result(n) : n;
    }
}

static int tcp_take(struct stream *s, size_t max, struct slices *ret)
{
    struct tcp_stream *t = tcp_of(s);
    if (max > TAKE_BYTES_MAX)
        max = TAKE_BYTES_MAX;
    for (;;) {
        /* the chunk comes after the wait: who waits for a slow peer holds no memory */
        int r = tcp_wait_ready(t->fd, IO_READ, s->stall_us);
        if (r < 0)
            return r;
        struct chunk *c = chunk_new(max);
        if (c == NULL)
            return -ENOMEM;
        unsigned edges = t->tried = io_fd_edges(t->fd, IO_READ);
        ssize_t n = sys_recv(io_fd_number(t->fd), c->data, max, 0);
        if (n > 0) {
            t->received_bytes += (uint64_t)n;
            chunk_slices(s, c, (size_t)n, ret);
            return 0;
        }
        chunk_unref(c);
        if (n == 0)
            *ret = (struct slices){0};
        if (n != -EAGAIN)
            return tcp_result(n);
        io_fd_not_ready(t->fd, IO_READ, edges);
    }
}

/* A descriptor that is `ready` may still have nothing to read; whoever waits here for one of
 * two things would then sit in a read and miss the other. So it is tried, unless an edge has
 * come since the last try: epoll tells of one only while there is something. */
static int tcp_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct tcp_stream *t = tcp_of(s);
    for (;;) {
        int r = io_fd_wait_or(t->fd, IO_READ, event, deadline);
        if (r != 0)
            return r;
        uint8_t first;
        unsigned edges = io_fd_edges(t->fd, IO_READ);
        if (edges != t->tried)
            return 0;
        ssize_t n = sys_recv(io_fd_number(t->fd), &first, 1, MSG_PEEK);
        if (n >= 0)
            return 0;
        if (n != -EAGAIN)
            return tcp_result(n); /* the kernel tells it once: a read would wait for bytes */
        io_fd_not_ready(t->fd, IO_READ, edges);
    }
}

/* -- the end -- */

static int tcp_end(struct stream *s, usec_t deadline)
{
    struct tcp_stream *t = tcp_of(s);
    uint8_t waste[WASTE_BYTES];
    sys_shutdown(io_fd_number(t->fd), SHUT_WR);
    while (deadline != 0) {
        if (task_turn_is_over())
            task_yield();
        unsigned edges = t->tried = io_fd_edges(t->fd, IO_READ);
        ssize_t n = sys_recv(io_fd_number(t->fd), waste, sizeof(waste), 0);
        if (n == -EAGAIN) {
            io_fd_not_ready(t->fd, IO_READ, edges);
            int r = io_fd_wait(t->fd, IO_READ, deadline);
            if (r < 0)
                return r;
        } else if (n <= 0) {
            return tcp_result(n);
        } else if (clock_now() >= deadline) {
            return -ETIMEDOUT; /* the peer sends without end */
        } else if (task_is_cancelled()) {
            return -ECANCELED;
        }
    }
    return 0;
}

static struct io_fd *tcp_fd(const struct stream *s)
{
    return tcp_of_const(s)->fd;
}

static void tcp_info(const struct stream *s, struct stream_info *ret)
{
    const struct tcp_stream *t = tcp_of_const(s);
    ret->sent_bytes = t->sent_bytes;
    ret->received_bytes = t->received_bytes;
    tcp_info_into(t->fd, ret);
}

static void tcp_free(struct stream *s)
{
    struct tcp_stream *t = tcp_of(s);
    (void)io_fd_close(t->fd);
    mem_free(t);
}

static const struct stream_ops tcp_ops = {
    .name = "tcp",
    .room = chunk_room,
    .send = tcp_send,
    .take = tcp_take,
    .write = tcp_write,
    .try_write = tcp_try_write,
    .read = tcp_read,
    .end = tcp_end,
    .wait = tcp_wait,
    .fd = tcp_fd,
    .info = tcp_info,
    .free = tcp_free,
};

int tcp_stream_new(struct io_fd *f, usec_t stall_us, struct stream **ret)
{
    struct tcp_stream *t = mem_new(sizeof(*t));
    if (t == NULL) {
        (void)io_fd_close(f);
        return -ENOMEM;
    }
    t->stream = (struct stream){.ops = &tcp_ops, .stall_us = stall_us};
    t->fd = f;
    t->tried = io_fd_edges(f, IO_READ); /* whoever had it before may have read */
    *ret = &t->stream;
    return 0;
}

int tcp_stream_accepted(int fd, usec_t stall_us, struct stream **ret)
{
    struct io_fd *io;
    int r = io_fd_new(fd, &io);
    if (r < 0)
        return r;
    io_fd_not_ready(io, IO_READ, io_fd_edges(io, IO_READ));
    return tcp_stream_new(io, stall_us, ret);
}
