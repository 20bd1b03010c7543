/* A channel as a stream. Sending: rooms whose pieces are bodies of packets, sealed in place.
 * Receiving is in channel_input.c. */
#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "ssh/connection_internal.h"

#define HEAD        16 /* before a piece: SSH_PACKET_HEAD and SSH_DATA_HEAD, aligned */
#define PIECE_MAX   (32 * 1024)
#define WRITE_SMALL 512 /* a write up to here is one message, copied */
#define WRITE_ROOM  (256 * 1024)
#define ERROR_HEAD  13 /* of EXTENDED_DATA */

static_assert(HEAD >= SSH_PACKET_HEAD + SSH_DATA_HEAD, "the heads fit before a piece");

/* -- sending -- */

static int check_writable(const struct ssh_channel *ch)
{
    const struct ssh_connection *c = ch->connection;
    bool is_over = c->is_broken || ch->has_peer_close || ch->has_sent_eof || ch->owes_eof ||
                   c->transport->out.error < 0;
    return is_over ? -FERRY_ECLOSED : 0;
}

static usec_t stall_deadline(const struct ssh_channel *ch)
{
    return clock_after(ch->stream.stall_us);
}

static int wait_window(struct ssh_channel *ch, usec_t deadline)
{
    usec_t began = clock_now();
    event_clear(&ch->writable);
    ssh_connection_wait_begin(ch->connection);
    int r = event_wait(&ch->writable, deadline);
    ssh_connection_wait_end(ch->connection);
    ch->connection->window_wait_us += clock_now() - began;
    return r;
}

static usec_t earlier(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

/* Until the gate is open, and the channel still takes data then; at most until `last`. */
static int wait_gate(struct ssh_channel *ch, usec_t last)
{
    usec_t deadline = earlier(stall_deadline(ch), last);
    int r = ssh_transport_gate(ch->connection->transport, deadline);
    if (r == 0)
        return check_writable(ch);
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

static bool is_over_budget(void)
{
    return *ssh_transport_worker_output() >= SSH_WORKER_OUTPUT_MAX;
}

/* Until the peer takes a byte and what is unsent leaves place for a batch; or is nothing, if
 * the worker's budget is used up. At most until `last`. */
static int wait_writable(struct ssh_channel *ch, usec_t last)
{
    struct ssh_transport *t = ch->connection->transport;
    for (;;) {
        int r = check_writable(ch);
        if (r < 0)
            return r;
        usec_t deadline = earlier(stall_deadline(ch), last);
        size_t unsent = ssh_transport_unsent(t);
        if (unsent > (is_over_budget() ? 0 : ssh_transport_unsent_max(t, SSH_OUTPUT_CAP / 2)))
            r = ssh_transport_drain(t, unsent - 1, deadline); /* a step is progress */
        else if (ch->peer_window > 0)
            return 0;
        else
            r = wait_window(ch, deadline);
        if (r < 0)
            return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
    }
}

static size_t piece_max(const struct ssh_channel *ch)
{
    return ch->peer_packet_max < PIECE_MAX ? ch->peer_packet_max : PIECE_MAX;
}

static int channel_room(struct stream *s, size_t want, struct room *ret)
{
    struct ssh_channel *ch = ssh_channel_of(s);
    int r = wait_writable(ch, USEC_NEVER);
    if (r < 0)
        return r;
    size_t most = ssh_transport_room_max(ch->connection->transport);
    size_t piece = piece_max(ch);
    size_t stride = (HEAD + piece + SSH_PACKET_TAIL_MAX + 15) & ~(size_t)15;
    size_t pieces_max = CHUNK_BYTES_MAX / stride;
    if (pieces_max > ROOM_PIECES_MAX)
        pieces_max = ROOM_PIECES_MAX;
    if (is_over_budget())
        pieces_max = 1;
    size_t len = want < ch->peer_window ? want : ch->peer_window;
    if (len > most)
        len = most;
    if (len > pieces_max * piece)
        len = pieces_max * piece;
    unsigned count = (unsigned)((len + piece - 1) / piece);
    size_t bytes =
        (count - 1) * stride + HEAD + (len - (count - 1) * piece) + SSH_PACKET_TAIL_MAX;
    struct chunk *c = chunk_new(bytes);
    if (c == NULL)
        return -ENOMEM;
    size_t left = len;
    for (unsigned i = 0; i < count; i++) {
        size_t n = left < piece ? left : piece;
        c->pieces[i] = (struct iovec){c->data + i * stride + HEAD, n};
        left -= n;
    }
    ch->peer_window -= (uint32_t)len;
    ch->lent += (uint32_t)len;
    *ssh_transport_worker_output() += len;
    *ret = (struct room){s, c, c->pieces, count, len};
    return 0;
}

/* Of what was lent, so much will not be sent. */
static void take_back(struct ssh_channel *ch, size_t lent, size_t unsent)
{
    ch->lent -= (uint32_t)lent;
    *ssh_transport_worker_output() -= lent;
    ch->peer_window += (uint32_t)unsent;
}

static void channel_room_drop(struct room *room)
{
    take_back(ssh_channel_of(room->stream), room->len, room->len);
    chunk_unref(room->chunk);
}

/* Cuts the pieces to len, and puts the message's head before each. */
static unsigned frame_pieces(const struct ssh_channel *ch, struct room *room, size_t len)
{
    unsigned count = 0;
    while (len > 0) {
        struct iovec *piece = &room->pieces[count++];
        if (piece->iov_len > len)
            piece->iov_len = len;
        len -= piece->iov_len;
        uint8_t *payload = (uint8_t *)piece->iov_base - SSH_DATA_HEAD;
        ssh_channel_data_head(payload, ch->peer_id, (uint32_t)piece->iov_len);
        piece->iov_base = payload;
        piece->iov_len += SSH_DATA_HEAD;
    }
    return count;
}

static int channel_send(struct stream *s, struct room *room, size_t len)
{
    struct ssh_channel *ch = ssh_channel_of(s);
    struct ssh_transport *t = ch->connection->transport;
    int r = wait_gate(ch, USEC_NEVER);
    if (r < 0 || len == 0) {
        channel_room_drop(room);
        return r;
    }
    take_back(ch, room->len, room->len - len);
    ch->sent_bytes += len;
    unsigned count = frame_pieces(ch, room, len);
    return ssh_transport_send(t, room->chunk, room->pieces, count);
}

/* A few bytes: one message, if the window takes it. */
static int write_small(struct ssh_channel *ch, const uint8_t *data, size_t len)
{
    struct ssh_transport *t = ch->connection->transport;
    uint8_t payload[SSH_DATA_HEAD + WRITE_SMALL];
    int r = wait_gate(ch, USEC_NEVER);
    if (r < 0)
        return r;
    ssh_channel_data_head(payload, ch->peer_id, (uint32_t)len);
    memcpy(payload + SSH_DATA_HEAD, data, len);
    ch->peer_window -= (uint32_t)len;
    ch->sent_bytes += len;
    return ssh_transport_say(t, bytes_of(payload, SSH_DATA_HEAD + len));
}

static size_t copy_into(struct room *room, const uint8_t *data, size_t len)
{
    size_t done = 0;
    for (unsigned i = 0; i < room->count && done < len; i++) {
        size_t n = room->pieces[i].iov_len < len - done ? room->pieces[i].iov_len : len - done;
        memcpy(room->pieces[i].iov_base, data + done, n);
        done += n;
    }
    return done;
}

static int write_bytes(struct ssh_channel *ch, const uint8_t *data, size_t len)
{
    while (len > 0) {
        int r = wait_writable(ch, USEC_NEVER);
        if (r < 0)
            return r;
        if (len <= WRITE_SMALL && len <= ch->peer_window && len <= piece_max(ch))
            return write_small(ch, data, len);
        struct room room;
        r = channel_room(&ch->stream, len < WRITE_ROOM ? len : WRITE_ROOM, &room);
        if (r < 0)
            return r;
        size_t n = copy_into(&room, data, len);
        r = channel_send(&ch->stream, &room, n);
        if (r < 0)
            return r;
        data += n;
        len -= n;
    }
    return 0;
}

static int channel_write(struct stream *s, const struct iovec *data, int count)
{
    int r = 0;
    for (int i = 0; i < count && r == 0; i++)
        r = write_bytes(ssh_channel_of(s), data[i].iov_base, data[i].iov_len);
    return r;
}

int ssh_channel_write_error(struct ssh_channel *ch, struct bytes data)
{
    uint8_t payload[ERROR_HEAD + WRITE_SMALL];
    usec_t last = stall_deadline(ch); /* of all of it: a peer may take a byte at a time */
    while (data.len > 0) {
        int r = wait_writable(ch, last);
        if (r == 0)
            r = wait_gate(ch, last);
        if (r < 0)
            return r;
        size_t max = piece_max(ch) < WRITE_SMALL ? piece_max(ch) : WRITE_SMALL;
        struct bytes part = bytes_first(data, max < ch->peer_window ? max : ch->peer_window);
        struct wire_writer w = wire_writer_of(payload, sizeof(payload));
        wire_put_u8(&w, SSH_MSG_CHANNEL_EXTENDED_DATA);
        wire_put_u32(&w, ch->peer_id);
        wire_put_u32(&w, 1); /* SSH_EXTENDED_DATA_STDERR */
        wire_put_string(&w, part);
        ch->peer_window -= (uint32_t)part.len;
        r = ssh_transport_say(ch->connection->transport, bytes_of(payload, w.len));
        if (r < 0)
            return r;
        data = bytes_skip(data, part.len);
    }
    return 0;
}

/* -- as a stream -- */

static int channel_wait(struct stream *s, struct event *event, usec_t deadline)
{
    assert(event == NULL); /* nobody has needed it */
    (void)event;
    return ssh_channel_wait_readable(ssh_channel_of(s), deadline);
}

static int channel_end(struct stream *s, usec_t deadline)
{
    struct ssh_channel *ch = ssh_channel_of(s);
    ch->owes_eof = !ch->has_sent_eof;
    int r = ssh_connection_settle(ch->connection);
    return r == 0 && deadline != 0 ? ssh_channel_drain(ch, deadline) : r;
}

static void channel_info(const struct stream *s, struct stream_info *ret)
{
    const struct ssh_channel *ch = (const struct ssh_channel *)(const void *)s;
    struct ssh_transport *t = ch->connection->transport;
    stream_info(t->lower, ret);
    ret->sent_bytes = ch->sent_bytes;
    ret->received_bytes = ch->received_bytes;
    size_t queued = ssh_transport_unsent(t);
    ret->unsent_bytes += queued < UINT32_MAX / 2 ? (uint32_t)queued : UINT32_MAX / 2;
}

static void channel_bound_unsent(struct stream *s, size_t bytes)
{
    ssh_transport_bound_unsent(ssh_channel_of(s)->connection->transport, bytes);
}

static void channel_stream_free(struct stream *s)
{
    (void)s; /* the connection has it */
}

const struct stream_ops ssh_channel_ops = {
    .name = "ssh",
    .room = channel_room,
    .send = channel_send,
    .room_drop = channel_room_drop,
    .take = ssh_channel_take,
    .slices_drop = ssh_channel_slices_drop,
    .write = channel_write,
    .read = ssh_channel_read,
    .end = channel_end,
    .wait = channel_wait,
    .info = channel_info,
    .bound_unsent = channel_bound_unsent,
    .free = channel_stream_free,
};
