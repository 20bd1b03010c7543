/* Known answers as they are printed in standards. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "check.h"

#define HEX_MAX 2048 /* bytes of one value */

/* The bytes go to room, of HEX_MAX bytes. */
static inline struct bytes hex_bytes(const char *digits, uint8_t *room)
{
    size_t len = strlen(digits) / 2;
    assert_true(len <= HEX_MAX && strlen(digits) % 2 == 0);
    for (size_t i = 0; i < len; i++) {
        const char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        char *end;
        room[i] = (uint8_t)strtoul(pair, &end, 16);
        assert_true(*end == '\0');
    }
    return bytes_of(room, len);
}

static inline void assert_hex_equal(const void *data, size_t len, const char *digits)
{
    static char text[2 * HEX_MAX + 1];
    assert_true(len <= HEX_MAX);
    text[0] = '\0';
    for (size_t i = 0; i < len; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)data)[i]);
    assert_string_equal(text, digits);
}
