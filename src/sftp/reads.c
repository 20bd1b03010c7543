/* READ. Requests that follow each other and are here already are answered out of one read of
 * the file, into a room of the stream: the bytes go from the file into what is sent. */
#include <errno.h>

#include "base/err.h"
#include "io/chunk.h"
#include "io/piece_cursor.h"
#include "sftp/internal.h"

#define REQUEST_BYTES 33           /* of a READ with a handle of ours, with its length */
#define BATCH_BYTES   (480 * 1024) /* the largest room of a channel: 15 packets of 32 KB */

struct batch {
    struct sftp_open *open;
    uint64_t offset; /* of the first that is not answered yet */
    unsigned count;

    struct {
        uint32_t id, len;
    } at[SFTP_JOINED_MAX];

    unsigned done; /* answered */
};

/* -- which ones -- */

static uint32_t bounded(uint64_t len)
{
    return len < SFTP_DATA_MAX ? (uint32_t)len : SFTP_DATA_MAX;
}

static bool reads_on(const struct sftp_server *s, const struct batch *b, uint64_t end,
                     struct sftp_request *ret)
{
    uint8_t request[REQUEST_BYTES];
    return sftp_input_peek(&s->input, request, sizeof(request)) &&
           wire_u32(request) == REQUEST_BYTES - SFTP_LENGTH_BYTES &&
           sftp_request_parse(
               bytes_of(request + SFTP_LENGTH_BYTES, REQUEST_BYTES - SFTP_LENGTH_BYTES), ret) ==
               0 &&
           ret->kind == SFTP_KIND_READ && ret->offset == end && ret->len > 0 &&
           sftp_open_file(s, ret->handle) == b->open;
}

static PARKS void collect(struct sftp_server *s, struct batch *b)
{
    uint64_t end = b->offset + b->at[0].len;
    size_t bytes = b->at[0].len + SFTP_DATA_HEAD;
    struct sftp_request q;
    while (b->count < SFTP_JOINED_MAX && bytes < BATCH_BYTES) {
        if (sftp_input_left(&s->input) == 0 && sftp_input_try_take(&s->input) <= 0)
            break;
        if (!reads_on(s, b, end, &q))
            break;
        uint32_t len = bounded(q.len);
        if (bytes + len + SFTP_DATA_HEAD > BATCH_BYTES)
            break;
        sftp_input_skip(&s->input, REQUEST_BYTES);
        b->at[b->count].id = q.id;
        b->at[b->count++].len = len;
        bytes += len + SFTP_DATA_HEAD;
        end += len;
        if (len < q.len) /* the client goes on where a short answer ends */
            break;
    }
    sftp_input_release(&s->input);
}

/* -- how much of each there can be -- */

/* Of a file whose length is known one byte more than it has is asked for, which tells whether
 * it has grown: a client that asks for 256 KB of a small file costs a small room. */
static uint32_t expected(const struct sftp_open *open, uint64_t offset, uint32_t len)
{
    uint64_t left = offset < open->size_bytes ? open->size_bytes - offset : 0;
    return len <= left ? len : (uint32_t)(left + 1);
}

/* -- answering -- */

/* What the open file's record says of it. */
static void count_read(struct sftp_server *s, struct sftp_open *open, uint64_t offset,
                       size_t len)
{
    if (open->read_bytes == 0)
        open->read_from = offset;
    open->read_bytes += len;
    s->progress.file_bytes += len;
    s->progress.wire_bytes += len;
    s->progress.moved_at = clock_now();
}

static PARKS int say_failure(struct sftp_server *s, struct batch *b, int r)
{
    uint32_t id = b->at[b->done++].id;
    if (r == 0)
        return sftp_say_status(s, id, SFTP_EOF, "end of file");
    if (!b->open->writes && b->open->result >= 0)
        b->open->result = r;
    return sftp_say_result(s, id, r);
}

/* Whether there is more than was thought: then nothing is known any more. */
static bool has_grown(struct sftp_open *open, uint64_t offset, uint32_t asked, size_t got)
{
    if (got < asked || offset + got <= open->size_bytes)
        return false;
    open->size_bytes = SFTP_SIZE_UNKNOWN;
    return true;
}

/* A room that is too small for one answer (the window of the peer is nearly used up): through
 * memory of our own, which is copied. */
static PARKS int answer_one(struct sftp_server *s, struct batch *b)
{
    uint32_t len = expected(b->open, b->offset, b->at[b->done].len);
    struct chunk *c = chunk_new(len);
    if (c == NULL)
        return sftp_say_result(s, b->at[b->done++].id, -ENOMEM);
    c->pieces[0] = (struct iovec){c->data, len};
    ssize_t n =
        xfer_read_at(vhandle_file(b->open->file), b->offset, c, c->pieces, 1, s->stall_us);
    int r = 0;
    if (n <= 0) {
        r = say_failure(s, b, (int)n);
    } else if (!has_grown(b->open, b->offset, len, (size_t)n)) {
        uint8_t head[SFTP_DATA_HEAD];
        sftp_data_head(head, b->at[b->done++].id, (uint32_t)n);
        const struct iovec answer[] = {{head, sizeof(head)}, {c->data, (size_t)n}};
        r = stream_write(s->stream, answer, ARRAY_LEN(answer));
        count_read(s, b->open, b->offset, (size_t)n);
        b->offset += (size_t)n;
    }
    chunk_unref(c);
    return r;
}

/* Lays out as many whole answers as the room has place for; the bodies' pieces go to parts. */
static unsigned lay_out(const struct batch *b, const struct room *room,
                        struct iovec parts[ROOM_PIECES_MAX], unsigned *ret_parts)
{
    struct piece_cursor place = {.pieces = room->pieces};
    uint64_t offset = b->offset;
    size_t used = 0;
    unsigned fit = 0, count = 0;
    for (unsigned i = b->done; i < b->count; i++) {
        uint32_t left = expected(b->open, offset, b->at[i].len);
        bool is_last = left < b->at[i].len;
        used += SFTP_DATA_HEAD + left;
        if (used > room->len)
            break;
        piece_cursor_skip(&place, SFTP_DATA_HEAD);
        unsigned before = count;
        while (left > 0 && count < ROOM_PIECES_MAX) {
            parts[count] = piece_cursor_next(&place, left);
            left -= (uint32_t)parts[count++].iov_len;
        }
        if (left > 0) { /* too many pieces */
            count = before;
            break;
        }
        fit++;
        offset += b->at[i].len;
        if (is_last)
            break;
    }
    *ret_parts = count;
    return fit;
}

static void put_head(struct piece_cursor *p, uint32_t id, uint32_t len)
{
    uint8_t head[SFTP_DATA_HEAD];
    sftp_data_head(head, id, len);
    piece_cursor_put(p, head, sizeof(head));
}

/* Heads before the len bytes that were read. Sends up to the first answer that is short. */
static PARKS int send_bodies(struct sftp_server *s, struct batch *b, struct room *room,
                             unsigned fit, size_t len)
{
    struct piece_cursor place = {.pieces = room->pieces};
    size_t sent = 0;
    for (unsigned i = 0; i < fit && len > 0; i++) {
        uint32_t asked = expected(b->open, b->offset, b->at[b->done].len);
        uint32_t n = len < asked ? (uint32_t)len : asked;
        if (has_grown(b->open, b->offset, asked, n))
            break;
        put_head(&place, b->at[b->done++].id, n);
        piece_cursor_skip(&place, n);
        count_read(s, b->open, b->offset, n);
        b->offset += n;
        sent += SFTP_DATA_HEAD + n;
        len -= n;
        if (n < asked) /* the next one begins where it was asked to */
            break;
    }
    if (sent == 0) {
        room_drop(room);
        return 0;
    }
    return stream_send(s->stream, room, sent);
}

static size_t want_of(const struct batch *b)
{
    uint64_t offset = b->offset;
    size_t want = 0;
    for (unsigned i = b->done; i < b->count; i++) {
        want += SFTP_DATA_HEAD + expected(b->open, offset, b->at[i].len);
        offset += b->at[i].len;
        if (offset > b->open->size_bytes)
            break;
    }
    return want;
}

/* Answers at least one, or finds that the file has grown. */
static PARKS int answer_some(struct sftp_server *s, struct batch *b)
{
    struct iovec parts[ROOM_PIECES_MAX];
    struct room room;
    unsigned count;
    int r = stream_room(s->stream, want_of(b), &room);
    if (r < 0)
        return r;
    unsigned fit = lay_out(b, &room, parts, &count);
    if (fit == 0) {
        room_drop(&room);
        return answer_one(s, b);
    }
    ssize_t n = xfer_read_at(vhandle_file(b->open->file), b->offset, room.chunk, parts, count,
                             s->stall_us);
    if (n <= 0) {
        room_drop(&room);
        return say_failure(s, b, (int)n);
    }
    return send_bodies(s, b, &room, fit, (size_t)n);
}

/* An answer that was short leaves the next ones where they were asked to begin: behind the end
 * of the file, or of what could be read at once. */
static int answer_all(struct sftp_server *s, struct batch *b)
{
    uint64_t starts = b->offset;
    int r = 0;
    while (r == 0 && b->done < b->count) {
        unsigned before = b->done;
        b->offset = starts;
        r = answer_some(s, b);
        for (unsigned i = before; i < b->done; i++)
            starts += b->at[i].len;
    }
    return r;
}

int sftp_on_read(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open = sftp_open_file(s, q->handle);
    if (open == NULL)
        return sftp_say_result(s, q->id, -EBADF);
    if (q->offset > INT64_MAX - 2 * (uint64_t)CHUNK_BYTES_MAX)
        return sftp_say_result(s, q->id, -EINVAL);
    struct batch batch = {.open = open, .offset = q->offset, .count = 1};
    batch.at[0].id = q->id;
    batch.at[0].len = bounded(q->len);
    if (batch.at[0].len == 0) { /* not forbidden: no bytes, and no end of the file either */
        uint8_t head[SFTP_DATA_HEAD];
        sftp_data_head(head, q->id, 0);
        return stream_write_bytes(s->stream, bytes_of(head, sizeof(head)));
    }
    if (batch.at[0].len == q->len)
        collect(s, &batch);
    return answer_all(s, &batch);
}
