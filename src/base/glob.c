#include "base/glob.h"

#include "base/err.h"

bool glob_has_magic(struct bytes path)
{
    size_t at;

    return bytes_find(path, '*', &at) || bytes_find(path, '?', &at) ||
           bytes_find(path, '[', &at) || bytes_find(path, '\\', &at);
}

/* A cursor in a bracket expression: one byte, unescaped. */
static bool take_byte(struct bytes *s, uint8_t *ret)
{
    if (s->len > 1 && s->data[0] == '\\')
        *s = bytes_skip(*s, 1);
    if (s->len == 0)
        return false;
    *ret = s->data[0];
    *s = bytes_skip(*s, 1);
    return true;
}

/* The inside of "[...]" and its ']'. Returns false if there is no ']'; *rest is what follows
 * it. The first byte is a member even if it is ']'. */
static bool match_bracket(struct bytes s, uint8_t c, struct bytes *rest, bool *ret_hit)
{
    bool negated = s.len > 0 && (s.data[0] == '!' || s.data[0] == '^');
    bool hit = false;

    if (negated)
        s = bytes_skip(s, 1);
    for (bool first = true; first || (s.len > 0 && s.data[0] != ']'); first = false) {
        uint8_t low, high;
        if (!take_byte(&s, &low))
            return false;
        high = low;
        if (s.len > 1 && s.data[0] == '-' && s.data[1] != ']') {
            s = bytes_skip(s, 1);
            if (!take_byte(&s, &high))
                return false;
        }
        hit = hit || (low <= c && c <= high);
    }
    if (s.len == 0)
        return false;
    *rest = bytes_skip(s, 1);
    *ret_hit = hit != negated;
    return true;
}

/* The element at the front of the pattern, which is not empty and not '*', against c. Returns
 * the bytes looked at; *rest is the pattern after the element. */
static size_t match_element(struct bytes pattern, uint8_t c, struct bytes *rest, bool *ret_hit)
{
    struct bytes after = bytes_skip(pattern, 1);

    switch (pattern.data[0]) {
    case '?':
        *ret_hit = true;
        break;
    case '[':
        if (match_bracket(after, c, rest, ret_hit))
            return pattern.len - rest->len;
        *ret_hit = c == '[';
        *rest = after;
        return pattern.len;
    case '\\':
        if (after.len > 0) {
            *ret_hit = after.data[0] == c;
            *rest = bytes_skip(after, 1);
            return 2;
        }
        *ret_hit = c == '\\';
        break;
    default:
        *ret_hit = pattern.data[0] == c;
        break;
    }
    *rest = after;
    return 1;
}

static bool spend(uint64_t *steps, size_t count)
{
    if (*steps < count) {
        *steps = 0;
        return false;
    }
    *steps -= count;
    return true;
}

/* Only the last star met ever needs to take more: what stood before it has matched, and an
 * earlier star that took more could only leave less for the rest. So nothing recurses. */
int glob_match(struct bytes pattern, struct bytes name, uint64_t *steps)
{
    struct bytes star_pattern = BYTES_NONE, star_name = BYTES_NONE;
    bool has_star = false;

    while (name.len > 0 || pattern.len > 0) {
        struct bytes rest = BYTES_NONE;
        bool hit = false;
        size_t cost = 1;
        if (pattern.len > 0 && pattern.data[0] == '*') {
            if (!spend(steps, cost))
                return -FERRY_ELIMIT;
            pattern = star_pattern = bytes_skip(pattern, 1);
            star_name = name;
            has_star = true;
            continue;
        }
        if (pattern.len > 0 && name.len > 0)
            cost = match_element(pattern, name.data[0], &rest, &hit);
        if (!spend(steps, cost))
            return -FERRY_ELIMIT;
        if (hit) {
            pattern = rest;
            name = bytes_skip(name, 1);
        } else if (has_star && name.len > 0) {
            star_name = name = bytes_skip(star_name, 1);
            pattern = star_pattern;
        } else {
            return 0;
        }
    }
    return 1;
}
