#include "client/copy/relay.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"

struct piece {
    struct list node;
    struct chunk *chunk; /* referenced */
    const uint8_t *data;
    size_t len;
    uint64_t offset;
};

void copy_relay_init(struct copy_relay *r, uint64_t offset)
{
    *r = (struct copy_relay){.offset = offset};
    list_init(&r->pieces);
    copy_condition_init(&r->changed);
}

static void free_piece(struct piece *piece)
{
    list_remove(&piece->node);
    chunk_unref(piece->chunk);
    mem_free(piece);
}

void copy_relay_done(struct copy_relay *r)
{
    LIST_EACH_SAFE(it, &r->pieces)
    free_piece(LIST_ENTRY(it, struct piece, node));
}

/* What is taken next, if it is here. */
static struct piece *next_piece(const struct copy_relay *r)
{
    if (list_empty(&r->pieces))
        return NULL;
    struct piece *first = LIST_ENTRY(r->pieces.next, struct piece, node);
    return first->offset == r->offset ? first : NULL;
}

/* Behind those that come before it: mostly the last. */
static int add(struct copy_relay *r, uint64_t offset, struct chunk *chunk,
               const struct iovec *from)
{
    struct list *after = r->pieces.prev;
    while (after != &r->pieces && LIST_ENTRY(after, struct piece, node)->offset >= offset)
        after = after->prev;
    struct piece *before = LIST_ENTRY(after, struct piece, node);
    struct piece *behind = LIST_ENTRY(after->next, struct piece, node);
    if (offset < r->offset || (after != &r->pieces && before->offset + before->len > offset) ||
        (after->next != &r->pieces && offset + from->iov_len > behind->offset))
        return -FERRY_EPROTO;
    struct piece *piece = mem_new(sizeof(*piece));
    if (piece == NULL)
        return -ENOMEM;
    *piece = (struct piece){.chunk = chunk_ref(chunk),
                            .data = from->iov_base,
                            .len = from->iov_len,
                            .offset = offset};
    list_append(after->next, &piece->node);
    r->held += piece->len;
    return 0;
}

/* Until there is room. What is needed next is always let in, and whatever may come before it.
 */
static PARKS int wait_for_room(struct copy_relay *r, uint64_t offset)
{
    usec_t since = clock_now();
    int result = 0;
    while (result == 0 && !r->is_cut && r->held >= COPY_RELAY_BYTES && offset != r->offset &&
           next_piece(r) != NULL)
        result = copy_condition_wait(&r->changed, USEC_NEVER);
    r->gave_wait_us += clock_now() - since;
    if (r->is_cut)
        return -ECANCELED;
    return result == 0 && r->held >= COPY_RELAY_BYTES_MAX ? -FERRY_ELIMIT : result;
}

int copy_relay_take(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                    unsigned count)
{
    struct copy_relay *r = arg;
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].iov_len == 0)
            continue;
        int result = wait_for_room(r, offset);
        if (result == 0)
            result = add(r, offset, chunk, &pieces[i]);
        if (result < 0)
            return result;
        offset += pieces[i].iov_len;
        copy_condition_tell(&r->changed);
    }
    return 0;
}

static PARKS int wait_for_piece(struct copy_relay *r)
{
    usec_t since = clock_now();
    int result = 0;
    while (result == 0 && !r->is_cut && !r->has_ended && next_piece(r) == NULL)
        result = copy_condition_wait(&r->changed, USEC_NEVER);
    r->took_wait_us += clock_now() - since;
    if (result < 0)
        return result;
    if (next_piece(r) != NULL)
        return 0;
    if (r->has_failed || r->is_cut)
        return -ECANCELED;
    return !list_empty(&r->pieces) ? -FERRY_ETRUNCATED : 0;
}

/* As much of the pieces that are here as the memory takes. */
static size_t copy_out(struct copy_relay *r, const struct iovec *to)
{
    size_t done = 0;
    struct piece *piece;
    while (done < to->iov_len && (piece = next_piece(r)) != NULL) {
        size_t len = to->iov_len - done < piece->len ? to->iov_len - done : piece->len;
        memcpy((uint8_t *)to->iov_base + done, piece->data, len);
        done += len;
        r->offset += len;
        r->held -= len;
        piece->offset += len;
        piece->data += len;
        piece->len -= len;
        if (piece->len == 0)
            free_piece(piece);
    }
    return done;
}

ssize_t copy_relay_fill(void *arg, uint64_t offset, struct chunk *chunk,
                        const struct iovec *pieces, unsigned count)
{
    struct copy_relay *r = arg;
    size_t filled = 0;
    (void)chunk;
    if (offset != r->offset)
        return -EINVAL;
    for (unsigned i = 0; i < count; i++) {
        size_t done = 0;
        while (done < pieces[i].iov_len) {
            int result = wait_for_piece(r);
            if (result < 0) /* it is told the next time */
                return filled > 0 && result != -FERRY_ETRUNCATED ? (ssize_t)filled : result;
            const struct iovec rest = {(uint8_t *)pieces[i].iov_base + done,
                                       pieces[i].iov_len - done};
            size_t n = copy_out(r, &rest);
            if (n == 0) /* the end */
                return (ssize_t)filled;
            done += n;
            filled += n;
            copy_condition_tell(&r->changed);
        }
    }
    return (ssize_t)filled;
}

void copy_relay_end(struct copy_relay *r, bool has_failed)
{
    r->has_ended = true;
    r->has_failed = has_failed;
    copy_condition_tell(&r->changed);
}

void copy_relay_cut(struct copy_relay *r)
{
    r->is_cut = true;
    copy_condition_tell(&r->changed);
}
