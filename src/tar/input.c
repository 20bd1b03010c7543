/* libarchive reads from our stream, and an entry's contents become a stream.
 *
 * One call of libarchive must be short, so it is fed in small pieces where they are compressed:
 * a few KB may stand for megabytes. And what it keeps while it looks for an entry is bounded:
 * each list of extensions before one costs it memory. */
#include <errno.h>

#include "base/err.h"
#include "io/chunk.h"
#include "tar/internal.h"

#define TAKE_BYTES       (256 * 1024)
#define COMPRESSED_BYTES 4096
#define BODY_PIECE       (64 * 1024)
#define TAIL_BYTES_MAX   (1024 * 1024) /* behind the end of an archive: a last block's rest */

static bool is_too_long(const struct tar *t)
{
    return t->is_in_header &&
           archive_filter_bytes(t->archive, 0) - t->header_start > TAR_HEADER_BYTES;
}

/* What is too large is refused before libarchive sees it. */
static la_ssize_t hand_over(struct archive *a, struct tar *t, const void *data, size_t len,
                            const void **ret)
{
    if (t->is_zstd)
        t->error = zstd_frames_follow(&t->frames, bytes_of(data, len));
    if (t->error == -FERRY_ELIMIT)
        t->refused = "archive (its zstd window is over 8 MB)";
    if (t->error < 0) {
        archive_set_error(a, EIO, "%s", err_text(t->error));
        return ARCHIVE_FATAL;
    }
    *ret = data;
    return (la_ssize_t)len;
}

static la_ssize_t read_input(struct archive *a, void *arg, const void **ret)
{
    struct tar *t = arg;
    if (!t->is_head_read && t->head_len > 0) {
        t->is_head_read = true;
        return hand_over(a, t, t->head, t->head_len, ret);
    }
    bool is_plain = archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE;
    if (is_too_long(t))
        t->error = -FERRY_ELIMIT;
    if (t->error == 0 && ++t->piece >= t->slices.count) {
        slices_drop(&t->slices);
        t->piece = 0;
        t->error = stream_take(t->request->stream, is_plain ? TAKE_BYTES : COMPRESSED_BYTES,
                               &t->slices);
    }
    if (t->error < 0) {
        archive_set_error(a, EIO, "%s", err_text(t->error));
        return ARCHIVE_FATAL;
    }
    if (t->slices.len == 0)
        return 0;
    const struct iovec *piece = &t->slices.pieces[t->piece];
    return hand_over(a, t, piece->iov_base, piece->iov_len, ret);
}

static PARKS int read_head(struct tar *t)
{
    ssize_t n = 1;
    while (t->head_len < sizeof(t->head) && n > 0) {
        n = stream_read(t->request->stream, t->head + t->head_len,
                        sizeof(t->head) - t->head_len);
        if (n < 0)
            return (int)n;
        t->head_len += (size_t)n;
    }
    return 0;
}

/* One filter, not what libarchive would find: filters in filters, whose inner frames nobody
 * follows. */
static int add_filter(struct tar *t)
{
    t->is_zstd = t->head_len == sizeof(t->head) && zstd_is_magic(t->head);
    zstd_frames_init(&t->frames);
    if (t->is_zstd)
        return archive_read_append_filter(t->archive, ARCHIVE_FILTER_ZSTD);
    if (t->head_len >= 2 && t->head[0] == 0x1f && t->head[1] == 0x8b) /* RFC 1952 2.3.1 */
        return archive_read_append_filter(t->archive, ARCHIVE_FILTER_GZIP);
    return ARCHIVE_OK;
}

static PARKS int set_up_input(struct tar *t)
{
    struct archive *a = t->archive;
    t->error = read_head(t);
    if (t->error < 0)
        return t->error;
    if (archive_read_support_format_tar(a) != ARCHIVE_OK || add_filter(t) < ARCHIVE_WARN)
        return -ENOMEM;
    return archive_read_open(a, t, NULL, read_input, NULL) == ARCHIVE_OK ? 0 : tar_failure(t);
}

int tar_open_input(struct tar *t)
{
    t->archive = archive_read_new();
    if (t->archive == NULL)
        return -ENOMEM;
    return set_up_input(t);
}

void tar_close_input(struct tar *t)
{
    if (t->archive != NULL)
        (void)archive_read_free(t->archive);
    t->archive = NULL;
    slices_drop(&t->slices);
}

/* The peer's tar writes whole blocks, and would not like to find its pipe closed. */
static PARKS int drain_tail(struct tar *t)
{
    size_t len = 0;
    do {
        slices_drop(&t->slices);
        int r = stream_take(t->request->stream, TAKE_BYTES, &t->slices);
        if (r < 0)
            return r;
        len += t->slices.len;
    } while (t->slices.len > 0 && len < TAIL_BYTES_MAX);
    return 0;
}

int tar_next_entry(struct tar *t)
{
    int r;
    t->is_in_header = true;
    t->header_start = archive_filter_bytes(t->archive, 0);
    do
        r = archive_read_next_header(t->archive, &t->entry);
    while (r == ARCHIVE_RETRY && t->error == 0);
    t->is_in_header = false;
    if (r == ARCHIVE_EOF)
        return drain_tail(t);
    return r >= ARCHIVE_WARN ? 1 : tar_failure(t);
}

int tar_skip_body(struct tar *t)
{
    const void *block;
    size_t len;
    la_int64_t at;
    int r;
    while ((r = archive_read_data_block(t->archive, &block, &len, &at)) >= ARCHIVE_WARN &&
           r != ARCHIVE_EOF) {
        if (task_is_cancelled())
            return -ECANCELED;
        if (task_turn_is_over())
            task_yield();
    }
    return r == ARCHIVE_EOF ? 0 : tar_failure(t);
}

/* -- the contents -- */

static struct tar_body *body_of(struct stream *s)
{
    return (struct tar_body *)(void *)s; /* its first member */
}

/* Brings the next block, which may lie behind a hole; at the end, what is missing is one. */
static PARKS int next_block(struct tar_body *b)
{
    const void *block;
    la_int64_t at = 0;
    int r = archive_read_data_block(b->tar->archive, &block, &b->len, &at);
    if (r == ARCHIVE_EOF) {
        b->has_ended = true;
        b->len = 0;
        b->at = b->size;
        return 0;
    }
    if (r < ARCHIVE_WARN) {
        b->len = 0;
        b->tar->is_broken = true;
        return tar_failure(b->tar);
    }
    b->block = block;
    b->at = (uint64_t)at;
    bool is_sane =
        at >= 0 && b->at >= b->offset && b->at <= b->size && b->len <= b->size - b->at;
    return is_sane ? 0 : -FERRY_EPROTO;
}

static size_t least(uint64_t a, uint64_t b)
{
    uint64_t n = a < b ? a : b;
    return n < BODY_PIECE ? (size_t)n : BODY_PIECE;
}

static int body_take(struct stream *s, size_t max, struct slices *ret)
{
    struct tar_body *b = body_of(s);
    while (b->len == 0 && b->offset >= b->at && !b->has_ended) {
        int r = next_block(b);
        if (r < 0)
            return r;
    }
    bool is_hole = b->offset < b->at;
    size_t len = least(is_hole ? b->at - b->offset : b->len, max);
    if (len == 0) {
        *ret = (struct slices){0};
        return 0;
    }
    struct chunk *c = chunk_new(len);
    if (c == NULL)
        return -ENOMEM;
    if (is_hole) {
        memset(c->data, 0, len);
    } else {
        memcpy(c->data, b->block, len);
        b->block += len;
        b->len -= len;
        b->at += len;
    }
    b->offset += len;
    chunk_slices(s, c, len, ret);
    return 0;
}

/* Whoever takes waits: in libarchive, for the stream below. */
static int body_wait(struct stream *s, struct event *event, usec_t deadline)
{
    (void)s;
    (void)event;
    (void)deadline;
    return 0;
}

static void body_info(const struct stream *s, struct stream_info *ret)
{
    const struct tar_body *b = (const struct tar_body *)(const void *)s;
    stream_info(b->tar->request->stream, ret);
}

static const struct stream_ops body_ops = {
    .name = "tar entry",
    .take = body_take,
    .wait = body_wait,
    .info = body_info,
};

void tar_body_init(struct tar_body *b, struct tar *t, uint64_t size)
{
    *b = (struct tar_body){
        .stream = {&body_ops, t->request->stream->stall_us}, .tar = t, .size = size};
}

int tar_read_contents(struct tar *t, uint8_t *to, size_t len)
{
    struct tar_body b;
    tar_body_init(&b, t, len);
    while (b.offset < len) {
        if (b.len == 0 && b.offset >= b.at) {
            int r = next_block(&b);
            if (r < 0)
                return r;
            continue;
        }
        bool is_hole = b.offset < b.at;
        size_t n = is_hole ? (size_t)(b.at - b.offset) : b.len;
        if (is_hole) {
            memset(to + b.offset, 0, n);
        } else {
            memcpy(to + b.offset, b.block, n);
            b.len -= n;
            b.at += n;
        }
        b.offset += n;
    }
    return 0;
}
