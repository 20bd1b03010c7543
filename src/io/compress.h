/* Compression as filters: streams on a stream (DESIGN 3.1, 3.7).
 *
 * Steps run in the pool, CODEC_STEP_BYTES each, one at a time for a stream; while one runs,
 * what came before it is on its way. stream_info() tells of the stream below: what goes over
 * the wire. With a level that is automatic, codec/controller.h decides, fed with the steps and
 * with stream_info(below); TCP's unsent mark follows it.
 * Level 0 is a copy, and runs on the loop.
 *
 * The pool is runtime_codec_pool(): in the one for files, those that compress would stand
 * before everybody else (docs/adr/0032). stream_free() is for tasks here: it may park for the
 * moment in which a job that has just run is told of.
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
    bool borrows;                     /* the stream below stays when this one is freed */
    /* Told each decision. May be NULL. Cannot park. */
    void (*decided)(void *arg, const struct controller_decision *);
    void *arg;
};

/* What is written to it goes down compressed; it cannot be read. It is gathered into steps; of
 * a source that delivers a little now and then nothing is held back for more than a second once
 * more comes. stream_flush() is CODER_SYNC, stream_end() ends the compressed stream and then
 * the one below. Takes below on success and on failure, unless it is lent. Borrows pool and
 * shares. */
MUST_CHECK int compress_stream_new(struct stream *below, const struct compress_settings *,
                                   struct stream **ret);

/* What is read from it comes up decompressed; it cannot be written. -EBADMSG: what came is no
 * such stream; -FERRY_ETRUNCATED: it ended in the middle; -FERRY_ELIMIT: a bomb. What follows
 * the end of a zlib stream is -EBADMSG. Takes below on success and on failure. */
MUST_CHECK int decompress_stream_new(struct stream *below, enum codec,
                                     const struct decoder_limits *, struct pool *,
                                     const struct pool_shares *, struct stream **ret);
