/* Compression as filters: streams on a stream (DESIGN 3.1, 3.7).
 *
 * Steps run in the pool, CODEC_STEP_BYTES each, one at a time for a stream; while one runs,
 * what came before it is on its way. stream_info() tells of the stream below: what goes over
 * the wire. With a level that is automatic, codec/controller.h decides, fed with the steps and
 * with stream_info(below); TCP's unsent mark follows it.
 */
#pragma once
#include "codec/controller.h"
#include "io/stream.h"
#include "task/pool.h"

#define COMPRESS_AUTO (-128) /* as a level */

struct compress_settings {
    enum codec codec;
    int level; /* or COMPRESS_AUTO */
    struct pool *pool;
    const struct pool_shares *shares; /* may be NULL */
    /* Told each decision. May be NULL. Cannot park. */
    void (*decided)(void *arg, const struct controller_decision *);
    void *arg;
};

/* What is written to it goes down compressed; it cannot be read. stream_flush() is CODER_SYNC,
 * stream_end() ends the compressed stream and then the one below. Takes below on success and on
 * failure. Borrows pool and shares. */
MUST_CHECK int compress_stream_new(struct stream *below, const struct compress_settings *,
                                   struct stream **ret);

/* What is read from it comes up decompressed; it cannot be written. -EBADMSG: what came is no
 * such stream; -FERRY_ETRUNCATED: it ended in the middle; -FERRY_ELIMIT: a bomb. What follows
 * the end of a zlib stream is -EBADMSG. Takes below on success and on failure. */
MUST_CHECK int decompress_stream_new(struct stream *below, enum codec,
                                     const struct decoder_limits *, struct pool *,
                                     const struct pool_shares *, struct stream **ret);
