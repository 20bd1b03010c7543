/* WRITE. Bodies are written from where they were received; requests that follow each other and
 * are here already become one write of the file. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "sftp/internal.h"

/* The request whose body comes. */
struct incoming {
    uint32_t id;
    struct sftp_open *open;
    uint64_t offset; /* of its next byte */
    size_t left;     /* bytes to come */
    int result;      /* a failure: they are read and forgotten */
};

/* Bytes that are here and are not written yet: a run of one file. */
struct run {
    struct sftp_open *open;
    uint64_t offset;
    size_t len;
    unsigned count;
    struct iovec parts[ROOM_PIECES_MAX];
    unsigned done; /* requests that end in it */
    uint32_t ids[SFTP_JOINED_MAX];
};

static struct incoming begin(struct sftp_server *s, const struct sftp_request *q)
{
    struct incoming w = {
        .id = q->id,
        .open = sftp_open_file(s, q->handle),
        .offset = q->offset,
        .left = (size_t)q->len,
    };
    if (w.open == NULL)
        w.result = -EBADF;
    else if (w.offset > INT64_MAX || q->len > INT64_MAX - w.offset)
        w.result = -EFBIG;
    else
        w.result = vhandle_reserve(w.open->file, &w.offset, w.left);
    if (w.open != NULL && w.open->result >= 0 && w.result < 0 && w.result != -EBADF)
        w.open->result = w.result;
    return w;
}

static void count_written(struct sftp_server *s, const struct run *run)
{
    if (run->open->written_bytes == 0)
        run->open->written_from = run->offset;
    run->open->written_bytes += run->len;
    s->progress.file_bytes += run->len;
    s->progress.wire_bytes += run->len;
    s->progress.moved_at = clock_now();
}

static void note_lost(struct sftp_open *open, uint64_t offset, int result)
{
    vhandle_lost(open->file, offset);
    if (open->result >= 0)
        open->result = result;
}

static PARKS int write_parts(struct sftp_server *s, const struct run *run)
{
    if (run->count == 0)
        return 0;
    int r = xfer_write_at(vhandle_file(run->open->file), run->offset, s->input.held.chunk,
                          run->parts, run->count, s->stall_us);
    if (r == 0)
        count_written(s, run);
    else
        note_lost(run->open, run->offset, r);
    return r;
}

static PARKS int say_statuses(struct sftp_server *s, const struct run *run, int result)
{
    int r = 0;
    for (unsigned i = 0; i < run->done && r == 0; i++)
        r = sftp_say_result(s, run->ids[i], result);
    return r;
}

/* Writes the run and answers the requests that end in it. The one whose body comes shares the
 * failure: what is here of it is in the run, or follows it. */
static PARKS int settle(struct sftp_server *s, struct run *run, struct incoming *w)
{
    int result = write_parts(s, run);
    if (result == -ECANCELED && task_is_cancelled())
        return result;
    if (result < 0 && w->result >= 0)
        w->result = result;
    sftp_input_release(&s->input);
    int r = say_statuses(s, run, result);
    run->count = run->done = 0;
    run->len = 0;
    return r;
}

static void add_part(struct run *run, const struct incoming *w, struct iovec part)
{
    if (run->count == 0) {
        run->open = w->open;
        run->offset = w->offset;
    }
    run->parts[run->count++] = part;
    run->len += part.iov_len;
}

/* Until its last byte is here, in the run or in the file. */
static PARKS int receive(struct sftp_server *s, struct run *run, struct incoming *w)
{
    int r = 0;
    while (r == 0 && w->left > 0) {
        if (sftp_input_left(&s->input) == 0) {
            r = settle(s, run, w); /* what is to be written lies in what is given back */
            if (r == 0)
                r = sftp_input_take(&s->input);
            if (r == 0)
                r = -FERRY_ECLOSED;
            r = r > 0 ? 0 : r;
            continue;
        }
        if (run->count == ROOM_PIECES_MAX) {
            r = settle(s, run, w);
            continue;
        }
        struct iovec part = sftp_input_piece(&s->input, w->left);
        if (w->result >= 0)
            add_part(run, w, part);
        w->left -= part.iov_len;
        w->offset += part.iov_len;
    }
    return r;
}

static bool joins(const struct run *run, const struct incoming *w)
{
    return w->result >= 0 &&
           (run->count == 0 || (run->open == w->open && run->offset + run->len == w->offset));
}

/* *ret points into head. */
static bool next_is_write(const struct sftp_server *s, uint8_t head[SFTP_WRITE_HEAD],
                          struct sftp_request *ret)
{
    return sftp_input_peek(&s->input, head, SFTP_WRITE_HEAD) &&
           sftp_write_head_parse(head, ret);
}

static PARKS int serve_run(struct sftp_server *s, struct run *run, struct incoming *w)
{
    for (;;) {
        struct sftp_request next;
        uint8_t head[SFTP_WRITE_HEAD];
        int r = receive(s, run, w);
        if (r < 0)
            return r;
        if (w->result < 0) {
            r = settle(s, run, w);
            return r < 0 ? r : sftp_say_result(s, w->id, w->result);
        }
        run->ids[run->done++] = w->id;
        if (run->done == SFTP_JOINED_MAX || !next_is_write(s, head, &next))
            return settle(s, run, w);
        struct incoming after = begin(s, &next);
        sftp_input_skip(&s->input, SFTP_WRITE_HEAD);
        if (!joins(run, &after)) {
            r = settle(s, run, w);
            if (r < 0)
                return r;
        }
        *w = after;
    }
}

int sftp_receive_writes(struct sftp_server *s, const struct sftp_request *head)
{
    struct run run = {.count = 0};
    struct incoming w = begin(s, head);
    int r = serve_run(s, &run, &w);
    sftp_input_release(&s->input);
    return r;
}

/* A WRITE that is not of the usual form, so that it was read whole: a handle that is none of
 * ours, or bytes behind its data. */
int sftp_on_write(struct sftp_server *s, const struct sftp_request *q)
{
    struct incoming w = begin(s, q);
    if (w.result < 0 || q->len == 0)
        return sftp_say_result(s, q->id, w.result);
    struct chunk *c = chunk_new((size_t)q->len);
    if (c == NULL)
        return sftp_say_result(s, q->id, -ENOMEM);
    memcpy(c->data, q->data.data, q->data.len);
    c->pieces[0] = (struct iovec){c->data, q->data.len};
    struct run run = {.open = w.open, .offset = w.offset, .len = q->data.len};
    int r = xfer_write_at(vhandle_file(w.open->file), w.offset, c, c->pieces, 1, s->stall_us);
    if (r == 0)
        count_written(s, &run);
    else
        note_lost(w.open, w.offset, r);
    chunk_unref(c);
    return sftp_say_result(s, q->id, r);
}
