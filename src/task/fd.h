/* Descriptors on the loop: edge-triggered; for reading from the start, for writing from the
 * first time that somebody waits for room.
 *
 * The rule of use: try the call first; park only after EAGAIN, never after a short count;
 * `ready` is cleared only by EAGAIN (but see io_fd_read_short()), with the edge counter taken
 * before the call, so that an edge which comes while a pool thread runs the call is not lost:
 *
 *     for (;;) {
 *         unsigned edges = io_fd_edges(f, IO_READ);
 *         ssize_t n = sys_recv(io_fd_number(f), data, len, 0);
 *         if (n != -EAGAIN) return n;
 *         io_fd_not_ready(f, IO_READ, edges);
 *         int r = io_fd_wait(f, IO_READ, deadline);
 *         if (r < 0) return r;
 *     }
 *
 * An io_fd belongs to the worker that made it. One reader and one writer may wait; a second of
 * a kind is a bug and aborts in debug builds. A registered descriptor is never dup'ed.
 */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/clock.h"
#include "task/task.h"

struct io_fd;

enum io_dir { IO_READ, IO_WRITE, IO_DIR_COUNT };

/* Takes fd, which must be non-blocking, on success and on failure. -ENOMEM, -ENOSPC (epoll). */
MUST_CHECK int io_fd_new(int fd, struct io_fd **ret);

/* Ends it for its worker: waiters get -ECANCELED, a dozing registration is dropped, sockets
 * that a job still holds are shut down. The memory goes after the current batch of events; the
 * descriptor is closed when the last reference is gone. NULL is fine. Returns NULL. */
struct io_fd *io_fd_close(struct io_fd *);

/* For pool jobs: keeps the number valid. Thread-safe. */
struct io_fd *io_fd_ref(struct io_fd *);
void io_fd_unref(struct io_fd *);

int io_fd_number(const struct io_fd *);
unsigned io_fd_edges(const struct io_fd *, enum io_dir);
void io_fd_not_ready(struct io_fd *, enum io_dir, unsigned edges); /* no-op if edges is old */

/* After a read of a stream socket that gave less than was asked for: as after EAGAIN, since
 * that was all there is (epoll(7)). But behind it may be the end, an error, or an urgent byte,
 * at which each read stops (tcp(7)); once one of them was told of, this does nothing. */
void io_fd_read_short(struct io_fd *, unsigned edges);

/* Around a job that goes on at the descriptor for long: each packet that comes would wake the
 * loop, which has nothing to do with it. In between there is no edge, but of an error, and
 * nobody may wait; afterwards epoll looks again, so what has come makes its edge then. */
void io_fd_mute(struct io_fd *);
void io_fd_unmute(struct io_fd *);

/* Returns 0 at once while ready; else parks until an edge. -ETIMEDOUT, -ECANCELED. */
PARKS MUST_CHECK int io_fd_wait(struct io_fd *, enum io_dir, usec_t deadline);

/* The runtime's one form of select: 0 when ready, 1 when the event is set (looked at first). */
PARKS MUST_CHECK int io_fd_wait_or(struct io_fd *, enum io_dir, struct event *,
                                   usec_t deadline);

/* Dozing: the task is about to return and keeps no stack; the next readable edge, or the
 * deadline, starts fn(arg) as a new task of that scope, named name. If no stack can be had it
 * is tried again every 100 ms, and each time no_stack(arg) is called, on the loop and in no
 * task: whoever waits too long may close the descriptor there, and free what he is. Nothing
 * else of the caller's may run between this call and its return: the new task may be runnable
 * at once. The registration is dropped when the task starts. */
void io_fd_doze(struct io_fd *, struct scope *, const char *name, task_fn *fn,
                task_fn *no_stack, void *arg, usec_t deadline);
/* Starts that task now (kick, shutdown). No-op if it does not doze. */
void io_fd_wake(struct io_fd *);
bool io_fd_is_dozing(const struct io_fd *);
