/* Patterns of LIST and NLST, and the options people put before them. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

/* Is there a '*', '?' or '[' that no '\' escapes? A name may hold such characters: look for the
 * literal name first. */
bool ftp_glob_has_magic(struct bytes pattern);

/* Does the whole name (one path component) match? '*' any run, '?' one byte, "[a-z]" one of,
 * "[!a-z]" or "[^a-z]" none of, '\' the next character itself; a '[' that is never closed is
 * itself. A dot at the start is a byte like another. Bytes, not characters, are matched.
 *
 * 1, 0, or -FERRY_ELIMIT when *steps, which each comparison lowers, is used up: one budget for
 * a whole listing (FTP_GLOB_STEPS_MAX). The time is at most len(pattern) * len(name). */
MUST_CHECK int ftp_glob_match(struct bytes pattern, struct bytes name, uint64_t *steps);

/* "a/b/*.c" is directory "a/b/" and pattern "*.c"; without a slash the directory is empty. */
void ftp_glob_split(struct bytes path, struct bytes *ret_directory, struct bytes *ret_pattern);

struct ftp_list_argument {
    bool all;          /* -a */
    bool long_format;  /* -l */
    bool recursive;    /* -R; nothing follows it */
    struct bytes path; /* borrowed; empty: the working directory */
};

/* "-la dir/x*": leading words of '-' and letters or digits are options as of ls, known or not,
 * and "--" ends them; each takes one space with it. All that remains is the path, spaces and
 * all. */
void ftp_list_argument_parse(struct bytes argument, struct ftp_list_argument *ret);
