/* A command line cut into words, as a shell's quoting rules say (POSIX 2.2), without any
 * expansion: what would need a shell (; | & < > ` $ and patterns, unquoted) is refused. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define WORDS_MAX 64

struct words {
    char *text; /* all words, each terminated; the caller's to words_done() */
    const char *at[WORDS_MAX + 1]; /* NULL behind the last */
    unsigned count;
};

/* -EINVAL: a quote that does not end, a NUL, or something for a shell. -FERRY_ELIMIT: too many.
 * -ENOMEM. */
MUST_CHECK int words_split(struct bytes line, struct words *ret);
void words_done(struct words *); /* {0} is fine */
