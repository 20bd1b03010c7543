/* Patterns of names, as shells and FTP listings have them. No allocation, bounded work. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

/* Is there a '*', '?', '[' or '\'? A name may hold such characters too: look for a file of
 * that very name first. */
bool glob_has_magic(struct bytes path);

/* Does the whole name (one path component) match? '*' any run, '?' one byte, "[a-z]" one of,
 * "[!a-z]" or "[^a-z]" none of, '\' the next character itself, in brackets too; a '[' that is
 * never closed and a '\' at the end are themselves. A dot at the start is a byte like another.
 * Bytes, not characters, are matched.
 *
 * 1, 0, or -FERRY_ELIMIT when *steps is used up. Each byte of the pattern that is looked at
 * lowers it: one budget for all names of a listing. */
MUST_CHECK int glob_match(struct bytes pattern, struct bytes name, uint64_t *steps);
