/* What waits to be sent on a stream, in order, by whoever has something to say.
 *
 * Nobody who adds waits: what the stream takes at once is sent at once, and the rest by a
 * flusher, a task that lives until the queue is empty. So any number of tasks may add to one
 * stream, and a session with nothing to send has no task for it. The first failure stays, lack
 * of memory too, since what was to go next is lost then: from then on what is added is dropped,
 * and `wake` is set.
 *
 * Memory comes as a chunk with the pieces in it, or as bytes that are copied. The queue knows
 * how much it holds and has no cap of its own: who adds in bulk waits for room first
 * (out_queue_wait()), and who answers a peer looks at out_queue_bytes() before reading on.
 */
#pragma once
#include "base/list.h"
#include "io/stream.h"
#include "task/task.h"

struct out_queue {
    struct stream *lower; /* borrowed */
    struct scope *scope;  /* of the flusher */
    struct list entries;
    size_t bytes; /* not yet taken by the stream */
    int error;    /* sticky; 0: none */
    bool is_flushing;
    struct event moved; /* set whenever bytes went, or it broke */
    struct event *wake; /* may be NULL: set when sending failed, or bytes fell to mark */
    size_t mark;        /* the owner's; 0: when all has gone */
    size_t *total;      /* the owner's: a sum over several queues of one thread, or NULL */
};

void out_queue_init(struct out_queue *, struct stream *lower, struct scope *flushers,
                    struct event *wake);
/* Drops what is left. The flusher must be gone: its scope was left. */
void out_queue_done(struct out_queue *);

/* Takes the chunk's reference, also on failure; pieces stay where they are until sent, and the
 * array too. -ENOMEM, or the queue's error. Sends nothing yet. */
MUST_CHECK int out_queue_add(struct out_queue *, struct chunk *, const struct iovec *pieces,
                             unsigned count);
/* Copies; small ones share memory. */
MUST_CHECK int out_queue_add_bytes(struct out_queue *, struct bytes);
/* Sends what the stream takes now, and leaves the rest to the flusher. Cannot park. Returns the
 * queue's error. */
MUST_CHECK int out_queue_push(struct out_queue *);
/* Nothing goes any more: drops all, and error stays, if none was there before. But not all
 * at once while the flusher waits for the stream: it drops them when it is back. */
void out_queue_break(struct out_queue *, int error);
size_t out_queue_bytes(const struct out_queue *);
/* Until it holds at most so many bytes. -ETIMEDOUT, -ECANCELED, or the queue's error. */
PARKS MUST_CHECK int out_queue_wait(struct out_queue *, size_t at_most, usec_t deadline);
