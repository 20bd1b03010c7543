/* Chunks: the memory behind rooms and slices.
 *
 * A chunk is counted. Its stream holds one reference, a pool job that reads or writes the
 * memory another: cancel then drops the room at once, and the memory goes when the job's call
 * returns. Each thread keeps a few free chunks, so that a transfer in its steady state
 * allocates nothing; under AddressSanitizer it keeps none, so that each chunk is seen to die.
 */
#pragma once
#include <stdatomic.h>

#include "io/stream.h"

#define CHUNK_BYTES_MAX  (512 * 1024)  /* the largest */
#define CHUNK_KEEP_BYTES (1024 * 1024) /* free chunks kept by one thread, of all sizes */

struct chunk {
    atomic_uint refs;
    unsigned size_class;
    size_t size; /* bytes at data */
    struct chunk *next;
    /* For who lends several slices of one chunk: pieces given out, and slices not yet dropped.
     * Of one worker. */
    unsigned used, held;
    struct iovec pieces[ROOM_PIECES_MAX]; /* for the room or slices that it is behind */
    uint8_t data[];
};

/* At least min(want, CHUNK_BYTES_MAX) bytes, not zeroed, with one reference. NULL: no memory.
 */
MUST_CHECK struct chunk *chunk_new(size_t want);
struct chunk *chunk_ref(struct chunk *); /* thread-safe */
void chunk_unref(struct chunk *);        /* any thread; NULL is fine */

/* The room of most streams: one piece of min(want, CHUNK_BYTES_MAX) bytes. -ENOMEM. */
MUST_CHECK int chunk_room(struct stream *, size_t want, struct room *ret);
/* Slices that are the first len bytes of the chunk, whose reference they take. */
void chunk_slices(struct stream *, struct chunk *, size_t len, struct slices *ret);
