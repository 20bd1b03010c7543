/* A growing byte buffer that owns its memory and has a cap.
 *
 * The cap is given at init and never passed: an append that would is refused with -FERRY_ELIMIT
 * and changes nothing. -ENOMEM likewise. A new buffer holds no memory. What is appended must
 * not lie in the buffer itself. Growing may leave a copy of the old contents in the heap:
 * whoever puts a secret into a buffer reserves its whole size first.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

struct buf {
    uint8_t *data; /* NULL while nothing was appended */
    size_t len;
    size_t room; /* bytes of data that are allocated */
    size_t cap;
};

void buf_init(struct buf *, size_t cap_bytes);
void buf_done(struct buf *);  /* frees; the buffer is as after buf_init() */
void buf_wipe(struct buf *);  /* overwrites what it held, then buf_done() */
void buf_clear(struct buf *); /* len = 0, memory kept */

MUST_CHECK int buf_append(struct buf *, const void *data, size_t len);
MUST_CHECK int buf_append_bytes(struct buf *, struct bytes);
MUST_CHECK int buf_append_str(struct buf *, const char *);
MUST_CHECK int buf_append_byte(struct buf *, uint8_t);
MUST_CHECK int buf_printf(struct buf *, const char *format, ...) PRINTF_LIKE(2, 3);

/* Room for len more bytes at data + len, which the caller fills and then counts with
 * buf_added(). */
MUST_CHECK int buf_reserve(struct buf *, size_t len);
void buf_added(struct buf *, size_t len);
void buf_consume(struct buf *, size_t len); /* drops from the front, at most all */

static inline struct bytes buf_bytes(const struct buf *b)
{
    return (struct bytes){b->data, b->len};
}
