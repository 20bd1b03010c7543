#include "io/tcp_bulk.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "task/sys.h"

/* One call, of at most so many bytes. As a result: bytes, 0 at the end, -errno. */
typedef ssize_t step_fn(int socket, const struct file_part *, uint64_t done, size_t max);

static ssize_t discard_step(int socket, const struct file_part *part, uint64_t done, size_t max)
{
    (void)part;
    (void)done;
    return sys_recv(socket, NULL, max, MSG_TRUNC);
}

static ssize_t file_step(int socket, const struct file_part *part, uint64_t done, size_t max)
{
    uint64_t left = part->len - done;
    off_t offset = (off_t)(part->offset + done);
    return sys_sendfile(socket, part->fd, &offset, left < max ? (size_t)left : max);
}

struct mover {
    struct io_fd *socket;
    step_fn *step;
    enum io_dir dir;
    int at_end;  /* what it is when the source ends before part.len */
    int at_full; /* and when it does not */
    struct file_part part;
};

static int move(const struct mover *m, usec_t stall_us, uint64_t *moved)
{
    uint64_t done = 0;
    size_t in_turn = 0;
    while (done < m->part.len) {
        if (in_turn >= TASK_TURN_BYTES || task_turn_is_over()) {
            in_turn = 0;
            task_yield();
            if (task_is_cancelled()) /* a fast peer: there may be no wait to say so */
                return -ECANCELED;
        }
        unsigned edges = io_fd_edges(m->socket, m->dir);
        ssize_t n = m->step(io_fd_number(m->socket), &m->part, done, TASK_TURN_BYTES - in_turn);
        if (n == -EAGAIN) {
            io_fd_not_ready(m->socket, m->dir, edges);
            int r = tcp_wait_ready(m->socket, m->dir, stall_us);
            if (r < 0)
                return tcp_result(r);
            continue;
        }
        if (n <= 0)
            return n == 0 ? m->at_end : tcp_result(n);
        done += (uint64_t)n;
        *moved += (uint64_t)n;
        in_turn += (size_t)n;
    }
    return m->at_full;
}

int tcp_discard(struct io_fd *f, uint64_t max, usec_t stall_us, uint64_t *moved)
{
    const struct mover m = {.socket = f,
                            .step = discard_step,
                            .dir = IO_READ,
                            .at_full = -FERRY_ELIMIT,
                            .part = {.len = max}};
    return move(&m, stall_us, moved);
}

int tcp_send_file(struct io_fd *f, const struct file_part *part, usec_t stall_us,
                  uint64_t *moved)
{
    const struct mover m = {.socket = f,
                            .step = file_step,
                            .dir = IO_WRITE,
                            .at_end = -FERRY_ETRUNCATED,
                            .part = *part};
    return move(&m, stall_us, moved);
}

void tcp_reset_on_close(struct io_fd *f)
{
    const struct linger now = {.l_onoff = 1};
    (void)(sys_setsockopt(io_fd_number(f), SOL_SOCKET, SO_LINGER, &now, sizeof(now)) <
           0); /* then it is an ordinary end, and the control connection tells */
}

void tcp_break(struct io_fd *f)
{
    sys_shutdown(io_fd_number(f), SHUT_RDWR);
}
