/* A whole file to the server: read into rooms of the stream, as many whole WRITEs as one has
 * place for, without waiting for their answers. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/piece_cursor.h"
#include "sftp/client_internal.h"
#include "xfer/piece.h"

#define ROOM_WANT  (480 * 1024)
#define JOINED_MAX 32   /* WRITEs in one room */
#define LEAST_DATA 1024 /* another WRITE is not begun for less */
#define MODE_USUAL 0666

/* WRITEs as they are laid out in a room. */
struct layout {
    uint32_t lens[JOINED_MAX];
    unsigned count, parts_count;
    struct iovec parts[ROOM_PIECES_MAX]; /* memory of the data */
};

/* On the heap, for its size. */
struct upload {
    struct sftp_client *client;
    struct sftp_remote file;
    const struct sftp_put *put;
    struct sftp_flow flow;
    bool has_ended, has_failed; /* the source */
    struct layout layout;
};

static size_t head_bytes(const struct upload *u)
{
    return SFTP_HEAD_BYTES + u->file.len;
}

/* -- a room -- */

/* Pieces of the next len bytes; fewer if there is no place for all pieces. */
static uint32_t lay_out_data(struct piece_cursor *p, uint32_t len, struct layout *l)
{
    uint32_t done = 0;
    while (done < len && l->parts_count < ROOM_PIECES_MAX) {
        struct iovec part = piece_cursor_next(p, len - done);
        l->parts[l->parts_count++] = part;
        done += (uint32_t)part.iov_len;
    }
    return done;
}

static void lay_out(const struct upload *u, const struct room *room, struct layout *l)
{
    const struct sftp_client *c = u->client;
    struct piece_cursor place = {.pieces = room->pieces};
    unsigned slots = SFTP_SLOTS_MAX - c->slots_used;
    size_t left = room->len, head = head_bytes(u);
    l->count = l->parts_count = 0;
    while (l->count < JOINED_MAX && l->count < slots && l->parts_count < ROOM_PIECES_MAX &&
           left > head && (l->count == 0 || left >= head + LEAST_DATA)) {
        left -= head;
        piece_cursor_skip(&place, head);
        uint32_t len = left < c->write_bytes ? (uint32_t)left : c->write_bytes;
        uint32_t fit = lay_out_data(&place, len, l);
        l->lens[l->count++] = fit;
        left -= fit;
        if (fit < len)
            break;
    }
}

static int add_slot(struct upload *u, uint32_t len, uint32_t *ret_id)
{
    struct sftp_flow *flow = &u->flow;
    const struct sftp_slot slot = {
        .waiting = SFTP_SLOT_WRITE, .flow = flow, .offset = flow->next, .len = len};
    int r = sftp_slot_new(u->client, &slot, ret_id);
    if (r < 0)
        return r;
    flow->open++;
    flow->in_flight += len;
    return 0;
}

static int put_head(struct upload *u, struct piece_cursor *p, uint32_t len)
{
    uint8_t head[SFTP_HEAD_BYTES + SFTP_HANDLE_MAX];
    struct wire_writer w = wire_writer_of(head, sizeof(head));
    uint32_t id;
    int r = add_slot(u, len, &id);
    if (r < 0)
        return r;
    sftp_write_head(&w, id, bytes_of(u->file.handle, u->file.len), u->flow.next, len);
    piece_cursor_put(p, head, w.len);
    return 0;
}

/* Heads before the n bytes that the source gave. */
static PARKS int send_writes(struct upload *u, struct room *room, const struct layout *l,
                             size_t n)
{
    struct piece_cursor place = {.pieces = room->pieces};
    size_t sent = 0;
    int r = 0;
    for (unsigned i = 0; i < l->count && n > 0 && r == 0; i++) {
        uint32_t len = n < l->lens[i] ? (uint32_t)n : l->lens[i];
        r = put_head(u, &place, len);
        piece_cursor_skip(&place, len);
        u->flow.next += len;
        sent += head_bytes(u) + len;
        n -= len;
    }
    if (r < 0) { /* some have slots, and will never be answered */
        room_drop(room);
        return r;
    }
    return stream_send(u->client->stream, room, sent);
}

/* A room that has no place for one: what is left of a window, or of a packet. */
static PARKS int write_one(struct upload *u)
{
    struct chunk *chunk = chunk_new(u->client->write_bytes);
    if (chunk == NULL)
        return -ENOMEM;
    chunk->pieces[0] = (struct iovec){chunk->data, u->client->write_bytes};
    ssize_t n = u->put->source(u->put->arg, u->flow.next, chunk, chunk->pieces, 1);
    int r = n < 0 ? (int)n : 0;
    u->has_ended = n == 0;
    u->has_failed = n < 0;
    if (n > 0) {
        uint8_t head[SFTP_HEAD_BYTES + SFTP_HANDLE_MAX];
        struct wire_writer w = wire_writer_of(head, sizeof(head));
        uint32_t id;
        r = add_slot(u, (uint32_t)n, &id);
        sftp_write_head(&w, id, bytes_of(u->file.handle, u->file.len), u->flow.next,
                        (uint32_t)n);
        const struct iovec message[] = {{head, w.len}, {chunk->data, (size_t)n}};
        if (r == 0)
            r = stream_write(u->client->stream, message, ARRAY_LEN(message));
        u->flow.next += (uint64_t)n;
        if (r < 0)
            sftp_client_break(u->client, r);
    }
    chunk_unref(chunk);
    return r;
}

static PARKS int fill_and_send(struct upload *u, struct room *room)
{
    struct layout *l = &u->layout;
    lay_out(u, room, l);
    if (l->count == 0) {
        room_drop(room);
        return write_one(u);
    }
    ssize_t n =
        u->put->source(u->put->arg, u->flow.next, room->chunk, l->parts, l->parts_count);
    if (n <= 0) {
        room_drop(room);
        u->has_ended = n == 0;
        u->has_failed = n < 0;
        return (int)n;
    }
    int r = send_writes(u, room, l, (size_t)n);
    if (r < 0)
        sftp_client_break(u->client, r);
    return r;
}

static PARKS int write_some(struct upload *u)
{
    struct sftp_client *c = u->client;
    struct sftp_flow *flow = &u->flow;
    struct room room;
    int r = sftp_turn_begin(c);
    if (r < 0)
        return r;
    uint64_t free_bytes = flow->flight.limit_bytes > flow->in_flight
                              ? flow->flight.limit_bytes - flow->in_flight
                              : c->write_bytes;
    size_t want = free_bytes < ROOM_WANT ? (size_t)free_bytes : ROOM_WANT;
    r = stream_room(c->stream, want + head_bytes(u), &room);
    if (r == 0)
        r = fill_and_send(u, &room);
    sftp_turn_end(c, 0);
    return r;
}

/* -- the whole -- */

static bool wants_more(const struct upload *u)
{
    const struct sftp_flow *flow = &u->flow;
    uint64_t limit = flow->flight.limit_bytes;
    return !u->has_ended && (flow->open == 0 || (flow->open < SFTP_FLOW_SLOTS &&
                                                 flow->in_flight <= limit - limit / 4));
}

static PARKS int send_all(struct upload *u)
{
    struct sftp_flow *flow = &u->flow;
    for (;;) {
        event_clear(&flow->moved);
        if (flow->result < 0 || u->client->broken < 0)
            return flow->result < 0 ? flow->result : u->client->broken;
        int r;
        if (wants_more(u))
            r = write_some(u);
        else if (flow->open == 0)
            return 0;
        else
            r = sftp_client_wait(u->client, &flow->moved);
        if (r < 0)
            return r;
        if (task_turn_is_over())
            task_yield();
    }
}

/* In their order, each only if the one before it went well. */
static PARKS int finish(struct upload *u)
{
    struct sftp_client *c = u->client;
    int r = send_all(u);
    if (r == 0 && u->put->attributes != NULL)
        r = sftp_client_fsetstat(c, &u->file, u->put->attributes);
    if (r == 0 && u->put->syncs && sftp_client_has(c, SFTP_KIND_FSYNC))
        r = sftp_client_fsync(c, &u->file);
    return r;
}

static PARKS int put_file(struct upload *u, struct bytes path, uint64_t *ret_bytes)
{
    struct sftp_client *c = u->client;
    uint32_t flags = SFTP_OPEN_WRITE;
    if (u->put->offset == 0)
        flags |= SFTP_OPEN_CREATE | SFTP_OPEN_TRUNCATE;
    int r = sftp_client_open(c, path, flags, u->put->mode != 0 ? u->put->mode : MODE_USUAL,
                             &u->file);
    if (r < 0)
        return r;
    event_init(&u->flow.moved);
    u->flow.next = u->put->offset;
    sftp_flight_init(&u->flow.flight, c->write_bytes, c->in_flight_max, clock_now());
    r = finish(u);
    sftp_flow_leave(c, &u->flow);
    *ret_bytes = u->flow.bytes;
    /* a file that is left open is no whole one */
    if (r == -ECANCELED || u->has_failed || c->broken < 0)
        return r < 0 ? r : c->broken;
    int closed = sftp_client_close(c, &u->file);
    return r < 0 ? r : closed;
}

int sftp_client_put(struct sftp_client *c, struct bytes path, const struct sftp_put *put,
                    uint64_t *ret_bytes)
{
    struct upload *u = mem_new(sizeof(*u));
    *ret_bytes = 0;
    if (u == NULL)
        return -ENOMEM;
    u->client = c;
    u->put = put;
    int r = put_file(u, path, ret_bytes);
    mem_free(u);
    return r;
}

ssize_t sftp_local_source(void *arg, uint64_t offset, struct chunk *chunk,
                          const struct iovec *pieces, unsigned count)
{
    const struct sftp_local *local = arg;
    return xfer_read_at(local->file, offset, chunk, pieces, count, local->stall_us);
}
