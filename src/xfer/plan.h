/* Which way the bytes of a transfer take: a pure function of facts (DESIGN 3.6). */
#pragma once
#include <stdbool.h>

/* Up to here a transfer should not cost a trip to the pool if the file can be read without. */
#define XFER_SMALL_BYTES (64 * 1024)

enum xfer_direction { XFER_SEND, XFER_RECEIVE };

struct xfer_facts {
    enum xfer_direction direction;
    bool stream_has_fd; /* the kernel may move the bytes itself; a filter never has one */
    bool file_reads_without_waiting; /* sending */
    bool file_is_in_memory;          /* sending: of a memory file system */
    bool has_pool;
    bool is_small;         /* sending: at most XFER_SMALL_BYTES */
    bool sendfile_refused; /* by this file system, or by the operator for all */
};

/* INLINE: on the loop; POOL: in move jobs. */
enum xfer_path {
    XFER_PATH_ROOMS_INLINE, /* preadv into rooms of the stream */
    XFER_PATH_ROOMS_POOL,
    XFER_PATH_SENDFILE_INLINE,
    XFER_PATH_SENDFILE_CACHED, /* inline while it finds the file in memory, then in jobs */
    XFER_PATH_SENDFILE_POOL,
    XFER_PATH_SLICES_INLINE, /* pwritev of slices of the stream */
    XFER_PATH_SLICES_POOL,
    XFER_PATH_SOCKET_INLINE, /* recv and pwrite */
    XFER_PATH_SOCKET_POOL,
    XFER_PATH_COUNT
};

enum xfer_path xfer_plan(const struct xfer_facts *);
