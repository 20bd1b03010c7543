/* The lines of scp, which rcp had before it: no RFC, but what OpenSSH's scp.c takes and sends.
 *
 *     C0644 5 name     a file of 5 bytes follows
 *     D0755 0 name     a directory; what follows lies in it, until E
 *     E                its end
 *     T1 0 2 0         times of the next C or D: modified and read, seconds and microseconds
 *     \1text, \2text   a complaint; after the second kind its sender leaves
 *
 * Each is answered with a NUL byte or with a complaint. A line is given without its newline.
 * Pure.
 */
#pragma once
#include "base/attr.h"
#include "base/buf.h"

enum scp_line_kind {
    SCP_LINE_FILE,
    SCP_LINE_DIRECTORY,
    SCP_LINE_END,
    SCP_LINE_TIMES,
    SCP_LINE_WARNING,
    SCP_LINE_FATAL,
};

struct scp_line {
    enum scp_line_kind kind;
    uint32_t mode;       /* FILE, DIRECTORY: permission bits, at most 07777 */
    uint64_t size_bytes; /* FILE: at most INT64_MAX */
    int64_t mtime_us, atime_us;
    struct bytes text; /* name or complaint; of a parsed line, a part of it */
};

/* -FERRY_EPROTO: no such line; -FERRY_EBADNAME: a name that leads elsewhere ("..", a '/') or
 * nowhere. How long a name may be, the file system says. */
MUST_CHECK int scp_line_parse(struct bytes line, struct scp_line *ret);

/* With its newline. Names and complaints hold what they hold: a name with a newline has "\^J"
 * in its place and each backslash twice, as OpenSSH's do; in complaints control characters
 * become
 * '?'. Times before 1970 become 1970. */
MUST_CHECK int scp_line_append(struct buf *, const struct scp_line *);
