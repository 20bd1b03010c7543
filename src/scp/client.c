#include "scp/client.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"
#include "io/chunk.h"
#include "scp/wire/line.h"

#define TAKE_BYTES (256 * 1024)
#define ROOM_BYTES (480 * 1024)

enum { COMPLAINS = 1, COMPLAINS_AND_LEAVES = 2 }; /* first byte of an answer that is no NUL */

struct dialogue {
    struct stream *stream;
    char *why;
    struct buf line; /* the last that was read */
};

/* -- the command -- */

static int append_quoted(struct buf *ret, struct bytes path)
{
    int r = buf_append_byte(ret, '\'');
    for (size_t i = 0; i < path.len && r == 0; i++)
        r = path.data[i] == '\'' ? buf_append_str(ret, "'\\''")
                                 : buf_append_byte(ret, path.data[i]);
    return r < 0 ? r : buf_append_byte(ret, '\'');
}

int scp_client_command(bool receives, bool has_times, struct bytes path, struct buf *ret)
{
    size_t at;
    if (bytes_find(path, '\0', &at))
        return -EINVAL;
    int r = buf_append_str(ret, receives ? "scp -t" : "scp -f");
    if (r == 0 && has_times)
        r = buf_append_str(ret, " -p");
    if (r == 0)
        r = buf_append_str(ret, " -- ");
    return r < 0 ? r : append_quoted(ret, path);
}

/* -- lines -- */

/* Byte by byte, since what follows may be a file's. */
static PARKS int read_byte(struct dialogue *d, uint8_t *ret)
{
    ssize_t n = stream_read(d->stream, ret, 1);
    return n < 0 ? (int)n : n == 0 ? -FERRY_ECLOSED : 0;
}

static PARKS int read_line(struct dialogue *d, uint8_t first, struct bytes *ret)
{
    buf_clear(&d->line);
    for (uint8_t c = first; c != '\n';) {
        int r = buf_append_byte(&d->line, c);
        if (r == 0)
            r = read_byte(d, &c);
        if (r < 0)
            return r == -FERRY_ELIMIT ? -FERRY_EPROTO : r;
    }
    *ret = buf_bytes(&d->line);
    return 0;
}

static int refused(struct dialogue *d, struct bytes text)
{
    (void)text_copy_printable(d->why, SCP_CLIENT_WHY_MAX, text);
    return -FERRY_EREFUSED;
}

/* A NUL byte, or a complaint. */
static PARKS int read_answer(struct dialogue *d)
{
    struct scp_line line;
    struct bytes text;
    uint8_t c;
    int r = read_byte(d, &c);
    if (r < 0 || c == '\0')
        return r;
    if (c != COMPLAINS && c != COMPLAINS_AND_LEAVES)
        return -FERRY_EPROTO;
    r = read_line(d, c, &text);
    if (r == 0)
        r = scp_line_parse(text, &line);
    return r < 0 ? r : refused(d, line.text);
}

static PARKS int say_done(struct dialogue *d)
{
    return stream_write_bytes(d->stream, BYTES_LIT("\0"));
}

static PARKS int say(struct dialogue *d, const struct scp_line *line)
{
    struct buf out;
    buf_init(&out, 2 * SCP_LINE_MAX);
    int r = scp_line_append(&out, line);
    if (r == 0)
        r = stream_write_bytes(d->stream, buf_bytes(&out));
    buf_done(&out);
    return r;
}

static PARKS int say_and_hear(struct dialogue *d, const struct scp_line *line)
{
    int r = say(d, line);
    return r < 0 ? r : read_answer(d);
}

/* -- get -- */

static PARKS int read_one(struct dialogue *d, struct scp_line *ret)
{
    struct bytes text;
    uint8_t c;
    int r = read_byte(d, &c);
    if (r == 0)
        r = read_line(d, c, &text);
    return r < 0 ? r : scp_line_parse(text, ret);
}

/* Up to the line of the file, which is answered by the caller. */
static PARKS int read_head(struct dialogue *d, struct scp_file *file, uint64_t max_bytes)
{
    struct scp_line line;
    bool has_times = false;
    int r = say_done(d);
    if (r == 0)
        r = read_one(d, &line);
    if (r == 0 && line.kind == SCP_LINE_TIMES && file->has_times) {
        file->mtime_us = line.mtime_us;
        file->atime_us = line.atime_us;
        has_times = true;
        r = say_done(d);
        if (r == 0)
            r = read_one(d, &line);
    }
    if (r < 0)
        return r;
    if (line.kind == SCP_LINE_WARNING || line.kind == SCP_LINE_FATAL)
        return refused(d, line.text);
    if (line.kind != SCP_LINE_FILE)
        return -FERRY_EPROTO;
    if (!bytes_equal(line.text, file->name))
        return -FERRY_EBADNAME;
    file->has_times = has_times;
    file->size_bytes = line.size_bytes;
    file->mode = line.mode;
    return line.size_bytes > max_bytes ? -EFBIG : 0;
}

static PARKS int receive_body(struct dialogue *d, uint64_t size, scp_sink *sink, void *arg)
{
    for (uint64_t offset = 0; offset < size;) {
        struct slices in;
        uint64_t left = size - offset;
        int r = stream_take(d->stream, left < TAKE_BYTES ? (size_t)left : TAKE_BYTES, &in);
        if (r < 0)
            return r;
        if (in.len == 0)
            return -FERRY_ECLOSED;
        if (sink != NULL)
            r = sink(arg, offset, in.chunk, in.pieces, in.count);
        offset += in.len;
        slices_drop(&in);
        if (r < 0)
            return r;
    }
    return 0;
}

int scp_client_get(struct stream *stream, struct scp_file *file, uint64_t max_bytes,
                   scp_sink *sink, void *arg, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct dialogue d = {.stream = stream, .why = ret_why};
    ret_why[0] = '\0';
    buf_init(&d.line, SCP_LINE_MAX);
    int r = read_head(&d, file, max_bytes);
    if (r == 0)
        r = say_done(&d);
    if (r == 0)
        r = receive_body(&d, file->size_bytes, sink, arg);
    if (r == 0)
        r = read_answer(&d); /* a file that changed meanwhile is complained of here */
    if (r == 0)
        (void)(say_done(&d) < 0); /* a server that has left already has said all */
    buf_done(&d.line);
    return r;
}

/* -- put -- */

static PARKS int send_some(struct dialogue *d, uint64_t *offset, uint64_t size,
                           scp_source *source, void *arg)
{
    struct room room;
    uint64_t left = size - *offset;
    int r = stream_room(d->stream, left < ROOM_BYTES ? (size_t)left : ROOM_BYTES, &room);
    if (r < 0)
        return r;
    ssize_t n = source(arg, *offset, room.chunk, room.pieces, room.count);
    if (n <= 0) {
        room_drop(&room);
        return n < 0 ? (int)n : -FERRY_ETRUNCATED;
    }
    *offset += (uint64_t)n;
    return stream_send(d->stream, &room, (size_t)n);
}

static PARKS int send_head(struct dialogue *d, const struct scp_file *file)
{
    const struct scp_line times = {
        .kind = SCP_LINE_TIMES, .mtime_us = file->mtime_us, .atime_us = file->atime_us};
    const struct scp_line line = {.kind = SCP_LINE_FILE,
                                  .mode = file->mode,
                                  .size_bytes = file->size_bytes,
                                  .text = file->name};
    int r = read_answer(d);
    if (r == 0 && file->has_times)
        r = say_and_hear(d, &times);
    return r < 0 ? r : say_and_hear(d, &line);
}

int scp_client_put(struct stream *stream, const struct scp_file *file, scp_source *source,
                   void *arg, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct dialogue d = {.stream = stream, .why = ret_why};
    uint64_t offset = 0;
    ret_why[0] = '\0';
    buf_init(&d.line, SCP_LINE_MAX);
    int r = send_head(&d, file);
    while (r == 0 && offset < file->size_bytes) {
        r = send_some(&d, &offset, file->size_bytes, source, arg);
        if (task_turn_is_over())
            task_yield();
    }
    if (r == 0)
        r = say_done(&d);
    if (r == 0)
        r = read_answer(&d);
    buf_done(&d.line);
    return r;
}
