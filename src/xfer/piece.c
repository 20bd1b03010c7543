#include "xfer/piece.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "xfer/move.h"

static uint64_t sum_of(const struct iovec *pieces, unsigned count)
{
    uint64_t len = 0;
    for (unsigned i = 0; i < count; i++)
        len += pieces[i].iov_len;
    return len;
}

static bool lie_in(const struct iovec *pieces, const struct chunk *c)
{
    uintptr_t at = (uintptr_t)pieces;
    return at >= (uintptr_t)c && at < (uintptr_t)(c->data + c->size);
}

/* A job that is left behind may look at its list of pieces when the caller's is gone. */
static int set_memory(struct move *m, struct chunk *c, const struct iovec *pieces,
                      unsigned count)
{
    if (!lie_in(pieces, c) && !vfile_is_in_memory(m->file)) {
        m->own_pieces = mem_dup(pieces, count * sizeof(*pieces));
        if (m->own_pieces == NULL)
            return -ENOMEM;
        pieces = m->own_pieces;
    }
    move_set_memory(m, c, pieces, count);
    return 0;
}

static PARKS int run(struct move *m, void (*mover)(struct move *), struct pool *pool,
                     usec_t stall_us)
{
    usec_t deadline = stall_us != 0 ? clock_after(stall_us) : USEC_NEVER;
    int r = move_run(m, mover, pool, vfile_shares(m->file), deadline);
    return r == 0 && m->end == MOVE_FAILED ? m->error : r;
}

/* It ends where the cache does, and not the file. */
static bool ends_too_early(const struct move *m)
{
    uint64_t moved = atomic_load(&m->moved);
    return moved < m->budget && m->offset + moved < vfile_stat(m->file)->size_bytes;
}

/* On the loop where the file never waits, or says "not now" (RWF_NOWAIT); else in the pool. */
static PARKS int run_read(struct move *m, usec_t stall_us)
{
    struct vfile *file = m->file;
    if (vfile_is_in_memory(file))
        return run(m, move_read, NULL, stall_us);
    if (vfile_reads_without_waiting(file)) {
        m->read_flags = RWF_NOWAIT;
        int r = run(m, move_read, NULL, stall_us);
        m->read_flags = 0;
        if (r != -EAGAIN && (r < 0 || !ends_too_early(m)))
            return r;
    }
    return run(m, move_read, vfile_pool(file), stall_us);
}

/* All of the pieces at the offset. */
static int piece_new(struct vfile *file, uint64_t offset, struct chunk *c,
                     const struct iovec *pieces, unsigned count, struct move **ret)
{
    struct move *m;
    int r = move_new(file, NULL, &m);
    if (r < 0)
        return r;
    r = set_memory(m, c, pieces, count);
    if (r < 0) {
        move_leave(m);
        return r;
    }
    m->offset = offset;
    m->budget = sum_of(pieces, count);
    *ret = m;
    return 0;
}

ssize_t xfer_read_at(struct vfile *file, uint64_t offset, struct chunk *c,
                     const struct iovec *pieces, unsigned count, usec_t stall_us)
{
    struct move *m;
    int r = piece_new(file, offset, c, pieces, count, &m);
    if (r < 0)
        return r;
    r = run_read(m, stall_us);
    ssize_t n = (ssize_t)atomic_load(&m->moved);
    move_leave(m);
    return r < 0 ? r : n;
}

int xfer_write_at(struct vfile *file, uint64_t offset, struct chunk *c,
                  const struct iovec *pieces, unsigned count, usec_t stall_us)
{
    struct move *m;
    int r = piece_new(file, offset, c, pieces, count, &m);
    if (r < 0)
        return r;
    struct pool *pool = vfile_is_in_memory(file) ? NULL : vfile_pool(file);
    r = run(m, move_from_memory, pool, stall_us);
    move_leave(m);
    return r;
}
