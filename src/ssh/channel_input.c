/* What a channel has received and nobody has taken yet. It lies where it was decrypted, in
 * chunks that hold other packets too; what is short is copied into a chunk of the channel's. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "ssh/connection_internal.h"

#define COPY_BELOW  1024 /* received data up to here is copied out: a slice pins its chunk */
#define SMALL_CHUNK 4096

/* -- what is held -- */

static void hold(struct ssh_channel *ch, struct chunk *c)
{
    if (c->held++ == 0)
        ch->connection->held_bytes += c->size;
}

static void let_go(struct ssh_channel *ch, struct chunk *c)
{
    struct ssh_connection *conn = ch->connection;
    bool was_full = ssh_connection_is_full(conn);
    if (--c->held == 0)
        conn->held_bytes -= c->size;
    chunk_unref(c);
    if (was_full && !ssh_connection_is_full(conn) && conn->settings->wake != NULL)
        event_set(conn->settings->wake);
}

static void input_free(struct ssh_input *in)
{
    list_remove(&in->node);
    mem_free(in);
}

void ssh_channel_drop_input(struct ssh_channel *ch)
{
    LIST_EACH_SAFE(it, &ch->input)
    {
        struct ssh_input *in = LIST_ENTRY(it, struct ssh_input, node);
        struct chunk *c = in->chunk;
        input_free(in);
        let_go(ch, c);
    }
}

/* -- receiving -- */

static struct ssh_input *last_input(struct ssh_channel *ch)
{
    return list_empty(&ch->input) ? NULL : LIST_ENTRY(ch->input.prev, struct ssh_input, node);
}

/* A piece of the chunk as new input: one run with the last if they stand side by side. */
static int add_piece(struct ssh_channel *ch, struct chunk *c, uint8_t *data, size_t len)
{
    struct ssh_input *in = last_input(ch);
    bool goes_on = in != NULL && in->chunk == c && in->first + in->count == c->used;
    if (!goes_on) {
        in = mem_new(sizeof(*in));
        if (in == NULL)
            return -ENOMEM;
        *in = (struct ssh_input){.chunk = chunk_ref(c), .first = c->used};
        hold(ch, c);
        list_append(&ch->input, &in->node);
    }
    c->pieces[c->used++] = (struct iovec){data, len};
    in->count++;
    in->len += len;
    return 0;
}

/* Behind what is in the last chunk of copies, as far as nobody has taken it. */
static bool append_copy(struct ssh_channel *ch, struct bytes data)
{
    struct ssh_input *in = last_input(ch);
    if (in == NULL || !in->is_copy || in->first + in->count != in->chunk->used)
        return false;
    struct iovec *last = &in->chunk->pieces[in->chunk->used - 1];
    uint8_t *end = (uint8_t *)last->iov_base + last->iov_len;
    if (data.len > (size_t)(in->chunk->data + in->chunk->size - end))
        return false;
    memcpy(end, data.data, data.len);
    last->iov_len += data.len;
    in->len += data.len;
    return true;
}

static int add_copy(struct ssh_channel *ch, struct bytes data)
{
    if (append_copy(ch, data))
        return 0;
    struct chunk *c = chunk_new(data.len > SMALL_CHUNK ? data.len : SMALL_CHUNK);
    if (c == NULL)
        return -ENOMEM;
    memcpy(c->data, data.data, data.len);
    int r = add_piece(ch, c, c->data, data.len);
    if (r == 0)
        last_input(ch)->is_copy = true;
    chunk_unref(c);
    return r;
}

/* A slice keeps its whole chunk. Beyond the cap, where credit is the only bound, that would be
 * any multiple of the credit: the peer decides what else lies in the chunk. */
static bool must_copy(const struct ssh_channel *ch, struct bytes data, const struct chunk *c)
{
    return data.len < COPY_BELOW || c->used == ROOM_PIECES_MAX ||
           ch->connection->held_bytes > SSH_INPUT_CAP;
}

int ssh_channel_receive(struct ssh_channel *ch, struct bytes data, struct chunk *c)
{
    uint8_t *at = c->data + (data.data - c->data);
    int r = must_copy(ch, data, c) ? add_copy(ch, data) : add_piece(ch, c, at, data.len);
    if (r < 0)
        return r;
    ch->received_bytes += data.len;
    event_set(&ch->readable);
    return 0;
}

/* -- waiting -- */

int ssh_channel_wait_readable(struct ssh_channel *ch, usec_t deadline)
{
    while (list_empty(&ch->input)) {
        if (ch->has_peer_eof)
            return 0;
        if (ch->connection->is_broken)
            return -FERRY_ECLOSED;
        if (ch->has_peer_close)
            return 0;
        event_clear(&ch->readable);
        int r = event_wait(&ch->readable, deadline);
        if (r < 0)
            return r;
    }
    return 0;
}

static int wait_input(struct ssh_channel *ch)
{
    int r = ssh_channel_wait_readable(ch, clock_after(ch->stream.stall_us));
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

/* What the reader is done with: the peer may send as much again. */
static void drop_bytes(struct ssh_channel *ch, size_t len)
{
    ch->dropped += (uint32_t)len;
    (void)(ssh_channel_adjust(ch) < 0); /* the queue's error is seen by the session task */
}

/* -- taking -- */

/* Takes whole pieces while they fit into max, or a part of the first, which gets a piece of its
 * own: those that were handed out stay as they are. */
static int take_pieces(struct ssh_channel *ch, struct ssh_input *in, size_t max,
                       struct slices *ret)
{
    struct chunk *c = in->chunk;
    const struct iovec *pieces = c->pieces + in->first;
    unsigned count = 0;
    size_t len = 0;
    while (count < in->count && pieces[count].iov_len <= max - len)
        len += pieces[count++].iov_len;
    if (count == in->count) { /* all: the reference goes with it */
        *ret = (struct slices){&ch->stream, c, pieces, count, len};
        input_free(in);
        return 0;
    }
    if (count > 0) {
        in->first += count;
        in->count -= count;
    } else {
        if (c->used == ROOM_PIECES_MAX)
            return -ENOBUFS;
        struct iovec *first = &c->pieces[in->first];
        c->pieces[c->used] = (struct iovec){first->iov_base, max};
        first->iov_base = (uint8_t *)first->iov_base + max;
        first->iov_len -= max;
        pieces = &c->pieces[c->used++];
        count = 1;
        len = max;
    }
    in->len -= len;
    hold(ch, chunk_ref(c));
    *ret = (struct slices){&ch->stream, c, pieces, count, len};
    return 0;
}

static size_t copy_out(struct ssh_channel *ch, uint8_t *data, size_t max)
{
    size_t done = 0;
    while (done < max && !list_empty(&ch->input)) {
        struct ssh_input *in = LIST_ENTRY(ch->input.next, struct ssh_input, node);
        struct iovec *piece = &in->chunk->pieces[in->first];
        size_t n = piece->iov_len < max - done ? piece->iov_len : max - done;
        memcpy(data + done, piece->iov_base, n);
        done += n;
        in->len -= n;
        piece->iov_base = (uint8_t *)piece->iov_base + n;
        piece->iov_len -= n;
        if (piece->iov_len == 0) {
            in->first++;
            in->count--;
        }
        if (in->count == 0) {
            struct chunk *c = in->chunk;
            input_free(in);
            let_go(ch, c);
        }
    }
    return done;
}

ssize_t ssh_channel_read(struct stream *s, void *data, size_t max)
{
    struct ssh_channel *ch = ssh_channel_of(s);
    int r = wait_input(ch);
    if (r < 0)
        return r;
    size_t n = copy_out(ch, data, max);
    drop_bytes(ch, n);
    return (ssize_t)n;
}

/* The chunk has no piece left for a part of one: a copy. */
static int take_copy(struct ssh_channel *ch, size_t max, struct slices *ret)
{
    struct chunk *c = chunk_new(max);
    if (c == NULL)
        return -ENOMEM;
    size_t len = copy_out(ch, c->data, max < c->size ? max : c->size);
    c->pieces[0] = (struct iovec){c->data, len};
    c->used = 1;
    hold(ch, c);
    *ret = (struct slices){&ch->stream, c, c->pieces, 1, len};
    return 0;
}

int ssh_channel_take(struct stream *s, size_t max, struct slices *ret)
{
    struct ssh_channel *ch = ssh_channel_of(s);
    int r = wait_input(ch);
    if (r < 0)
        return r;
    if (list_empty(&ch->input)) {
        *ret = (struct slices){0};
        return 0;
    }
    r = take_pieces(ch, LIST_ENTRY(ch->input.next, struct ssh_input, node), max, ret);
    return r == -ENOBUFS ? take_copy(ch, max, ret) : r;
}

void ssh_channel_slices_drop(struct slices *slices)
{
    struct ssh_channel *ch = ssh_channel_of(slices->stream);
    if (slices->chunk == NULL)
        return;
    let_go(ch, slices->chunk);
    drop_bytes(ch, slices->len);
}

int ssh_channel_drain(struct ssh_channel *ch, usec_t deadline)
{
    for (;;) {
        uint8_t waste[COPY_BELOW];
        int r = ssh_channel_wait_readable(ch, deadline);
        if (r < 0 || list_empty(&ch->input))
            return r;
        drop_bytes(ch, copy_out(ch, waste, sizeof(waste)));
    }
}
