#include "ssh/wire/pattern.h"

#include "base/text.h"

struct ssh_pattern ssh_pattern_take(struct bytes *list)
{
    struct bytes text = bytes_take_until(list, ',');
    bool is_negated = text.len > 0 && text.data[0] == '!';
    return (struct ssh_pattern){bytes_skip(text, is_negated), is_negated};
}

/* Only the last "*" is ever tried again: what one before it took needs no second look. So the
 * steps are at most pattern times text. */
bool ssh_pattern_matches(struct ssh_pattern pattern, struct bytes text)
{
    struct bytes p = pattern.text;
    size_t at = 0, i = 0;
    size_t star = SIZE_MAX, star_at = 0; /* where matching goes on after the last "*" */
    if (p.len > SSH_PATTERN_MAX)
        return false;
    while (at < text.len) {
        if (i < p.len && p.data[i] == '*') {
            star = ++i;
            star_at = at;
        } else if (i < p.len && (p.data[i] == '?' || text_upper((char)p.data[i]) ==
                                                         text_upper((char)text.data[at]))) {
            i++;
            at++;
        } else if (star != SIZE_MAX) {
            i = star;
            at = ++star_at;
        } else {
            return false;
        }
    }
    while (i < p.len && p.data[i] == '*')
        i++;
    return i == p.len;
}
