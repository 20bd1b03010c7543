/* Numbers as text, put where the caller has room. A listing of a large directory has half a
 * million of them; by snprintf() they were most of what its lines cost. No NUL is written; each
 * function returns the place after the last character.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_MAX (64 / 3 + 1) /* 64 bits in octal */

static inline char *digits_put_padded(char *at, const char *digits, size_t len, size_t width,
                                      char pad)
{
    for (; width > len; width--)
        *at++ = pad;
    memcpy(at, digits, len);
    return at + len;
}

/* Decimal; at least `width` characters, with `pad` in front. */
static inline char *digits_put(char *at, uint64_t n, size_t width, char pad)
{
    char text[DIGITS_MAX];
    size_t first = sizeof(text);
    do
        text[--first] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return digits_put_padded(at, text + first, sizeof(text) - first, width, pad);
}

/* bits: of a digit, 3 (octal) or 4 (hexadecimal, small letters); zeros in front. */
static inline char *digits_put_bits(char *at, uint64_t n, unsigned bits, size_t width)
{
    char text[DIGITS_MAX];
    size_t first = sizeof(text);
    do
        text[--first] = "0123456789abcdef"[n & ((1u << bits) - 1)];
    while ((n >>= bits) != 0);
    return digits_put_padded(at, text + first, sizeof(text) - first, width, '0');
}

static inline char *digits_put_two(char *at, unsigned n) /* 0 to 99 */
{
    at[0] = (char)('0' + n / 10);
    at[1] = (char)('0' + n % 10);
    return at + 2;
}
