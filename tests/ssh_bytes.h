/* Bytes for the tests of ssh's messages: hexadecimal, patterns, and what must hold for every
 * parser. */
#pragma once
#include <stdlib.h>

#include "base/bytes.h"
#include "base/err.h"
#include "check.h"

/* Returns the length; the text is ours, and its bytes fit. */
static inline size_t unhex(const char *hex, uint8_t *dst)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        dst[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return len;
}

/* start, start + 7, start + 14, ... */
static inline struct bytes fill_pattern(uint8_t *dst, uint8_t start, size_t len)
{
    for (size_t i = 0; i < len; i++)
        dst[i] = (uint8_t)(start + 7 * i);
    return bytes_of(dst, len);
}

/* A parser's answer to an exact copy, so that a sanitizer sees a step beyond its end. */
static inline int parse_copy(int (*parse)(struct bytes), struct bytes message)
{
    uint8_t *copy = malloc(message.len != 0 ? message.len : 1);
    if (message.len != 0)
        memcpy(copy, message.data, message.len);
    int rc = parse(bytes_of(copy, message.len));
    free(copy);
    return rc;
}

/* A message is taken whole; refused are its cuts, a byte behind it (unless is_open: what its
 * type has of its own may follow), and what stands under another number than those of
 * `numbers`, which ends in 0. */
static inline void check_shape(int (*parse)(struct bytes), struct bytes message, bool is_open,
                               const uint8_t *numbers)
{
    uint8_t copy[8192];
    assert_true(message.len < sizeof(copy));
    memcpy(copy, message.data, message.len);
    assert_int_equal(parse_copy(parse, message), 0);
    for (size_t len = 0; len < message.len; len++)
        assert_int_equal(parse_copy(parse, bytes_of(copy, len)), -FERRY_EPROTO);
    copy[message.len] = 0;
    assert_int_equal(parse_copy(parse, bytes_of(copy, message.len + 1)),
                     is_open ? 0 : -FERRY_EPROTO);
    for (int n = 0; n <= UINT8_MAX; n++) {
        copy[0] = (uint8_t)n;
        if (n != 0 && strchr((const char *)numbers, n) != NULL)
            continue;
        assert_int_equal(parse_copy(parse, bytes_of(copy, message.len)), -FERRY_EPROTO);
    }
}
