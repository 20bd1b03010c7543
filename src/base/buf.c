#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

/* One byte more than room is always allocated: the NUL that vsnprintf writes goes there when
 * the buffer is filled to its cap. With it every block but the last is a power of two. */
#define ROOM_MIN 63

void buf_init(struct buf *b, size_t cap_bytes)
{
    *b = (struct buf){.cap = cap_bytes};
}

void buf_done(struct buf *b)
{
    mem_free(b->data);
    buf_init(b, b->cap);
}

void buf_wipe(struct buf *b)
{
    /* All of it: buf_clear() and buf_consume() leave bytes behind len. */
    mem_wipe(b->data, b->room);
    buf_done(b);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
}

static size_t next_room(const struct buf *b, size_t need)
{
    size_t room = b->room * 2 + 1; /* what was allocated is below half of SIZE_MAX */
    if (room < ROOM_MIN)
        room = ROOM_MIN;
    if (room < need)
        room = need;
    return room < b->cap ? room : b->cap;
}

int buf_reserve(struct buf *b, size_t len)
{
    if (len > b->cap - b->len)
        return -FERRY_ELIMIT;
    size_t need = b->len + len;
    if (need <= b->room)
        return 0;
    size_t room = next_room(b, need);
    if (room == SIZE_MAX)
        return -ENOMEM;
    uint8_t *data = mem_resize(b->data, room + 1);
    if (data == NULL)
        return -ENOMEM;
    b->data = data;
    b->room = room;
    return 0;
}

void buf_added(struct buf *b, size_t len)
{
    b->len += len;
}

int buf_append(struct buf *b, const void *data, size_t len)
{
    int r = buf_reserve(b, len);
    if (r != 0)
        return r;
    if (len != 0)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}

int buf_append_bytes(struct buf *b, struct bytes s)
{
    return buf_append(b, s.data, s.len);
}

int buf_append_str(struct buf *b, const char *s)
{
    return buf_append(b, s, strlen(s));
}

int buf_append_byte(struct buf *b, uint8_t c)
{
    return buf_append(b, &c, 1);
}

/* Measured first, so that nothing is written when it does not fit. */
int buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len <= 0)
        return len == 0 ? 0 : -EINVAL;

    int r = buf_reserve(b, (size_t)len);
    if (r != 0)
        return r;
    va_start(args, format);
    (void)vsnprintf((char *)b->data + b->len, (size_t)len + 1, format, args);
    va_end(args);
    b->len += (size_t)len;
    return 0;
}

void buf_consume(struct buf *b, size_t len)
{
    if (len >= b->len) {
        b->len = 0;
        return;
    }
    memmove(b->data, b->data + len, b->len - len);
    b->len -= len;
}
