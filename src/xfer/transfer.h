/* A running transfer: what send.c and receive.c have in common. */
#pragma once
#include "xfer/move.h"
#include "xfer/plan.h"
#include "xfer/xfer.h"

struct transfer {
    const struct xfer_request *request;
    struct xfer_result *result;
    struct vfile *file;
    struct stream *stream;
    struct io_fd *fd; /* of the stream, or NULL */
    enum xfer_path path;
    struct move *move;
    uint64_t offset;        /* of the next byte */
    uint64_t left;          /* bytes still to move; UINT64_MAX: until the end */
    uint64_t stream_before; /* what a stream without descriptor had moved at the beginning */
    usec_t counted_at;      /* when the stream was asked last how many bytes that were */
    usec_t started_at;
};

/* Zeroes *result. -ENOMEM. transfer_done() is due in any case; it fills in *result. */
MUST_CHECK int transfer_init(struct transfer *, struct vfile *, struct stream *,
                             const struct xfer_request *, struct xfer_result *);
void transfer_done(struct transfer *);

/* The files pool, or NULL when this path runs inline. */
struct pool *transfer_pool(const struct transfer *);

/* Bytes of the next step, 1..max, taken from the buckets: waits until they have some. Holds no
 * chunk meanwhile: the caller asks before it has one. */
PARKS MUST_CHECK int transfer_budget(struct transfer *, uint64_t max, uint64_t *ret);
/* Of a budget, what did not move after all. */
void transfer_give_back(struct transfer *, uint64_t bytes);
/* Counts file bytes that have moved, through the stream or past it. */
void transfer_moved(struct transfer *, uint64_t bytes);

/* One run of the mover at the transfer's offset. 0, or the failure of the run or of the mover.
 * transfer->move->moved is valid in any case. */
PARKS MUST_CHECK int transfer_run(struct transfer *, void (*mover)(struct move *),
                                  struct pool *, uint64_t budget);
