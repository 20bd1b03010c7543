/* A place in a row of pieces, which moves on: where the next byte of a room is written to, or
 * of slices read from. The pieces are borrowed and stay as they are; who moves on knows that so
 * many bytes are left. */
#pragma once
#include "io/stream.h"

struct piece_cursor {
    const struct iovec *pieces;
    unsigned piece; /* where the next byte is */
    size_t skip;    /* of that piece */
};

/* What is next in one piece, at most max bytes of it, and moves behind it. */
struct iovec piece_cursor_next(struct piece_cursor *, size_t max);
void piece_cursor_skip(struct piece_cursor *, size_t len);
/* Copies to the pieces, or out of them. */
void piece_cursor_put(struct piece_cursor *, const void *data, size_t len);
void piece_cursor_get(struct piece_cursor *, void *dst, size_t len);
