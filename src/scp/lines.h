/* Lines and answers of a dialogue of scp, read and written over its stream: of both roles. */
#pragma once
#include "base/limits.h"
#include "io/stream.h"
#include "scp/wire/line.h"

struct scp_lines {
    struct stream *stream;
    uint8_t line[SCP_LINE_MAX]; /* the last that was read */
};

/* 1: *ret, without its newline and valid until the next; 0: the peer has ended instead.
 * -FERRY_EPROTO: too long; -FERRY_ECLOSED: it ended within. */
PARKS MUST_CHECK int scp_lines_read(struct scp_lines *, struct bytes *ret);
/* The first byte of an answer: the NUL of what is done, or of a complaint. 1, 0: the end. */
PARKS MUST_CHECK int scp_lines_read_first(struct scp_lines *, uint8_t *ret);
/* What stands behind it in its line. 1, and failures as above. */
PARKS MUST_CHECK int scp_lines_read_rest(struct scp_lines *, struct bytes *ret);
PARKS MUST_CHECK int scp_lines_say(struct scp_lines *, const struct scp_line *);
PARKS MUST_CHECK int scp_lines_say_done(struct scp_lines *); /* a NUL byte */
