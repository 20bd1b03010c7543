#include "io/piece_cursor.h"

struct iovec piece_cursor_next(struct piece_cursor *c, size_t max)
{
    while (c->skip == c->pieces[c->piece].iov_len) {
        c->piece++;
        c->skip = 0;
    }
    struct iovec part = c->pieces[c->piece];
    part.iov_base = (uint8_t *)part.iov_base + c->skip;
    part.iov_len -= c->skip;
    if (part.iov_len > max)
        part.iov_len = max;
    c->skip += part.iov_len;
    return part;
}

void piece_cursor_skip(struct piece_cursor *c, size_t len)
{
    while (len > 0)
        len -= piece_cursor_next(c, len).iov_len;
}

void piece_cursor_put(struct piece_cursor *c, const void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        struct iovec part = piece_cursor_next(c, len - done);
        memcpy(part.iov_base, (const uint8_t *)data + done, part.iov_len);
        done += part.iov_len;
    }
}

void piece_cursor_get(struct piece_cursor *c, void *dst, size_t len)
{
    for (size_t done = 0; done < len;) {
        struct iovec part = piece_cursor_next(c, len - done);
        memcpy((uint8_t *)dst + done, part.iov_base, part.iov_len);
        done += part.iov_len;
    }
}
