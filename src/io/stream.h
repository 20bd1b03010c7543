/* Streams: everything that carries bytes, with one reader and one writer (DESIGN 3.1, 3.3).
 *
 * Bulk bytes travel in chunks that change owner. To send: ask for a room (memory, private until
 * it is handed over), fill it, send it. To receive: take slices of what arrived, drop them when
 * they are used. A filter (io/ascii.h) is a stream on a stream. Pacing is not a filter: it
 * bounds `want` and `max`.
 *
 * Deadlock rule: whoever holds a room or slices does not wait for another room.
 *
 * Every wait inside ends after the stream's stall time without progress: -FERRY_ESTALLED. Other
 * failures: -ECANCELED, -FERRY_ECLOSED (the peer went away while we wrote: EPIPE, ECONNRESET
 * are mapped to it), -ENOMEM. Reads return 0 for an orderly end and -FERRY_ECLOSED for a reset.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "task/fd.h"

struct stream;
struct chunk;

#define ROOM_PIECES_MAX 64

struct room {
    struct stream *stream; /* whose room; NULL: none */
    struct chunk *chunk;   /* memory behind the pieces */
    struct iovec *pieces;  /* count pieces, to be filled in order; lives in the chunk */
    unsigned count;
    size_t len; /* sum of the pieces: 1..want */
};

struct slices {
    struct stream *stream;
    struct chunk *chunk;
    const struct iovec *pieces;
    unsigned count;
    size_t len; /* 0: the peer has ended */
};

struct stream_info {
    uint64_t sent_bytes, received_bytes; /* payload through this stream */
    uint64_t acked_bytes,
        rate_bytes_per_s; /* tcpi_bytes_acked, tcpi_delivery_rate; 0: unknown */
    uint32_t rtt_us, unsent_bytes;
    /* How long bytes of ours were under way; of that: held by the peer's window, by our buffer
     */
    usec_t busy_us, peer_full_us, buffer_full_us;
};

/* What a kind of stream implements; used by its own file only. Callers use the functions below.
 * NULL: room_drop, slices_drop: nothing but the chunk to give back; flush: nothing is held
 * back; fd: none; try_write: it always has to wait; bound_unsent: what its fd does, if any. */
struct stream_ops {
    const char *name;
    PARKS int (*room)(struct stream *, size_t want, struct room *ret);
    PARKS int (*send)(struct stream *, struct room *, size_t len);
    void (*room_drop)(struct room *);
    PARKS int (*take)(struct stream *, size_t max, struct slices *ret);
    void (*slices_drop)(struct slices *);
    PARKS int (*write)(struct stream *, const struct iovec *, int count);
    ssize_t (*try_write)(struct stream *, const struct iovec *, int count);
    PARKS ssize_t (*read)(struct stream *, void *, size_t max);
    PARKS int (*flush)(struct stream *);
    PARKS int (*end)(struct stream *, usec_t deadline);
    PARKS int (*wait)(struct stream *, struct event *, usec_t deadline);
    struct io_fd *(*fd)(const struct stream *);
    void (*info)(const struct stream *, struct stream_info *ret);
    void (*bound_unsent)(struct stream *, size_t bytes);
    void (*free)(struct stream *);
};

struct stream {
    const struct stream_ops *ops;
    usec_t stall_us; /* 0: none */
};

PARKS MUST_CHECK int stream_room(struct stream *, size_t want, struct room *ret);
PARKS MUST_CHECK int stream_send(struct stream *, struct room *,
                                 size_t len); /* takes the room always */
void room_drop(
    struct room *); /* a room that was sent or dropped is empty: dropping it again is fine */
PARKS MUST_CHECK int stream_take(struct stream *, size_t max, struct slices *ret);
void slices_drop(struct slices *);

PARKS MUST_CHECK int stream_write(struct stream *, const struct iovec *,
                                  int count); /* all of it */
PARKS MUST_CHECK int stream_write_bytes(struct stream *, struct bytes);
/* What goes without waiting: 1 byte or more; -EAGAIN: nothing now. */
MUST_CHECK ssize_t stream_try_write(struct stream *, const struct iovec *, int count);
PARKS MUST_CHECK ssize_t stream_read(struct stream *, void *, size_t max); /* 1..max, 0: end */
PARKS MUST_CHECK int stream_flush(struct stream *);

/* No more bytes from us: half close. With a deadline other than 0, then waits for the peer's
 * end and throws away what still comes (a lingering close), so that a reset cannot eat what we
 * sent last. -ETIMEDOUT: the deadline came first. */
PARKS MUST_CHECK int stream_end(struct stream *, usec_t deadline);

/* 0: something can be read; 1: the event is set; -ETIMEDOUT, -ECANCELED, or how the connection
 * failed. event may be NULL. */
PARKS MUST_CHECK int stream_wait(struct stream *, struct event *, usec_t deadline);

/* The descriptor that the kernel may feed itself (sendfile, recv into a file), or NULL. */
struct io_fd *stream_fd(const struct stream *);
void stream_info(const struct stream *, struct stream_info *ret);
/* Keeps what is queued and unsent here and in the kernel to about so many bytes, so that
 * stream_info() soon tells what the link does. SIZE_MAX: the usual again, but for the kernel's.
 */
void stream_bound_unsent(struct stream *, size_t bytes);
/* Closes; bytes that a write has accepted are still delivered by the kernel. NULL is fine.
 * Returns NULL. */
struct stream *stream_free(struct stream *);
