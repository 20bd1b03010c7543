#include "xfer/move.h"

#include <errno.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "io/tcp.h"
#include "task/sys.h"
#include "xfer/pipe.h"

#define SENDFILE_BYTES (1024 * 1024) /* of one call: how often the clock is looked at */
/* Of one recv. It comes from the running thread, so three hundred uploads that wait for the
 * network hold none. */
#define BUFFER_BYTES (64 * 1024)
#define DENSE_BYTES  (16 * 1024) /* came in one recv: then what follows is spliced */

static void move_unref(struct move *m)
{
    if (atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    chunk_unref(m->chunk);
    mem_free(m->own_pieces);
    if (m->socket != NULL)
        io_fd_unref(m->socket);
    vfile_unref(m->file);
    mem_free(m);
}

static void run_job(struct job *job)
{
    struct move *m = (struct move *)(void *)job;
    m->mover(m);
}

static void free_job(struct job *job)
{
    move_unref((struct move *)(void *)job);
}

int move_new(struct vfile *file, struct io_fd *socket, struct move **ret)
{
    struct move *m = mem_new(sizeof(*m));
    if (m == NULL)
        return -ENOMEM;
    m->job.run = run_job;
    m->job.free = free_job;
    atomic_init(&m->refs, 1);
    m->file = vfile_ref(file);
    m->socket = socket != NULL ? io_fd_ref(socket) : NULL;
    *ret = m;
    return 0;
}

void move_leave(struct move *m)
{
    if (m == NULL)
        return;
    atomic_store(&m->stops, true);
    move_unref(m);
}

void move_set_memory(struct move *m, struct chunk *c, const struct iovec *pieces,
                     unsigned count)
{
    if (atomic_load(&m->stops)) /* a job that was left behind may be at work on it */
        return;
    chunk_unref(m->chunk);
    m->chunk = c != NULL ? chunk_ref(c) : NULL;
    m->pieces = pieces;
    m->count = count;
}

int move_run(struct move *m, void (*mover)(struct move *), struct pool *pool,
             const struct pool_shares *shares, usec_t deadline)
{
    m->mover = mover;
    m->end = MOVE_SPENT;
    m->error = 0;
    atomic_store(&m->moved, 0);
    if (pool == NULL) {
        no_park_begin();
        mover(m);
        no_park_end();
        return 0;
    }
    atomic_fetch_add(&m->refs, 1); /* the job's */
    int r = job_run(pool, &m->job, shares, deadline);
    if (r == 0) {
        move_unref(m);
        return 0;
    }
    /* It may still run. Its socket is shut down, so that after the end was told no byte goes
     * out, and after `stops` no further step begins. */
    atomic_store(&m->stops, true);
    if (m->socket != NULL)
        sys_shutdown(io_fd_number(m->socket), SHUT_RDWR);
    return r;
}

/* -- the movers -- */

static uint64_t left_of(const struct move *m)
{
    return m->budget - atomic_load_explicit(&m->moved, memory_order_relaxed);
}

static off_t position(const struct move *m)
{
    return (off_t)(m->offset + atomic_load_explicit(&m->moved, memory_order_relaxed));
}

static void count_moved(struct move *m, ssize_t n)
{
    atomic_fetch_add(&m->moved, (uint64_t)n);
}

static bool fail(struct move *m, int error)
{
    m->end = MOVE_FAILED;
    m->error = error;
    return false;
}

static bool goes_on(const struct move *m, usec_t until)
{
    return left_of(m) > 0 && !atomic_load(&m->stops) && clock_now() < until;
}

static size_t at_most(uint64_t len, size_t max)
{
    return len < max ? (size_t)len : max;
}

/* sendfile(2) fails for either side. A connection's causes are known by name and read as
 * -FERRY_ECLOSED; the rest is the file's. */
void move_sendfile(struct move *m)
{
    usec_t until = clock_now() + MOVE_JOB_US;
    int out = io_fd_number(m->socket), in = vfile_fd(m->file);
    do {
        off_t off = position(m);
        ssize_t n = sys_sendfile(out, in, &off, at_most(left_of(m), SENDFILE_BYTES));
        if (n > 0) {
            count_moved(m, n);
            continue;
        }
        if (n == 0)
            m->end = MOVE_ENDED;
        else if (n == -EAGAIN)
            m->end = MOVE_AGAIN;
        else
            (void)fail(m, tcp_result(n));
        return;
    } while (goes_on(m, until));
}

/* One write, unless the task has left, whose upload may be over: it breaks only when no write
 * is under way, so what goes to the file is what it counts. 0: failed. */
static size_t write_some(struct move *m, const struct iovec *pieces, int count)
{
    vfile_write_begin(m->file);
    ssize_t n = -ECANCELED;
    if (!atomic_load(&m->stops))
        n = sys_pwritev(vfile_fd(m->file), pieces, count, position(m));
    if (n > 0)
        count_moved(m, n);
    vfile_write_end(m->file);
    if (n > 0)
        return (size_t)n;
    (void)fail(m, n < 0 ? (int)n : -EIO); /* a file that takes nothing is broken */
    return 0;
}

static bool write_all(struct move *m, const uint8_t *data, size_t len)
{
    while (len > 0) {
        const struct iovec piece = {.iov_base = (uint8_t *)(uintptr_t)data, .iov_len = len};
        size_t n = write_some(m, &piece, 1);
        if (n == 0)
            return false;
        data += n;
        len -= n;
    }
    return true;
}

static bool stop_receiving(struct move *m, ssize_t n)
{
    if (n == 0)
        m->end = MOVE_ENDED;
    else if (n == -EAGAIN)
        m->end = MOVE_AGAIN;
    else
        (void)fail(m, tcp_result(n));
    return false;
}

static bool receive_copied(struct move *m, struct chunk *buffer)
{
    size_t want = at_most(left_of(m), BUFFER_BYTES);
    ssize_t n = sys_recv(io_fd_number(m->socket), buffer->data, want, 0);
    return n > 0 ? write_all(m, buffer->data, (size_t)n) : stop_receiving(m, n);
}

/* As write_some(). */
static size_t splice_some(struct move *m, int pipe, size_t len)
{
    vfile_write_begin(m->file);
    ssize_t n = -ECANCELED;
    off_t off = position(m);
    if (!atomic_load(&m->stops))
        n = sys_splice(pipe, vfile_fd(m->file), &off, len);
    if (n > 0)
        count_moved(m, n);
    vfile_write_end(m->file);
    if (n > 0)
        return (size_t)n;
    (void)fail(m, n < 0 ? (int)n : -EIO);
    return 0;
}

/* Of a file whose file system knows no splice. */
static size_t copy_some(struct move *m, int pipe, struct chunk *buffer, size_t len)
{
    ssize_t n = sys_read(pipe, buffer->data, at_most(len, BUFFER_BYTES));
    m->end = MOVE_SPENT;
    m->error = 0;
    if (n > 0)
        return write_all(m, buffer->data, (size_t)n) ? (size_t)n : 0;
    (void)fail(m, n < 0 ? (int)n : -EIO);
    return 0;
}

static bool receive_spliced(struct move *m, const struct thread_pipe *pipe,
                            struct chunk *buffer)
{
    ssize_t n =
        sys_splice(io_fd_number(m->socket), pipe->out, NULL, at_most(left_of(m), PIPE_BYTES));
    if (n <= 0)
        return stop_receiving(m, n);
    for (size_t len = (size_t)n, some; len > 0; len -= some) {
        some = splice_some(m, pipe->in, len);
        if (some == 0 && m->error == -EINVAL)
            some = copy_some(m, pipe->in, buffer, len);
        if (some == 0) {
            pipe_discard();
            return false;
        }
    }
    return true;
}

/* The first bytes of a file are copied, and all of one that comes in small pieces: it is small
 * or slow, and costs less without a pipe. */
void move_from_socket(struct move *m)
{
    usec_t until = clock_now() + MOVE_JOB_US;
    struct chunk *buffer = chunk_new(at_most(m->budget, BUFFER_BYTES));
    if (buffer == NULL) {
        (void)fail(m, -ENOMEM);
        return;
    }
    struct thread_pipe *pipe = NULL;
    bool splices = m->is_dense, goes = true;
    m->is_dense = false;
    while (goes) {
        if (splices && pipe == NULL && pipe_of_thread(&pipe) < 0)
            pipe = NULL;
        uint64_t before = atomic_load(&m->moved);
        goes = pipe != NULL ? receive_spliced(m, pipe, buffer) : receive_copied(m, buffer);
        if (atomic_load(&m->moved) - before >= DENSE_BYTES)
            m->is_dense = splices = true;
        goes = goes && goes_on(m, until);
    }
    chunk_unref(buffer);
}

void move_read(struct move *m)
{
    ssize_t n = sys_preadv2(vfile_fd(m->file), m->pieces, (int)m->count, (off_t)m->offset,
                            m->read_flags);
    if (n > 0)
        count_moved(m, n);
    else if (n == 0)
        m->end = MOVE_ENDED;
    else
        (void)fail(m, (int)n);
}

/* As many whole pieces from i on as the budget has left; 0: not even the first. */
static int whole_pieces(const struct move *m, unsigned i)
{
    uint64_t left = left_of(m);
    unsigned n = 0;
    while (i + n < m->count && m->pieces[i + n].iov_len <= left)
        left -= m->pieces[i + n++].iov_len;
    return (int)n;
}

void move_from_memory(struct move *m)
{
    unsigned i = 0;
    size_t skip = 0; /* written of piece i */
    while (left_of(m) > 0 && i < m->count) {
        if (m->pieces[i].iov_len == 0) {
            i++;
            continue;
        }
        int whole = skip == 0 ? whole_pieces(m, i) : 0;
        if (whole == 0) {
            size_t len = at_most(left_of(m), m->pieces[i].iov_len - skip);
            if (!write_all(m, (const uint8_t *)m->pieces[i].iov_base + skip, len))
                return;
            i++;
            skip = 0;
            continue;
        }
        skip = write_some(m, m->pieces + i, whole);
        if (skip == 0)
            return;
        for (; i < m->count && skip >= m->pieces[i].iov_len; i++)
            skip -= m->pieces[i].iov_len;
    }
}
