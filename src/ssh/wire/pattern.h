/* Patterns of ssh_config(5): what from= and known_hosts have between commas. */
#pragma once
#include <stdbool.h>

#include "base/bytes.h"

#define SSH_PATTERN_MAX 1023 /* a longer one matches nothing */

struct ssh_pattern {
    struct bytes text;
    bool is_negated; /* it had a "!" in front */
};

/* The first of a list that is not empty; *list is what stands behind its comma. */
struct ssh_pattern ssh_pattern_take(struct bytes *list);
/* "*" is any run of bytes, "?" any one; letters in either case. Of pattern.text alone. */
bool ssh_pattern_matches(struct ssh_pattern, struct bytes text);
