#include "client/remote/received.h"

#include "base/attr.h"

void received_init(struct received *r, uint64_t from)
{
    r->end = from;
    r->count = 0;
}

static void remove_part(struct received *r, unsigned i)
{
    r->ahead[i] = r->ahead[--r->count];
}

/* The part with all that touch it in one. */
static struct received_part join(struct received *r, struct received_part part)
{
    for (unsigned i = 0; i < r->count;) {
        const struct received_part *other = &r->ahead[i];
        if (other->to < part.from || other->from > part.to) {
            i++;
            continue;
        }
        if (other->from < part.from)
            part.from = other->from;
        if (other->to > part.to)
            part.to = other->to;
        remove_part(r, i);
        i = 0; /* it has grown, and may touch those that it did not */
    }
    return part;
}

void received_add(struct received *r, uint64_t from, uint64_t to)
{
    struct received_part part = join(r, (struct received_part){from, to});
    if (part.from <= r->end) {
        if (part.to > r->end)
            r->end = part.to;
    } else if (r->count < ARRAY_LEN(r->ahead)) {
        r->ahead[r->count++] = part;
    }
}
