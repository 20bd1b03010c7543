#include "io/out_queue.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"

#define TRY_PIECES  16   /* of one call; they lie on the stack */
#define SHARED_SIZE 4096 /* memory that small messages share */

/* A run of pieces of one chunk. Small messages share a chunk and have one piece that grows. */
struct entry {
    struct list node;
    struct chunk *chunk;
    const struct iovec *pieces;
    unsigned count;
    size_t skip;         /* of the first piece: it went */
    struct iovec shared; /* the piece of small messages */
};

void out_queue_init(struct out_queue *q, struct stream *lower, struct scope *flushers,
                    struct event *wake)
{
    *q = (struct out_queue){.lower = lower, .scope = flushers, .wake = wake};
    list_init(&q->entries);
    event_init(&q->moved);
}

static void entry_free(struct entry *e)
{
    list_remove(&e->node);
    chunk_unref(e->chunk);
    mem_free(e);
}

static void set_bytes(struct out_queue *q, size_t bytes)
{
    if (q->total != NULL)
        *q->total += bytes - q->bytes;
    q->bytes = bytes;
}

static void drop_all(struct out_queue *q)
{
    LIST_EACH_SAFE(it, &q->entries)
    entry_free(LIST_ENTRY(it, struct entry, node));
    set_bytes(q, 0);
}

void out_queue_done(struct out_queue *q)
{
    if (q->lower != NULL) /* {0} is fine */
        drop_all(q);
}

/* -- adding -- */

static int entry_new(struct out_queue *q, struct chunk *c, struct entry **ret)
{
    struct entry *e = mem_new(sizeof(*e));
    if (e == NULL)
        return -ENOMEM;
    list_init(&e->node);
    e->chunk = c;
    list_append(&q->entries, &e->node);
    *ret = e;
    return 0;
}

int out_queue_add(struct out_queue *q, struct chunk *c, const struct iovec *pieces,
                  unsigned count)
{
    struct entry *e;
    if (q->error == 0 && entry_new(q, c, &e) < 0)
        out_queue_break(q, -ENOMEM);
    if (q->error < 0) {
        chunk_unref(c);
        return q->error;
    }
    e->pieces = pieces;
    e->count = count;
    size_t len = 0;
    for (unsigned i = 0; i < count; i++)
        len += pieces[i].iov_len;
    set_bytes(q, q->bytes + len);
    return 0;
}

/* The last entry's chunk, if small messages share it and there is room. The flusher may be
 * sending it: what is behind it then stays for later. */
static struct entry *shared_with_room(const struct out_queue *q, size_t len)
{
    if (list_empty(&q->entries))
        return NULL;
    struct entry *e = LIST_ENTRY(q->entries.prev, struct entry, node);
    size_t used = e->shared.iov_len;
    return e->pieces == &e->shared && len <= e->chunk->size - used ? e : NULL;
}

static int shared_new(struct out_queue *q, size_t len, struct entry **ret)
{
    struct chunk *c = chunk_new(len > SHARED_SIZE ? len : SHARED_SIZE);
    if (c == NULL)
        return -ENOMEM;
    if (c->size < len) {
        chunk_unref(c);
        return -FERRY_ELIMIT;
    }
    int r = entry_new(q, c, ret);
    if (r < 0) {
        chunk_unref(c);
        return r;
    }
    (*ret)->shared.iov_base = c->data;
    (*ret)->pieces = &(*ret)->shared;
    (*ret)->count = 1;
    return 0;
}

int out_queue_add_bytes(struct out_queue *q, struct bytes b)
{
    if (q->error < 0 || b.len == 0)
        return q->error;
    struct entry *e = shared_with_room(q, b.len);
    if (e == NULL) {
        int r = shared_new(q, b.len, &e);
        if (r < 0) {
            out_queue_break(q, r);
            return r;
        }
    }
    memcpy(e->chunk->data + e->shared.iov_len, b.data, b.len);
    e->shared.iov_len += b.len;
    set_bytes(q, q->bytes + b.len);
    return 0;
}

/* -- sending -- */

void out_queue_break(struct out_queue *q, int error)
{
    if (q->error == 0)
        q->error = error;
    if (!q->is_flushing)
        drop_all(q);
    event_set(&q->moved);
    if (q->wake != NULL)
        event_set(q->wake);
}

/* What is next, as far as one call takes it. */
static unsigned first_pieces(const struct out_queue *q, struct iovec pieces[TRY_PIECES])
{
    unsigned count = 0;
    LIST_EACH(it, &q->entries)
    {
        const struct entry *e = LIST_ENTRY(it, struct entry, node);
        for (unsigned i = 0; i < e->count; i++) {
            if (count == TRY_PIECES)
                return count;
            size_t skip = i == 0 ? e->skip : 0;
            pieces[count].iov_base = (uint8_t *)e->pieces[i].iov_base + skip;
            pieces[count++].iov_len = e->pieces[i].iov_len - skip;
        }
    }
    return count;
}

static void consume(struct out_queue *q, size_t len)
{
    bool was_above = q->bytes > q->mark;
    set_bytes(q, q->bytes - len);
    if (was_above && q->bytes <= q->mark && q->wake != NULL)
        event_set(q->wake);
    while (!list_empty(&q->entries)) {
        struct entry *e = LIST_ENTRY(q->entries.next, struct entry, node);
        while (e->count > 0 && len >= e->pieces->iov_len - e->skip) {
            len -= e->pieces->iov_len - e->skip;
            e->skip = 0;
            e->pieces++;
            e->count--;
        }
        e->skip += e->count > 0 ? len : 0;
        if (e->count > 0)
            break;
        entry_free(e);
    }
    event_set(&q->moved);
}

/* Of a stream that has to wait: one entry at a time, by the call that parks. */
static void flush_main(void *arg)
{
    struct out_queue *q = arg;
    while (q->error == 0 && !list_empty(&q->entries)) {
        struct iovec pieces[TRY_PIECES];
        unsigned count = first_pieces(q, pieces);
        size_t len = 0;
        for (unsigned i = 0; i < count; i++)
            len += pieces[i].iov_len;
        int r = stream_write(q->lower, pieces, (int)count);
        if (r < 0)
            out_queue_break(q, r);
        else
            consume(q, len);
    }
    q->is_flushing = false;
    if (q->error < 0)
        drop_all(q);
}

int out_queue_push(struct out_queue *q)
{
    while (q->error == 0 && !q->is_flushing && !list_empty(&q->entries)) {
        struct iovec pieces[TRY_PIECES];
        unsigned count = first_pieces(q, pieces);
        ssize_t n = stream_try_write(q->lower, pieces, (int)count);
        if (n >= 0) {
            consume(q, (size_t)n);
        } else if (n == -EAGAIN) {
            int r = scope_start(q->scope, "flush", TASK_NORMAL, flush_main, q, NULL);
            if (r < 0)
                out_queue_break(q, r);
            q->is_flushing = r == 0;
        } else {
            out_queue_break(q, (int)n);
        }
    }
    return q->error;
}

size_t out_queue_bytes(const struct out_queue *q)
{
    return q->bytes;
}

int out_queue_wait(struct out_queue *q, size_t at_most, usec_t deadline)
{
    while (q->error == 0 && q->bytes > at_most) {
        event_clear(&q->moved);
        int r = event_wait(&q->moved, deadline);
        if (r < 0)
            return r;
    }
    return q->error;
}
