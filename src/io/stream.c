#include "io/stream.h"

#include <assert.h>
#include <errno.h>

#include "io/chunk.h"
#include "io/tcp_internal.h"

/* The fairness rule stands here, once for all kinds of streams: a task whose calls never park,
 * because its peer is fast, gives way when its turn is over. */
static void give_way(void)
{
    if (task_turn_is_over())
        task_yield();
}

int stream_room(struct stream *s, size_t want, struct room *ret)
{
    assert(want > 0);
    return s->ops->room(s, want, ret);
}

int stream_send(struct stream *s, struct room *room, size_t len)
{
    assert(room->stream == s && len <= room->len);
    give_way();
    struct room taken = *room;
    *room = (struct room){0};
    return s->ops->send(s, &taken, len);
}

void room_drop(struct room *room)
{
    if (room->stream == NULL)
        return;
    if (room->stream->ops->room_drop != NULL)
        room->stream->ops->room_drop(room);
    else
        chunk_unref(room->chunk);
    *room = (struct room){0};
}

int stream_take(struct stream *s, size_t max, struct slices *ret)
{
    assert(max > 0);
    give_way();
    return s->ops->take(s, max, ret);
}

void slices_drop(struct slices *slices)
{
    if (slices->stream == NULL)
        return;
    if (slices->stream->ops->slices_drop != NULL)
        slices->stream->ops->slices_drop(slices);
    else
        chunk_unref(slices->chunk);
    *slices = (struct slices){0};
}

int stream_write(struct stream *s, const struct iovec *data, int count)
{
    give_way();
    return s->ops->write(s, data, count);
}

ssize_t stream_try_write(struct stream *s, const struct iovec *data, int count)
{
    return s->ops->try_write != NULL ? s->ops->try_write(s, data, count) : -EAGAIN;
}

int stream_write_bytes(struct stream *s, struct bytes b)
{
    struct iovec piece = {.iov_len = b.len};
    /* iovec has no const; the streams only read what they write */
    memcpy(&piece.iov_base, &b.data, sizeof(piece.iov_base));
    return stream_write(s, &piece, 1);
}

ssize_t stream_read(struct stream *s, void *data, size_t max)
{
    assert(max > 0);
    give_way();
    return s->ops->read(s, data, max);
}

int stream_flush(struct stream *s)
{
    return s->ops->flush != NULL ? s->ops->flush(s) : 0;
}

int stream_end(struct stream *s, usec_t deadline)
{
    return s->ops->end(s, deadline);
}

int stream_wait(struct stream *s, struct event *event, usec_t deadline)
{
    return s->ops->wait(s, event, deadline);
}

struct io_fd *stream_fd(const struct stream *s)
{
    return s->ops->fd != NULL ? s->ops->fd(s) : NULL;
}

void stream_info(const struct stream *s, struct stream_info *ret)
{
    *ret = (struct stream_info){0};
    s->ops->info(s, ret);
}

void stream_bound_unsent(struct stream *s, size_t bytes)
{
    struct io_fd *f = stream_fd(s);
    if (s->ops->bound_unsent != NULL)
        s->ops->bound_unsent(s, bytes);
    else if (f != NULL && bytes != SIZE_MAX)
        tcp_bound_unsent(f, bytes);
}

struct stream *stream_free(struct stream *s)
{
    if (s != NULL)
        s->ops->free(s);
    return NULL;
}
