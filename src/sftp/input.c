#include "sftp/input.h"

#include <assert.h>

#include "base/err.h"
#include "sftp/wire/message.h"

void sftp_input_init(struct sftp_input *in, struct stream *stream)
{
    *in = (struct sftp_input){.stream = stream};
    buf_init(&in->partial, SFTP_LENGTH_BYTES + SFTP_MESSAGE_MAX);
}

void sftp_input_done(struct sftp_input *in)
{
    slices_drop(&in->held);
    buf_done(&in->partial);
}

void sftp_input_release(struct sftp_input *in)
{
    if (in->left == 0)
        slices_drop(&in->held);
}

int sftp_input_take(struct sftp_input *in)
{
    assert(in->left == 0);
    sftp_input_release(in);
    int r = stream_take(in->stream, SFTP_TAKE_BYTES, &in->held);
    if (r < 0)
        return r;
    in->at = (struct piece_cursor){.pieces = in->held.pieces};
    in->left = in->held.len;
    return in->left > 0;
}

int sftp_input_try_take(struct sftp_input *in)
{
    if (stream_wait(in->stream, NULL, clock_now()) < 0)
        return 0;
    return sftp_input_take(in);
}

size_t sftp_input_left(const struct sftp_input *in)
{
    return in->left;
}

struct iovec sftp_input_piece(struct sftp_input *in, size_t max)
{
    if (in->left == 0)
        return (struct iovec){0};
    struct iovec part = piece_cursor_next(&in->at, max);
    in->left -= part.iov_len;
    return part;
}

bool sftp_input_peek(const struct sftp_input *in, void *dst, size_t len)
{
    if (len > in->left)
        return false;
    struct piece_cursor at = in->at;
    piece_cursor_get(&at, dst, len);
    return true;
}

void sftp_input_skip(struct sftp_input *in, size_t len)
{
    if (in->partial.len > 0) {
        assert(in->partial.len <= len);
        len -= in->partial.len;
        buf_done(&in->partial);
    }
    while (len > 0)
        len -= sftp_input_piece(in, len).iov_len;
}

/* The run that lies in one piece, or none. */
static struct bytes in_place(struct sftp_input *in, size_t len)
{
    if (in->partial.len > 0 || len > in->left)
        return BYTES_NONE;
    struct piece_cursor at = in->at;
    struct iovec part = piece_cursor_next(&at, len);
    return part.iov_len == len ? bytes_of(part.iov_base, len) : BYTES_NONE;
}

/* Moves what is here behind the partial one, up to len in all. */
static int gather(struct sftp_input *in, size_t len)
{
    int r = 0;
    while (r == 0 && in->partial.len < len && in->left > 0) {
        struct iovec part = sftp_input_piece(in, len - in->partial.len);
        r = buf_append(&in->partial, part.iov_base, part.iov_len);
    }
    return r;
}

int sftp_input_get(struct sftp_input *in, size_t len, struct bytes *ret)
{
    bool has_none = in->left == 0 && in->partial.len == 0;
    int r = has_none ? sftp_input_take(in) : 1;
    if (r <= 0)
        return r;
    struct bytes whole = in_place(in, len);
    while (whole.len < len) {
        r = gather(in, len);
        if (r == 0 && in->partial.len < len) {
            r = sftp_input_take(in);
            if (r == 0)
                r = -FERRY_ECLOSED;
        }
        if (r < 0)
            return r;
        if (in->partial.len == len)
            whole = buf_bytes(&in->partial);
    }
    *ret = whole;
    return 1;
}
