/* Patterns of LIST and NLST, and the options people put before them. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

/* Is there a '*', '?', '[' or '\'? A name may hold such characters too: look for a file of
 * that very name first. */
bool ftp_glob_has_magic(struct bytes path);

/* Does the whole name (one path component) match? '*' any run, '?' one byte, "[a-z]" one of,
 * "[!a-z]" or "[^a-z]" none of, '\' the next character itself, in brackets too; a '[' that is
 * never closed and a '\' at the end are themselves. A dot at the start is a byte like another.
 * Bytes, not characters, are matched.
 *
 * 1, 0, or -FERRY_ELIMIT when *steps is used up. Each byte of the pattern that is looked at
 * lowers it: one budget (FTP_GLOB_STEPS_MAX) for all names of a listing. */
MUST_CHECK int ftp_glob_match(struct bytes pattern, struct bytes name, uint64_t *steps);

struct ftp_list_argument {
    bool long_format;  /* -l */
    struct bytes path; /* borrowed; empty: the working directory */
};

/* "-la dir/x*": leading words of '-' and letters or digits are options as of ls, known or not,
 * and "--" ends them; each takes one space with it. All that remains is the path, spaces and
 * all. */
void ftp_list_argument_parse(struct bytes argument, struct ftp_list_argument *ret);
