/* Requests as they come: slices of the stream, looked at in place. A message that no piece has
 * whole is put together in a buffer that goes with it.
 *
 * What is held here is no more than one take: the rest stays in the stream, whose bounds it
 * counts against either way. So a client that asks for much costs what it costs to be answered.
 */
#pragma once
#include "base/buf.h"
#include "io/piece_cursor.h"

#define SFTP_TAKE_BYTES (256 * 1024)

struct sftp_input {
    struct stream *stream;
    struct slices held;
    struct piece_cursor at; /* where in it the next byte is */
    size_t left;            /* bytes from there on */
    struct buf partial;     /* the start of a message, before what is held */
};

void sftp_input_init(struct sftp_input *, struct stream *);
void sftp_input_done(struct sftp_input *);

/* 1: the next len bytes, in one run, valid until they are skipped. 0: the stream has ended
 * before them, at the end of a message. -FERRY_ECLOSED: in the middle of one; or the stream's
 * failure. */
PARKS MUST_CHECK int sftp_input_get(struct sftp_input *, size_t len, struct bytes *ret);
/* Consumes them. Memory that was held stays until sftp_input_release(). */
void sftp_input_skip(struct sftp_input *, size_t len);
/* A copy of the next len bytes, if they are here; nothing is consumed. */
bool sftp_input_peek(const struct sftp_input *, void *dst, size_t len);
/* Bytes that are here and follow what was consumed. */
size_t sftp_input_left(const struct sftp_input *);
/* The next piece of what is here, at most max bytes, and consumes it. Empty: nothing is here.
 */
struct iovec sftp_input_piece(struct sftp_input *, size_t max);
/* Gives back what is used up. */
void sftp_input_release(struct sftp_input *);
/* Releases, and takes more: 1; 0: the stream has ended; or its failure. Only where nothing is
 * left. */
PARKS MUST_CHECK int sftp_input_take(struct sftp_input *);
/* The same if it need not wait: 0, if nothing is there. Its failure is told by the next one. */
PARKS MUST_CHECK int sftp_input_try_take(struct sftp_input *);
