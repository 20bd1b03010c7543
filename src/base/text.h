/* Text of the protocols: numbers, case, what may be shown. No locale, no allocation. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes.h"

/* Whole of s is digits of the base (8 or 10), at least one, value <= max; else -EINVAL,
 * -ERANGE. */
MUST_CHECK int text_u64(struct bytes s, unsigned base, uint64_t max, uint64_t *ret);

/* A size in bytes: digits and, if wanted, one of K M G T (powers of 1024), as in "4096", "64K"
 * or "10G". Nothing else ("1.5G", "10MB", "10 M", "10k"): -EINVAL. Over 64 bits: -ERANGE. */
MUST_CHECK int text_size(struct bytes s, uint64_t *ret);

/* Copies s into dst of cap bytes, always terminated, cut if too long. Returns the length
 * written. */
size_t text_copy(char *dst, size_t cap, struct bytes s);

/* The same with every control character (below 0x20, 0x7f) as '?'. For replies and listings. */
size_t text_copy_printable(char *dst, size_t cap, struct bytes s);

bool text_has_control(struct bytes s);

/* Length of the UTF-8 character (RFC 3629) that s begins with, 1 to 4; 0: it begins with none.
 */
size_t text_utf8_len(struct bytes s);

/* The character that s (not empty) begins with as it stands in a JSON string (RFC 8259 section
 * 7): quotes, backslash and controls (also DEL and U+0080 to U+009F) escaped; a byte that is
 * not UTF-8 becomes U+FFFD. Returns the length written to dst. */
#define TEXT_JSON_CHAR_MAX 6
size_t text_json_char(struct bytes s, char dst[TEXT_JSON_CHAR_MAX], size_t *ret_used);

char text_upper(char c);
