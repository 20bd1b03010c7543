#include "base/text.h"

#include <errno.h>

#define DEL 0x7f

char text_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

static bool is_control(uint8_t c)
{
    return c < 0x20 || c == DEL;
}

/* -- numbers -- */

int text_u64(struct bytes s, unsigned base, uint64_t max, uint64_t *ret)
{
    if (s.len == 0)
        return -EINVAL;
    uint64_t n = 0;
    bool too_big = false;
    /* To the end even when it is too big: "99999999999999999999x" is no number at all. */
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)s.data[i] - '0';
        if (digit >= base)
            return -EINVAL;
        too_big = too_big || __builtin_mul_overflow(n, (uint64_t)base, &n) ||
                  __builtin_add_overflow(n, (uint64_t)digit, &n);
    }
    if (too_big || n > max)
        return -ERANGE;
    *ret = n;
    return 0;
}

int text_size(struct bytes s, uint64_t *ret)
{
    static const char units[] = "KMGT";
    unsigned shift = 0;
    if (s.len != 0) {
        const char *unit = memchr(units, s.data[s.len - 1], sizeof(units) - 1);
        if (unit != NULL) {
            shift = 10 * (unsigned)(unit - units + 1);
            s.len--;
        }
    }
    uint64_t n;
    int r = text_u64(s, 10, UINT64_MAX >> shift, &n);
    if (r != 0)
        return r;
    *ret = n << shift;
    return 0;
}

/* -- copies -- */

size_t text_copy(char *dst, size_t cap, struct bytes s)
{
    if (cap == 0)
        return 0;
    struct bytes part = bytes_first(s, cap - 1);
    if (part.len != 0)
        memcpy(dst, part.data, part.len);
    dst[part.len] = '\0';
    return part.len;
}

size_t text_copy_printable(char *dst, size_t cap, struct bytes s)
{
    size_t len = text_copy(dst, cap, s);
    for (size_t i = 0; i < len; i++)
        if (is_control((uint8_t)dst[i]))
            dst[i] = '?';
    return len;
}

bool text_has_control(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is_control(s.data[i]))
            return true;
    return false;
}

/* -- UTF-8 and JSON -- */

/* What may follow a lead byte (RFC 3629 section 4). The bounds of the second byte keep out
 * overlong forms, surrogates and what lies above U+10FFFF. */
static const struct {
    uint8_t lead_min, lead_max, second_min, second_max, len;
} utf8_forms[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool is_tail(const uint8_t *data, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if ((data[i] & 0xc0) != 0x80)
            return false;
    return true;
}

size_t text_utf8_len(struct bytes s)
{
    if (s.len == 0)
        return 0;
    if (s.data[0] < 0x80)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(utf8_forms); i++) {
        if (s.data[0] < utf8_forms[i].lead_min || s.data[0] > utf8_forms[i].lead_max)
            continue;
        if (s.len < utf8_forms[i].len || s.data[1] < utf8_forms[i].second_min ||
            s.data[1] > utf8_forms[i].second_max || !is_tail(s.data, 2, utf8_forms[i].len))
            return 0;
        return utf8_forms[i].len;
    }
    return 0;
}

static size_t put_u_escape(char *dst, unsigned code)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};
    memcpy(dst, escape, sizeof(escape));
    return sizeof(escape);
}

size_t text_json_char(struct bytes s, char dst[TEXT_JSON_CHAR_MAX], size_t *ret_used)
{
    static const char short_escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    size_t len = text_utf8_len(s);
    *ret_used = len != 0 ? len : 1;
    if (len == 0) {
        memcpy(dst, "\xef\xbf\xbd", 3); /* U+FFFD */
        return 3;
    }
    uint8_t c = s.data[0];
    if (len == 2 && c == 0xc2 && s.data[1] < 0xa0)
        return put_u_escape(dst, s.data[1]);
    for (size_t i = 0; len == 1 && i < sizeof(short_escapes) - 1; i += 2) {
        if (c == (uint8_t)short_escapes[i]) {
            dst[0] = '\\';
            dst[1] = short_escapes[i + 1];
            return 2;
        }
    }
    if (is_control(c))
        return put_u_escape(dst, c);
    memcpy(dst, s.data, len);
    return len;
}
