/* One transfer: a file to a stream, or a stream to an upload (DESIGN 3.6).
 *
 * The path the bytes take is chosen by a pure function (xfer/plan.h): sendfile from file to
 * plain TCP and recv+pwrite the other way, in move jobs of the pool; rooms and slices for
 * everything else. Pacing is a byte budget that bounds each step. xfer knows no account: the
 * request carries pointers to buckets.
 */
#pragma once
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/bucket.h"
#include "base/err.h"
#include "io/stream.h"
#include "vfs/vfs.h"

#define XFER_BUCKETS_MAX 3 /* session, account, server */

/* A bucket that several workers share: xfer locks it for each budget. */
struct xfer_bucket;
/* 0: unlimited. */
MUST_CHECK int xfer_bucket_new(uint64_t rate_bytes_per_s, struct xfer_bucket **ret);
struct xfer_bucket *xfer_bucket_free(struct xfer_bucket *); /* NULL is fine */

/* Written by the transfer, read by who, STAT and the idle clock of the same worker. */
struct xfer_progress {
    _Atomic uint64_t file_bytes; /* moved so far */
    _Atomic uint64_t wire_bytes;
    _Atomic usec_t moved_at; /* last progress */
};

struct xfer_request {
    uint64_t offset; /* sending: first byte of the file; an upload knows its own */
    uint64_t length; /* bytes; UINT64_MAX: to the end */
    struct xfer_bucket *buckets[XFER_BUCKETS_MAX]; /* each may be NULL */
    usec_t stall_us;                               /* no byte for so long: -FERRY_ESTALLED */
    struct xfer_progress *progress;                /* may be NULL */
};

struct xfer_result {
    uint64_t file_bytes, wire_bytes; /* also on failure: what was moved */
    usec_t seconds_us;
};

/* Both always write *ret. Errors of the stream are -FERRY_ECLOSED and -FERRY_ESTALLED; every
 * other is the file's as the system said it (-ENOSPC, -EDQUOT, -EIO; -ETIMEDOUT: it did not
 * answer for stall_us) or ours (-ECANCELED, -ENOMEM, -EBUSY: the pool's queue is full). When a
 * job had to be left behind, the stream's socket has been shut down. */

/* Whether a failure is the stream's or the task's end, not the file's: there is nobody left to
 * tell, and who tries waits as long as the transfer did. */
static inline bool xfer_lost_peer(int result)
{
    return result == -FERRY_ECLOSED || result == -FERRY_ESTALLED || result == -ECANCELED;
}

/* What is sent ends where the file ended at its open; a file that has become shorter:
 * -FERRY_ETRUNCATED; an offset behind its end: -EINVAL. */
PARKS MUST_CHECK int xfer_send(struct vfile *, struct stream *, const struct xfer_request *,
                               struct xfer_result *ret);
/* Until the stream ends. What the quota allows is written before -FERRY_EQUOTA. Does not
 * commit: the written end is the upload's offset and result.file_bytes. */
PARKS MUST_CHECK int xfer_receive(struct stream *, struct vupload *,
                                  const struct xfer_request *, struct xfer_result *ret);
