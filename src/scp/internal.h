/* A dialogue of scp from inside. */
#pragma once
#include "scp/lines.h"
#include "scp/scp.h"
#include "session/transfer.h"

struct scp {
    struct session *session;
    const struct scp_options *options;
    bool has_failed;             /* somebody complained: exit status 1 */
    size_t path_len;             /* of the file or directory that is spoken of */
    char path[PATH_LEN_MAX + 1]; /* not terminated */
    struct scp_lines lines;
};

MUST_CHECK int scp_new(struct session *, struct stream *, const struct scp_options *,
                       struct scp **ret);
/* The exit status for what a dialogue ended with; frees it. */
MUST_CHECK int scp_end(struct scp *, int result);

/* -- lines and answers -- */

/* 1: *ret, valid until the next; 0: the peer has ended instead. -FERRY_EPROTO: too long. */
PARKS MUST_CHECK int scp_read_line(struct scp *, struct bytes *ret);
PARKS MUST_CHECK int scp_say(struct scp *, const struct scp_line *);
PARKS MUST_CHECK int scp_say_done(struct scp *); /* a NUL byte */
/* 1: done; 0: the peer complained, and goes on. -FERRY_EREFUSED: it complained and leaves.
 * -FERRY_ECLOSED: no answer. */
PARKS MUST_CHECK int scp_read_answer(struct scp *);
/* The same, where a peer may end in good order instead of a word: SCP_NO_WORD. */
#define SCP_NO_WORD 2
PARKS MUST_CHECK int scp_read_word(struct scp *);

/* "scp: PATH: what failed"; the dialogue goes on: 0, or how the stream failed. A cancel is
 * returned instead. */
PARKS MUST_CHECK int scp_complain(struct scp *, int error);
/* "scp: why", and the end: always a failure. */
PARKS MUST_CHECK int scp_refuse(struct scp *, const char *why);

/* -- paths and files -- */

/* Cut if it is no path anyway. */
void scp_path_set(struct scp *, struct bytes);
/* path becomes the first len bytes of it, '/' and name. -ENAMETOOLONG. */
MUST_CHECK int scp_path_enter(struct scp *, size_t len, struct bytes name);
MUST_CHECK int scp_path_parse(const struct scp *, struct vpath *ret);
void scp_audit(const struct scp *, const char *operation, const struct xfer_result *,
               int result);

/* -- the body of one file -- */

/* A stream that ends after `left` bytes of another. */
struct scp_body {
    struct stream stream;
    struct stream *lower;
    uint64_t left;
};

void scp_body_init(struct scp_body *, struct stream *lower, uint64_t len);
/* Throws away what nobody took. -FERRY_ECLOSED: the peer ended before. */
PARKS MUST_CHECK int scp_body_drain(struct scp_body *);
