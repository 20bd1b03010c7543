/* A borrowed run of bytes: not owned, not terminated, valid as long as its source. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t len;
};

#define BYTES_LIT(s) ((struct bytes){(const uint8_t *)("" s), sizeof(s) - 1})
#define BYTES_NONE   ((struct bytes){NULL, 0})

static inline struct bytes bytes_of(const void *data, size_t len)
{
    return (struct bytes){data, len};
}

static inline struct bytes bytes_str(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

bool bytes_equal(struct bytes, struct bytes);
bool bytes_equal_nocase(struct bytes, struct bytes); /* ASCII letters only */
bool bytes_start_with(struct bytes, struct bytes prefix);
bool bytes_find(struct bytes, uint8_t c, size_t *ret_at);
struct bytes bytes_skip(struct bytes, size_t n);  /* empty if n is past the end */
struct bytes bytes_first(struct bytes, size_t n); /* at most n */
/* What stands before the first `end`, or all; *rest is what stands behind it. */
struct bytes bytes_take_until(struct bytes *rest, uint8_t end);
