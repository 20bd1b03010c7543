/* Movers: the four ways bytes go between a file and a socket or memory. Each is one function
 * that runs inline on the loop or in a job of the pool, without a difference.
 *
 * A struct move is counted: its transfer holds one reference and each running job another. It
 * owns references to all that the mover touches, so that a cancelled task leaves it behind.
 */
#pragma once
#include <stdatomic.h>

#include "io/stream.h"
#include "task/pool.h"
#include "vfs/vfs.h"

enum move_end {
    MOVE_SPENT,  /* budget or time is used up */
    MOVE_AGAIN,  /* the socket has no bytes, or no room */
    MOVE_ENDED,  /* the source has ended */
    MOVE_FAILED, /* `error` says how */
};

struct move {
    struct job job; /* first: see task/pool.h */
    atomic_uint refs;
    atomic_bool stops; /* the transfer is gone: no further step */
    void (*mover)(struct move *);

    /* what is asked; the transfer sets it before each run */
    struct vfile *file;         /* referenced */
    struct io_fd *socket;       /* referenced; NULL: memory */
    struct chunk *chunk;        /* referenced; behind the pieces */
    const struct iovec *pieces; /* memory that is read into or written from */
    unsigned count;
    struct iovec *own_pieces; /* freed with it; NULL: the pieces lie in the chunk */
    int read_flags;           /* of preadv2(): RWF_NOWAIT or 0 */
    uint64_t offset;          /* of the file */
    uint64_t budget;          /* bytes, at least 1 */

    /* what is answered */
    _Atomic uint64_t moved; /* file bytes of this run; may be read while it runs */
    enum move_end end;
    int error;
    bool is_dense; /* received much in one call; the next run counts on it */
};

MUST_CHECK int move_new(struct vfile *, struct io_fd *socket, struct move **ret);
/* Drops the transfer's reference. A job that still runs makes no further step: at most the
 * write that is under way at offset + moved, so that what is in the file has no hole. */
void move_leave(struct move *);

/* The memory of the next run. A job that was left behind keeps its own. */
void move_set_memory(struct move *, struct chunk *, const struct iovec *pieces, unsigned count);

/* Runs it: on the pool, or inline when that is NULL. 0: see `end`. Else it is left behind with
 * a job: -ECANCELED, -EBUSY, -ETIMEDOUT (the file did not answer in time). */
PARKS MUST_CHECK int move_run(struct move *, void (*mover)(struct move *), struct pool *,
                              const struct pool_shares *, usec_t deadline);

void move_sendfile(struct move *);    /* file -> socket */
void move_from_socket(struct move *); /* socket -> file */
void move_read(struct move *);        /* file -> memory, once */
void move_from_memory(struct move *); /* memory -> file, all of the budget */
