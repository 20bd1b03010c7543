/* Bytes in bulk that never pass through our memory, for who measures a peer: thrown away in the
 * kernel, or sent from a file without a pool. And ways to end a connection out of order.
 *
 * The movers yield after a turn's worth of bytes, add to *moved as they go on, and end with
 * -FERRY_ESTALLED, -FERRY_ECLOSED (of the connection), -ECANCELED or -errno. */
#pragma once
#include "io/tcp.h"

/* Until the peer ends: 0; -FERRY_ELIMIT if that is not before so many bytes. No byte is copied
 * (MSG_TRUNC, tcp(7)). stall_us 0: no limit. */
PARKS MUST_CHECK int tcp_discard(struct io_fd *, uint64_t max, usec_t stall_us,
                                 uint64_t *moved);

/* fd is the caller's, and of a file that does not wait for a disk: the calls are made here. */
struct file_part {
    int fd;
    uint64_t offset, len;
};

/* All of the part, by sendfile. -FERRY_ETRUNCATED: the file ends before. */
PARKS MUST_CHECK int tcp_send_file(struct io_fd *, const struct file_part *, usec_t stall_us,
                                   uint64_t *moved);

/* Closing it from now on is a reset: the peer cannot take what it has for the whole. */
void tcp_reset_on_close(struct io_fd *);
/* Whoever reads it sees the end, whoever writes to it -FERRY_ECLOSED; so does the peer. */
void tcp_break(struct io_fd *);
