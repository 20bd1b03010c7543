#include "io/fd_stream.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "io/tcp.h"
#include "task/sys.h"

#define READ_BYTES (256 * 1024)

struct side {
    int fd;           /* -1: closed */
    struct io_fd *io; /* NULL: it never waits */
    bool was_blocking;
};

struct fd_stream {
    struct stream stream;
    struct side in, out; /* out.fd may be in.fd; then it has no io of its own */
    bool has_ended;
    struct chunk *held; /* read and not taken yet: nothing else tells whether there is something
                           to be read in whatever this is */
    size_t held_at, held_len;
    uint64_t sent_bytes, received_bytes;
};

static struct fd_stream *fd_of(struct stream *s)
{
    return (struct fd_stream *)(void *)s; /* its first member */
}

/* -- descriptors -- */

/* Asked of an epoll of its own, since io_fd_new() takes the descriptor even if it fails. */
static int can_wait(int fd)
{
    int epoll = sys_epoll_create();
    if (epoll < 0)
        return epoll;
    struct epoll_event event = {.events = EPOLLIN};
    int r = sys_epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    sys_close(epoll);
    return r == -EPERM ? 0 : r < 0 ? r : 1;
}

/* Takes fd. */
static int side_init(struct side *side, int fd)
{
    side->fd = fd;
    int r = can_wait(fd);
    if (r <= 0)
        return r;
    r = sys_set_nonblocking(fd, true);
    if (r < 0)
        return r;
    side->was_blocking = r == 0;
    r = io_fd_new(fd, &side->io);
    if (r < 0)
        side->fd = -1; /* it is gone */
    return r;
}

static void side_done(struct side *side)
{
    if (side->fd >= 0 && side->was_blocking)
        (void)(sys_set_nonblocking(side->fd, false) < 0); /* whose it is may have closed it */
    if (side->io != NULL)
        side->io = io_fd_close(side->io);
    else
        sys_close(side->fd);
    side->fd = -1;
}

static bool is_one(const struct fd_stream *f)
{
    return f->out.fd == f->in.fd;
}

static struct io_fd *out_io(const struct fd_stream *f)
{
    return is_one(f) ? f->in.io : f->out.io;
}

/* -- sending -- */

static int wait_writable(struct fd_stream *f, unsigned edges)
{
    io_fd_not_ready(out_io(f), IO_WRITE, edges);
    int r = io_fd_wait(out_io(f), IO_WRITE, clock_after(f->stream.stall_us));
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

static int send_bytes(struct fd_stream *f, const uint8_t *data, size_t len)
{
    while (len > 0) {
        if (f->out.fd < 0)
            return -FERRY_ECLOSED;
        unsigned edges = out_io(f) != NULL ? io_fd_edges(out_io(f), IO_WRITE) : 0;
        ssize_t n = sys_write(f->out.fd, data, len);
        if (n == -EAGAIN && out_io(f) != NULL)
            n = wait_writable(f, edges);
        if (n < 0)
            return tcp_result(n);
        data += n;
        len -= (size_t)n;
        f->sent_bytes += (uint64_t)n;
        if (len > 0 && task_turn_is_over())
            task_yield();
    }
    return 0;
}

static int fd_write(struct stream *s, const struct iovec *data, int count)
{
    int r = 0;
    for (int i = 0; i < count && r == 0; i++)
        r = send_bytes(fd_of(s), data[i].iov_base, data[i].iov_len);
    return r;
}

static int fd_send(struct stream *s, struct room *room, size_t len)
{
    int r = len > 0 ? send_bytes(fd_of(s), room->pieces[0].iov_base, len) : 0;
    chunk_unref(room->chunk);
    return r;
}

/* -- receiving -- */

static bool has_something(const struct fd_stream *f)
{
    return f->held_len > 0 || f->has_ended;
}

/* One read, which is held: 0 if there is something now, or the end; -EAGAIN. */
static int try_read(struct fd_stream *f)
{
    struct chunk *c = chunk_new(READ_BYTES);
    if (c == NULL)
        return -ENOMEM;
    unsigned edges = f->in.io != NULL ? io_fd_edges(f->in.io, IO_READ) : 0;
    ssize_t n = sys_read(f->in.fd, c->data, c->size < READ_BYTES ? c->size : READ_BYTES);
    if (n > 0) {
        f->held = c;
        f->held_at = 0;
        f->held_len = (size_t)n;
        f->received_bytes += (uint64_t)n;
        return 0;
    }
    chunk_unref(c);
    if (n == -EAGAIN && f->in.io != NULL)
        io_fd_not_ready(f->in.io, IO_READ, edges);
    f->has_ended = n == 0;
    return n == -EIO ? -FERRY_ECLOSED : tcp_result(n); /* a terminal that hung up */
}

/* 0: something is held, or the end; 1: the event. The memory comes after the wait. */
static int fd_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct fd_stream *f = fd_of(s);
    for (;;) {
        if (event != NULL && event->is_set)
            return 1;
        if (has_something(f))
            return 0;
        int r = f->in.io != NULL ? io_fd_wait_or(f->in.io, IO_READ, event, deadline) : 0;
        if (r == 0)
            r = try_read(f);
        if (r != -EAGAIN)
            return r;
    }
}

static int wait_held(struct fd_stream *f)
{
    int r = fd_wait(&f->stream, NULL, clock_after(f->stream.stall_us));
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

/* At most max bytes of what is held, and they are no longer. */
static size_t consume(struct fd_stream *f, void *data, size_t max)
{
    size_t n = f->held_len < max ? f->held_len : max;
    if (n > 0)
        memcpy(data, f->held->data + f->held_at, n);
    f->held_at += n;
    f->held_len -= n;
    if (f->held_len == 0) {
        chunk_unref(f->held);
        f->held = NULL;
    }
    return n;
}

static ssize_t fd_read(struct stream *s, void *data, size_t max)
{
    struct fd_stream *f = fd_of(s);
    int r = wait_held(f);
    return r < 0 ? r : (ssize_t)consume(f, data, max);
}

static int take_part(struct fd_stream *f, size_t max, struct slices *ret)
{
    struct chunk *c = chunk_new(max);
    if (c == NULL)
        return -ENOMEM;
    chunk_slices(&f->stream, c, consume(f, c->data, max < c->size ? max : c->size), ret);
    return 0;
}

static int fd_take(struct stream *s, size_t max, struct slices *ret)
{
    struct fd_stream *f = fd_of(s);
    int r = wait_held(f);
    if (r < 0)
        return r;
    if (f->held_len > max)
        return take_part(f, max, ret);
    *ret = (struct slices){0};
    if (f->held_len == 0)
        return 0;
    chunk_slices(s, f->held, f->held_len, ret);
    f->held->pieces[0].iov_base = f->held->data + f->held_at;
    f->held = NULL;
    f->held_len = 0;
    return 0;
}

/* -- the end -- */

static int fd_end(struct stream *s, usec_t deadline)
{
    struct fd_stream *f = fd_of(s);
    if (f->out.fd >= 0)
        sys_shutdown(f->out.fd, SHUT_WR); /* a socket; others have none */
    if (is_one(f))
        f->out.fd = -1;
    else
        side_done(&f->out);
    while (deadline != 0) {
        int r = fd_wait(s, NULL, deadline);
        if (r < 0)
            return r;
        if (f->held_len == 0)
            break;
        f->held_len = 0;
        chunk_unref(f->held);
        f->held = NULL;
        if (clock_now() >= deadline)
            return -ETIMEDOUT; /* the peer sends without end */
    }
    return 0;
}

static void fd_info(const struct stream *s, struct stream_info *ret)
{
    const struct fd_stream *f = (const struct fd_stream *)(const void *)s;
    ret->sent_bytes = f->sent_bytes;
    ret->received_bytes = f->received_bytes;
}

static void fd_free(struct stream *s)
{
    struct fd_stream *f = fd_of(s);
    if (!is_one(f))
        side_done(&f->out);
    side_done(&f->in);
    chunk_unref(f->held);
    mem_free(f);
}

static const struct stream_ops fd_ops = {
    .name = "fd",
    .room = chunk_room,
    .send = fd_send,
    .take = fd_take,
    .write = fd_write,
    .read = fd_read,
    .end = fd_end,
    .wait = fd_wait,
    .info = fd_info,
    .free = fd_free,
};

int fd_stream_new(int in_fd, int out_fd, usec_t stall_us, struct stream **ret)
{
    struct fd_stream *f = mem_new(sizeof(*f));
    if (f == NULL) {
        sys_close(in_fd);
        if (out_fd != in_fd)
            sys_close(out_fd);
        return -ENOMEM;
    }
    f->stream = (struct stream){.ops = &fd_ops, .stall_us = stall_us};
    f->out.fd = out_fd;
    int r = side_init(&f->in, in_fd);
    if (out_fd == in_fd)
        f->out.fd = f->in.fd;
    else if (r == 0)
        r = side_init(&f->out, out_fd);
    if (r < 0) {
        fd_free(&f->stream);
        return r;
    }
    *ret = &f->stream;
    return 0;
}
