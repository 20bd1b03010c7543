/* A command line cut into words, as a shell's quoting rules say (POSIX 2.2). "~" is the root;
 * what else would need a shell (; | & < > ` $ unquoted) is refused. Patterns are kept for those
 * who look for files (exec/expand.h). */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define WORDS_MAX 64

struct words {
    char *text; /* all words, each terminated; the caller's to words_done() */
    const char *at[WORDS_MAX + 1]; /* NULL behind the last */
    /* Of a word with an unquoted * ? or [, it as base/glob.h takes it; else NULL. */
    const char *patterns[WORDS_MAX];
    unsigned count;
};

/* -EINVAL: a quote that does not end, a NUL, or something for a shell. -FERRY_ELIMIT: too many.
 * -ENOMEM. */
MUST_CHECK int words_split(struct bytes line, struct words *ret);
void words_done(struct words *); /* {0} is fine */
