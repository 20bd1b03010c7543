/* Streams of zlib and gzip (RFC 1950 to 1952) and of zstd (RFC 8878) whose level can change
 * while they run. Pure: memory in, memory out, no task and no system call, so that a step can
 * run on any thread, one at a time for each object.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/bytes.h"

/* gzip is made only: what it can do for us zlib can too. */
enum codec { CODEC_NONE, CODEC_ZLIB, CODEC_ZSTD, CODEC_GZIP };

#define CODEC_STEP_BYTES (64 * 1024) /* of input: some milliseconds at the highest level */

/* Levels of zlib and gzip, 0 stores; zstd's -7 to 19, where 0 stores, too (the
 * library's 0 is another word for 3). */
#define CODEC_ZLIB_LEVEL_MAX 9
#define CODEC_ZSTD_LEVEL_MIN (-7)
#define CODEC_ZSTD_LEVEL_MAX 19

/* "zlib", "zstd", "gzip", "none". */
const char *codec_name(enum codec);

/* -- compressing -- */

enum coder_flush {
    CODER_MORE, /* less than half a step may be held back for a better ratio */
    CODER_SYNC, /* the peer can decode all that went in: an end of a packet or of a wait */
    CODER_END   /* no more comes */
};

struct coder;

/* -EINVAL: no such level, and none of CODEC_NONE; -ENOMEM. zlib takes 260 KB; zstd, by level, 1
 * to 16 MB. */
MUST_CHECK int coder_new(enum codec, int level, struct coder **ret);
struct coder *coder_free(struct coder *); /* NULL is fine */
/* From the next step on. The receiver need not know: deflateParams(); of zstd the frame ends
 * and the next begins with the new level. */
MUST_CHECK int coder_set_level(struct coder *, int level);
int coder_level(const struct coder *);
/* All of the input, at most CODEC_STEP_BYTES; what comes out is appended. -FERRY_ELIMIT: the
 * buffer's cap, after which the stream cannot go on; -ENOMEM. Give it coder_bound(). Where a
 * stream nears what a receiver takes for a bomb (EXPAND_RATIO_MAX), a step is stored. */
MUST_CHECK int coder_step(struct coder *, struct bytes in, enum coder_flush, struct buf *out);
/* The most that a step puts out for so much input, with what the steps before it held back. */
size_t coder_bound(const struct coder *, size_t in_bytes);

/* -- decompressing -- */

struct decoder_limits {
    /* Output to input of the whole stream, once ratio_after_bytes came out; 0: none. A deflate
     * stream cannot do more than 1032. */
    unsigned ratio;
    uint64_t ratio_after_bytes;
    size_t window_bytes; /* of a zstd frame, rounded down to a power of 2; 0: 8 MB */
};

struct decoder;

/* -EINVAL: of CODEC_NONE and CODEC_GZIP. */
MUST_CHECK int decoder_new(enum codec, const struct decoder_limits *, struct decoder **ret);
struct decoder *decoder_free(struct decoder *); /* NULL is fine */

/* From *in, of which what was used is skipped, to at most max bytes. *ret_len may be 0 while
 * input is left only at the end of the stream; call again with the same input while *ret_len ==
 * max: more may be inside, also when *in is empty. 0; 1: the stream has ended here, and what is
 * left of *in is not part of it (zstd: never, as frames may follow: see
 * decoder_is_at_boundary()). -EBADMSG: these bytes are none of its stream, or its checksum is
 * wrong; -FERRY_ELIMIT: a bomb; -ENOMEM. */
MUST_CHECK int decoder_step(struct decoder *, struct bytes *in, void *out, size_t max,
                            size_t *ret_len);
/* Nothing is missing if no more input comes: the zlib stream has ended; of zstd no frame has
 * begun or the last is complete. */
bool decoder_is_at_boundary(const struct decoder *);
