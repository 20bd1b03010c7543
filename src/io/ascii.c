#include "io/ascii.h"

#include <errno.h>

#include "base/mem.h"
#include "io/chunk.h"

#define ROOM_BYTES_MAX (64 * 1024) /* of a room below; the filter's own may be larger */
#define TAKE_BYTES_MAX (64 * 1024)
#define NOTHING        (-1)

struct ascii_stream {
    struct stream stream;
    struct stream *below;
    bool sent_cr;     /* the last byte sent was CR */
    bool has_cr;      /* received, and what follows it is not known */
    int held;         /* a received byte that had no place behind such a CR, or NOTHING */
    bool below_ended; /* it has said so once */
};

static struct ascii_stream *ascii_of(struct stream *s)
{
    return (struct ascii_stream *)(void *)s; /* its first member */
}

/* -- sending: LF becomes CRLF --
 *
 * The filter's own room is its own chunk. Only when that is handed over are rooms asked for
 * below, one at a time: nobody above holds one then. */

/* Where converted bytes go: the room below that is being filled. */
struct sink {
    struct stream *below;
    struct room room;
    unsigned piece;
    size_t in_piece; /* filled of that piece */
    size_t filled;   /* of the room */
};

static int sink_send(struct sink *k)
{
    if (k->filled == 0)
        return 0; /* and no room is open */
    int r = stream_send(k->below, &k->room, k->filled);
    k->filled = 0;
    return r;
}

static int sink_open(struct sink *k, size_t want)
{
    k->piece = 0;
    k->in_piece = k->filled = 0;
    return stream_room(k->below, want < ROOM_BYTES_MAX ? want : ROOM_BYTES_MAX, &k->room);
}

static void sink_fill(struct sink *k, const uint8_t *data, size_t len)
{
    while (len > 0) {
        struct iovec *piece = &k->room.pieces[k->piece];
        size_t n = piece->iov_len - k->in_piece;
        if (n > len)
            n = len;
        memcpy((uint8_t *)piece->iov_base + k->in_piece, data, n);
        data += n;
        len -= n;
        k->in_piece += n;
        k->filled += n;
        if (k->in_piece == piece->iov_len) {
            k->piece++;
            k->in_piece = 0;
        }
    }
}

/* still_to_come: a guess at what will follow these bytes, so that small sends ask for little.
 */
static int sink_put(struct sink *k, const uint8_t *data, size_t len, size_t still_to_come)
{
    while (len > 0) {
        if (k->room.stream == NULL) {
            int r = sink_open(k, len + still_to_come);
            if (r < 0)
                return r;
        }
        size_t n = k->room.len - k->filled < len ? k->room.len - k->filled : len;
        sink_fill(k, data, n);
        data += n;
        len -= n;
        if (k->filled == k->room.len) {
            int r = sink_send(k);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int encode(struct ascii_stream *a, struct sink *k, const uint8_t *data, size_t len)
{
    int r = 0;
    while (len > 0 && r == 0) {
        const uint8_t *lf = memchr(data, '\n', len);
        size_t n = lf != NULL ? (size_t)(lf - data) : len;
        r = sink_put(k, data, n, len - n);
        if (n > 0)
            a->sent_cr = data[n - 1] == '\r';
        if (r == 0 && lf != NULL) {
            r = a->sent_cr ? sink_put(k, (const uint8_t *)"\n", 1, len - n)
                           : sink_put(k, (const uint8_t *)"\r\n", 2, len - n);
            a->sent_cr = false;
            n++;
        }
        data += n;
        len -= n;
    }
    return r;
}

static int encode_pieces(struct ascii_stream *a, const struct iovec *pieces, unsigned count,
                         size_t len)
{
    struct sink k = {.below = a->below};
    int r = 0;
    for (unsigned i = 0; i < count && len > 0 && r == 0; i++) {
        size_t n = pieces[i].iov_len < len ? pieces[i].iov_len : len;
        r = encode(a, &k, pieces[i].iov_base, n);
        len -= n;
    }
    if (r == 0)
        r = sink_send(&k);
    return r;
}

static int ascii_send(struct stream *s, struct room *room, size_t len)
{
    int r = encode_pieces(ascii_of(s), room->pieces, room->count, len);
    chunk_unref(room->chunk);
    return r;
}

static int ascii_write(struct stream *s, const struct iovec *data, int count)
{
    return encode_pieces(ascii_of(s), data, (unsigned)count, SIZE_MAX);
}

/* -- receiving: CRLF becomes LF -- */

/* Converts len bytes to dst, which has room for all of them and for the CR that may have been
 * kept back. Returns the number written. */
static size_t decode(struct ascii_stream *a, const uint8_t *data, size_t len, uint8_t *dst)
{
    size_t out = 0;
    while (len > 0) {
        if (a->has_cr && *data != '\n')
            dst[out++] = '\r';
        a->has_cr = false;
        const uint8_t *cr = memchr(data, '\r', len);
        size_t n = cr != NULL ? (size_t)(cr - data) : len;
        memcpy(dst + out, data, n);
        out += n;
        if (cr != NULL) {
            a->has_cr = true;
            n++;
        }
        data += n;
        len -= n;
    }
    return out;
}

/* What can be given without asking below: 0 or 1 byte. */
static size_t give_held(struct ascii_stream *a, uint8_t *dst)
{
    if (a->held != NOTHING) {
        dst[0] = (uint8_t)a->held;
        a->held = NOTHING;
        return 1;
    }
    if (a->below_ended && a->has_cr) {
        dst[0] = '\r';
        a->has_cr = false;
        return 1;
    }
    return 0;
}

/* Into max bytes at dst, from slices of at most this many: a CR that was kept back may come out
 * before them. With one byte of room and such a CR, one byte is taken and may have to be held.
 */
static size_t want_below(const struct ascii_stream *a, size_t max)
{
    size_t want = a->has_cr && max > 1 ? max - 1 : max;
    return want < TAKE_BYTES_MAX ? want : TAKE_BYTES_MAX;
}

static size_t decode_slices(struct ascii_stream *a, const struct slices *slices, size_t max,
                            uint8_t *dst)
{
    if (max == 1 && a->has_cr) {
        uint8_t two[2];
        size_t n = decode(a, slices->pieces[0].iov_base, 1, two);
        dst[0] = two[0];
        if (n == 2)
            a->held = two[1];
        return n > 0;
    }
    size_t out = 0;
    for (unsigned i = 0; i < slices->count; i++)
        out += decode(a, slices->pieces[i].iov_base, slices->pieces[i].iov_len, dst + out);
    return out;
}

/* The next slices of below, or what remained at its end; *ret_given bytes came from that. */
static int fetch(struct ascii_stream *a, size_t max, struct slices *ret)
{
    int r = stream_take(a->below, want_below(a, max), ret);
    if (r == 0 && ret->len == 0)
        a->below_ended = true;
    return r;
}

static ssize_t ascii_read(struct stream *s, void *data, size_t max)
{
    struct ascii_stream *a = ascii_of(s);
    size_t n = give_held(a, data);
    while (n == 0 && !a->below_ended) {
        struct slices slices;
        int r = fetch(a, max, &slices);
        if (r < 0)
            return r;
        n = a->below_ended ? give_held(a, data) : decode_slices(a, &slices, max, data);
        slices_drop(&slices);
    }
    return (ssize_t)n;
}

/* The chunk comes after the wait below, and is no larger than what came. */
static int ascii_take(struct stream *s, size_t max, struct slices *ret)
{
    struct ascii_stream *a = ascii_of(s);
    size_t n = 0;
    struct chunk *c = NULL;
    while (n == 0 && !(a->below_ended && !a->has_cr && a->held == NOTHING)) {
        struct slices slices = {0};
        if (a->held == NOTHING && !a->below_ended) {
            int r = fetch(a, max, &slices);
            if (r < 0)
                return r;
        }
        c = chunk_new(slices.len + 1);
        if (c == NULL) {
            slices_drop(&slices);
            return -ENOMEM;
        }
        n = slices.len > 0 ? decode_slices(a, &slices, max, c->data) : give_held(a, c->data);
        slices_drop(&slices);
        if (n == 0)
            chunk_unref(c);
    }
    if (n > 0)
        chunk_slices(s, c, n, ret);
    else
        *ret = (struct slices){0};
    return 0;
}

/* -- the rest goes through -- */

static int ascii_flush(struct stream *s)
{
    return stream_flush(ascii_of(s)->below);
}

static int ascii_end(struct stream *s, usec_t deadline)
{
    return stream_end(ascii_of(s)->below, deadline);
}

static int ascii_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct ascii_stream *a = ascii_of(s);
    if (a->held != NOTHING || a->below_ended) /* a read would not wait */
        return event != NULL && event->is_set;
    return stream_wait(a->below, event, deadline);
}

static void ascii_info(const struct stream *s, struct stream_info *ret)
{
    const struct ascii_stream *a = (const struct ascii_stream *)(const void *)s;
    stream_info(a->below, ret);
}

static void ascii_free(struct stream *s)
{
    (void)stream_free(ascii_of(s)->below);
    mem_free(ascii_of(s));
}

static const struct stream_ops ascii_ops = {
    .name = "ascii",
    .room = chunk_room,
    .send = ascii_send,
    .take = ascii_take,
    .write = ascii_write,
    .read = ascii_read,
    .flush = ascii_flush,
    .end = ascii_end,
    .wait = ascii_wait,
    .info = ascii_info,
    .free = ascii_free,
};

int ascii_stream_new(struct stream *below, struct stream **ret)
{
    struct ascii_stream *a = mem_new(sizeof(*a));
    if (a == NULL) {
        (void)stream_free(below);
        return -ENOMEM;
    }
    a->stream = (struct stream){.ops = &ascii_ops, .stall_us = below->stall_us};
    a->below = below;
    a->held = NOTHING;
    *ret = &a->stream;
    return 0;
}
