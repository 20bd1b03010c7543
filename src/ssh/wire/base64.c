#include "ssh/wire/base64.h"

#include "base/buf.h"
#include "base/err.h"

#define GROUP_BYTES 3 /* that make GROUP_CHARS characters */
#define GROUP_CHARS 4
#define CHAR_BITS   6
#define NO_VALUE    0xffu

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint32_t value_of(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 0u;
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26u;
    if (c >= '0' && c <= '9')
        return c - '0' + 52u;
    return c == '+' ? 62 : c == '/' ? 63 : NO_VALUE;
}

/* The first `chars` characters of a group, as the upper bits of 24. */
static int get_bits(const uint8_t *text, size_t chars, uint32_t *ret)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < GROUP_CHARS; i++) {
        uint32_t value = i < chars ? value_of(text[i]) : 0;
        if (value == NO_VALUE)
            return -FERRY_EPROTO;
        bits = bits << CHAR_BITS | value;
    }
    *ret = bits;
    return 0;
}

static int decode_group(const uint8_t *text, size_t chars, uint8_t *dst)
{
    uint32_t bits;
    int r = get_bits(text, chars, &bits);
    if (r != 0)
        return r;
    size_t count = chars - 1;
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint8_t)(bits >> (16 - 8 * i));
    uint32_t behind = (1u << (24 - 8 * count)) - 1; /* bits of no byte */
    return (bits & behind) == 0 ? 0 : -FERRY_EPROTO;
}

int ssh_base64_decode(struct bytes text, struct buf *ret)
{
    if (text.len == 0)
        return 0;
    if (text.len % GROUP_CHARS != 0)
        return -FERRY_EPROTO;
    int r = buf_reserve(ret, text.len / GROUP_CHARS * GROUP_BYTES);
    if (r != 0)
        return r;
    size_t padding = 0;
    while (padding < 2 && padding < text.len && text.data[text.len - 1 - padding] == '=')
        padding++;
    uint8_t *dst = ret->data + ret->len;
    size_t len = 0;
    for (size_t at = 0; r == 0 && at < text.len; at += GROUP_CHARS) {
        size_t chars = GROUP_CHARS - (at + GROUP_CHARS == text.len ? padding : 0);
        r = decode_group(text.data + at, chars, dst + len);
        len += chars - 1;
    }
    if (r == 0)
        buf_added(ret, len);
    return r;
}

int ssh_base64_encode(struct bytes data, struct buf *ret)
{
    if (data.len == 0)
        return 0;
    if (data.len > SIZE_MAX / 2)
        return -FERRY_ELIMIT;
    size_t len = (data.len + GROUP_BYTES - 1) / GROUP_BYTES * GROUP_CHARS;
    int r = buf_reserve(ret, len);
    if (r != 0)
        return r;
    uint8_t *dst = ret->data + ret->len;
    for (size_t at = 0; at < data.len; at += GROUP_BYTES, dst += GROUP_CHARS) {
        uint32_t bits = 0;
        for (size_t i = 0; i < GROUP_BYTES; i++)
            bits = bits << 8 | (at + i < data.len ? data.data[at + i] : 0u);
        for (size_t i = 0; i < GROUP_CHARS; i++)
            dst[i] =
                at + i > data.len ? '=' : (uint8_t)alphabet[bits >> (18 - CHAR_BITS * i) & 63];
    }
    buf_added(ret, len);
    return 0;
}
