/* Text of the protocols: numbers, case, what may be shown. No locale, no allocation. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"

/* Whole of s is digits of the base (8 or 10), at least one, value <= max; else -EINVAL,
 * -ERANGE. */
MUST_CHECK int text_u64(struct bytes s, unsigned base, uint64_t max, uint64_t *ret);

/* "10M", "64K", "1.5G" style sizes are not accepted: digits and one of K M G T (1024). */
MUST_CHECK int text_size(struct bytes s, uint64_t *ret);

/* Copies s into dst of cap bytes, always terminated, cut if too long. Returns the length
 * written. */
size_t text_copy(char *dst, size_t cap, struct bytes s);

/* The same with every control character (below 0x20, 0x7f) as '?'. For replies and listings. */
size_t text_copy_printable(char *dst, size_t cap, struct bytes s);

bool text_has_control(struct bytes s);
bool text_is_utf8(struct bytes s);

/* Appends s to a JSON string body: quotes, backslash and controls escaped; bytes that are not
 * UTF-8 become U+FFFD. */
MUST_CHECK int text_json_escape(struct buf *, struct bytes s);

char text_lower(char c);
char text_upper(char c);
