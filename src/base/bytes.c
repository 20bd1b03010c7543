#include "base/bytes.h"

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

/* memcmp and memchr may not be given NULL, which is what an empty run often holds. */
bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool bytes_equal_nocase(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
    return true;
}

bool bytes_start_with(struct bytes s, struct bytes prefix)
{
    return bytes_equal(bytes_first(s, prefix.len), prefix);
}

bool bytes_find(struct bytes s, uint8_t c, size_t *ret_at)
{
    const uint8_t *at = s.len != 0 ? memchr(s.data, c, s.len) : NULL;
    if (at == NULL)
        return false;
    *ret_at = (size_t)(at - s.data);
    return true;
}

struct bytes bytes_skip(struct bytes s, size_t n)
{
    if (n >= s.len)
        return BYTES_NONE;
    return (struct bytes){s.data + n, s.len - n};
}

struct bytes bytes_first(struct bytes s, size_t n)
{
    return (struct bytes){s.data, n < s.len ? n : s.len};
}

struct bytes bytes_take_until(struct bytes *rest, uint8_t end)
{
    size_t at = rest->len;
    (void)bytes_find(*rest, end, &at);
    struct bytes taken = bytes_first(*rest, at);
    *rest = bytes_skip(*rest, at + 1);
    return taken;
}
