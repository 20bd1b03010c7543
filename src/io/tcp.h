/* TCP: listeners, connections, and the stream over one. */
#pragma once
#include "io/addr.h"
#include "io/stream.h"

struct listener; /* one listening socket of one worker */

/* The sockets for n workers, bound together: first one without SO_REUSEPORT to find out whether
 * the port is taken (-EADDRINUSE), then all with it. Port 0 is resolved once: *addr is what was
 * bound. fds: n listening, non-blocking sockets, each as after listener_for_dialogues(). */
MUST_CHECK int tcp_listen_shared(struct addr *addr, int backlog, unsigned n, int *ret_fds);

/* One listening socket with a backlog, on addr with this port (0: the kernel picks, at random).
 */
MUST_CHECK int tcp_listen(struct addr *addr, int backlog, int *ret_fd);

MUST_CHECK int listener_new(int fd, struct listener **ret); /* takes fd */
/* For one connection that has mostly come when it is asked for: the loop hears of this listener
 * only when it must wait, so that nobody is woken before. */
MUST_CHECK int listener_new_quiet(int fd, struct listener **ret);
struct listener *listener_free(struct listener *); /* NULL is fine */
/* Holds one descriptor back, so that a client can be refused in words when there is no other.
 * Once. -EMFILE, -ENFILE. */
MUST_CHECK int listener_keep_spare(struct listener *);
/* For connections of commands and replies: what is accepted from now on has TCP_NODELAY, and
 * urgent bytes stay in their place of the stream (telnet's synch). Linux hands both on. */
MUST_CHECK int listener_for_dialogues(struct listener *);

/* Next connection, non-blocking. On EMFILE, ENFILE, ENOBUFS and ENOMEM the spare descriptor, if
 * one is kept, accepts one connection, sends it `refusal` (may be empty) and closes it; either
 * way it waits 100 ms then. Yields after 32 in one turn. -ETIMEDOUT, -ECANCELED. */
PARKS MUST_CHECK int listener_accept(struct listener *, struct bytes refusal, usec_t deadline,
                                     int *ret_fd, struct addr *ret_peer);

/* Connects; from: the local address to bind (its port may be 0), or NULL. */
PARKS MUST_CHECK int tcp_connect(const struct addr *to, const struct addr *from,
                                 usec_t deadline, struct io_fd **ret);

/* A stream over a connected socket; takes the io_fd on success and on failure. */
MUST_CHECK int tcp_stream_new(struct io_fd *, usec_t stall_us, struct stream **ret);
/* A stream over a connection that was just accepted; takes fd. What has come already is told as
 * the first edge, so nobody needs to look: its session may doze at once. */
MUST_CHECK int tcp_stream_accepted(int fd, usec_t stall_us, struct stream **ret);
MUST_CHECK int tcp_set_nodelay(struct io_fd *);
/* Adds what TCP_INFO knows of a socket, whatever streams are on it. */
void tcp_info_into(const struct io_fd *, struct stream_info *ret);
/* All that the peer sent was read, and no more will come: it closed, or the connection is gone.
 */
bool tcp_has_ended(const struct io_fd *);
/* Keeps what the kernel holds unsent to about a quarter of a second at the delivery rate: 16 to
 * 512 KB, and no bound where the send buffer holds less than that time anyway (16 MB/s). Among
 * many, at most 128 KB. */
void tcp_refresh_lowat(struct io_fd *, bool among_many);

/* -- for who moves bytes through the descriptor itself: tcp_stream.c and xfer/ -- */

/* After EAGAIN: 0 when ready; -FERRY_ESTALLED when nothing moved for stall_us (0: no limit),
 * -ECANCELED. A slow reader makes no edge before a third of the buffer is free, so what it has
 * acknowledged counts as movement too. */
PARKS MUST_CHECK int tcp_wait_ready(struct io_fd *, enum io_dir, usec_t stall_us);
/* -errno of a connection that is gone (EPIPE, ECONNRESET, no route ...) as -FERRY_ECLOSED; any
 * other result as it is. */
int tcp_result(ssize_t r);
