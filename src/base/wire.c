#include "base/wire.h"

#include "base/err.h"

/* -- reading -- */

struct wire_reader wire_reader_of(struct bytes b)
{
    return (struct wire_reader){b.data, b.len, false};
}

/* The next len bytes, or NULL and nothing is left. */
static const uint8_t *take(struct wire_reader *r, size_t len)
{
    if (r->has_failed || len > r->left) {
        r->has_failed = true;
        r->left = 0;
        return NULL;
    }
    const uint8_t *at = r->at;
    if (len > 0) /* an empty source may be NULL, to which nothing may be added */
        r->at += len;
    r->left -= len;
    return at;
}

static uint64_t get_number(struct wire_reader *r, size_t len)
{
    const uint8_t *at = take(r, len);
    uint64_t value = 0;
    for (size_t i = 0; at != NULL && i < len; i++)
        value = value << 8 | at[i];
    return value;
}

uint8_t wire_get_u8(struct wire_reader *r)
{
    return (uint8_t)get_number(r, 1);
}

bool wire_get_bool(struct wire_reader *r)
{
    return get_number(r, 1) != 0;
}

uint16_t wire_get_u16(struct wire_reader *r)
{
    return (uint16_t)get_number(r, 2);
}

uint32_t wire_get_u32(struct wire_reader *r)
{
    return (uint32_t)get_number(r, 4);
}

uint64_t wire_get_u64(struct wire_reader *r)
{
    return get_number(r, 8);
}

struct bytes wire_get_bytes(struct wire_reader *r, size_t len)
{
    const uint8_t *at = take(r, len);
    return at != NULL ? bytes_of(at, len) : BYTES_NONE;
}

struct bytes wire_get_string(struct wire_reader *r, size_t max)
{
    size_t len = wire_get_u32(r);
    if (len > max) {
        r->has_failed = true;
        r->left = 0;
        return BYTES_NONE;
    }
    return wire_get_bytes(r, len);
}

struct bytes wire_get_rest(struct wire_reader *r)
{
    return wire_get_bytes(r, r->left);
}

int wire_read_end(const struct wire_reader *r)
{
    return r->has_failed || r->left > 0 ? -FERRY_EPROTO : 0;
}

/* -- writing -- */

struct wire_writer wire_writer_of(void *data, size_t cap)
{
    return (struct wire_writer){data, 0, cap, false};
}

/* Where the next len bytes go, or NULL. */
static uint8_t *give(struct wire_writer *w, size_t len)
{
    if (w->has_failed || len > w->cap - w->len) {
        w->has_failed = true;
        return NULL;
    }
    if (len == 0)
        return NULL; /* as data may be */
    uint8_t *at = w->data + w->len;
    w->len += len;
    return at;
}

static void put_number(struct wire_writer *w, uint64_t value, size_t len)
{
    uint8_t *at = give(w, len);
    if (at == NULL)
        return;
    for (size_t i = len; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

void wire_put_u8(struct wire_writer *w, uint8_t value)
{
    put_number(w, value, 1);
}

void wire_put_bool(struct wire_writer *w, bool value)
{
    put_number(w, value, 1);
}

void wire_put_u16(struct wire_writer *w, uint16_t value)
{
    put_number(w, value, 2);
}

void wire_put_u32(struct wire_writer *w, uint32_t value)
{
    put_number(w, value, 4);
}

void wire_put_u64(struct wire_writer *w, uint64_t value)
{
    put_number(w, value, 8);
}

void wire_put_bytes(struct wire_writer *w, struct bytes b)
{
    uint8_t *at = give(w, b.len);
    if (at != NULL && b.len > 0)
        memcpy(at, b.data, b.len);
}

/* A length without its bytes would be worse than neither. */
void wire_put_string(struct wire_writer *w, struct bytes b)
{
    if (b.len > UINT32_MAX || b.len > w->cap - w->len || w->cap - w->len - b.len < 4) {
        w->has_failed = true;
        return;
    }
    wire_put_u32(w, (uint32_t)b.len);
    wire_put_bytes(w, b);
}

void wire_put_mpint(struct wire_writer *w, struct bytes magnitude)
{
    while (magnitude.len > 0 && magnitude.data[0] == 0)
        magnitude = bytes_skip(magnitude, 1);
    bool needs_zero = magnitude.len > 0 && (magnitude.data[0] & 0x80) != 0;
    size_t len = magnitude.len + needs_zero;
    if (len > UINT32_MAX || len > w->cap - w->len || w->cap - w->len - len < 4) {
        w->has_failed = true;
        return;
    }
    wire_put_u32(w, (uint32_t)len);
    if (needs_zero)
        wire_put_u8(w, 0);
    wire_put_bytes(w, magnitude);
}

int wire_write_end(const struct wire_writer *w)
{
    return w->has_failed ? -FERRY_ELIMIT : 0;
}

/* -- stand-alone -- */

uint32_t wire_u32(const uint8_t at[4])
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void wire_set_u32(uint8_t at[4], uint32_t value)
{
    struct wire_writer w = wire_writer_of(at, 4);
    wire_put_u32(&w, value);
}
