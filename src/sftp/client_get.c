/* A whole file from the server: requests as far ahead as the path takes, in the task that asked
 * for it; what comes is handed on in the client's reading task. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "sftp/client_internal.h"
#include "xfer/piece.h"

#define ASK_BYTES 512 /* of requests in one write */
#define CLOSE_US  USEC_PER_S

struct download {
    struct sftp_client *client;
    struct sftp_remote file;
    struct sftp_flow flow;
    struct sftp_call facts; /* FSTAT's, which nobody waits for */
    bool knows_size;
    uint64_t size_bytes; /* as the server told it */
};

static PARKS int open_file(struct download *d, struct bytes path, const struct sftp_get *get)
{
    struct sftp_client *c = d->client;
    int r = sftp_client_open(c, path, SFTP_OPEN_READ, 0, &d->file);
    if (r < 0)
        return r;
    event_init(&d->flow.moved);
    d->flow.sink = get->sink;
    d->flow.arg = get->arg;
    d->flow.next = d->flow.data_end = get->offset;
    d->flow.end = UINT64_MAX;
    if (get->length != 0 && get->length < UINT64_MAX - get->offset)
        d->flow.end = get->offset + get->length;
    sftp_flight_init(&d->flow.flight, c->read_bytes, c->in_flight_max, clock_now());
    return 0;
}

/* Only a hint: files grow and shrink, and some say that they are empty and are not. */
static void look_at_facts(struct download *d, struct sftp_attributes *ret)
{
    struct sftp_answer *a = &d->facts.answer;
    if (d->knows_size || d->facts.message.len == 0 || d->facts.result < 0 ||
        a->type != SFTP_ATTRS)
        return;
    *ret = a->attributes;
    if ((a->attributes.has & SFTP_ATTR_SIZE) == 0)
        return;
    d->knows_size = true;
    d->size_bytes = a->attributes.size_bytes;
}

/* -- what to ask for -- */

static bool next_gap(struct download *d, struct sftp_part *ret)
{
    struct sftp_flow *flow = &d->flow;
    while (flow->gap_count > 0) {
        struct sftp_part part = flow->gaps[--flow->gap_count];
        /* a short answer that ends where the file was said to end need not be asked about */
        if (d->knows_size && part.offset == d->size_bytes && part.offset < flow->end)
            flow->end = part.offset;
        if (part.offset >= flow->end)
            continue;
        *ret = part;
        return true;
    }
    return false;
}

static bool next_part(struct download *d, struct sftp_part *ret)
{
    struct sftp_flow *flow = &d->flow;
    if (next_gap(d, ret))
        return true;
    if (flow->next >= flow->end)
        return false;
    /* behind the end that was told, one request looks whether there is more */
    if (d->knows_size && flow->next > d->size_bytes && flow->data_end <= d->size_bytes &&
        flow->open > 0)
        return false;
    uint64_t left = flow->end - flow->next;
    uint32_t len = d->client->read_bytes;
    *ret = (struct sftp_part){flow->next, left < len ? (uint32_t)left : len};
    flow->next += ret->len;
    return true;
}

static bool has_place(const struct download *d)
{
    const struct sftp_flow *flow = &d->flow;
    const struct sftp_client *c = d->client;
    return c->slots_used < SFTP_SLOTS_MAX &&
           (flow->open == 0 || (flow->open < SFTP_FLOW_SLOTS &&
                                flow->in_flight + c->read_bytes <= flow->flight.limit_bytes));
}

/* Requests go many at a time: not before a quarter of what may be in flight is free. */
static bool wants_more(const struct download *d)
{
    const struct sftp_flow *flow = &d->flow;
    uint64_t limit = flow->flight.limit_bytes;
    return flow->gap_count > 0 || flow->in_flight <= limit - limit / 4;
}

static int add_request(struct download *d, const struct sftp_part *part, struct wire_writer *w)
{
    const struct sftp_slot slot = {
        .waiting = SFTP_SLOT_READ, .flow = &d->flow, .offset = part->offset, .len = part->len};
    struct sftp_request q = {.kind = SFTP_KIND_READ,
                             .handle = bytes_of(d->file.handle, d->file.len),
                             .offset = part->offset,
                             .len = part->len};
    int r = sftp_slot_new(d->client, &slot, &q.id);
    if (r < 0)
        return r;
    sftp_request_write(w, &q);
    d->flow.open++;
    d->flow.in_flight += part->len;
    return 0;
}

/* How many requests were sent. */
static PARKS int ask_some(struct download *d)
{
    struct sftp_client *c = d->client;
    uint8_t requests[ASK_BYTES];
    struct wire_writer w = wire_writer_of(requests, sizeof(requests));
    struct sftp_part part;
    int count = 0;
    int r = sftp_turn_begin(c);
    if (r < 0)
        return r;
    while (r == 0 && sizeof(requests) - w.len >= SFTP_HEAD_BYTES + d->file.len &&
           has_place(d) && next_part(d, &part)) {
        r = add_request(d, &part, &w);
        count++;
    }
    if (r == 0 && count > 0)
        r = stream_write_bytes(c->stream, bytes_of(requests, w.len));
    sftp_turn_end(c, r);
    return r < 0 ? r : count;
}

/* -- until all is here -- */

/* What came last may wait for the sink, or be in it. */
static bool is_delivered(const struct download *d)
{
    return d->client->batch.flow != &d->flow && d->client->sinking != &d->flow;
}

static PARKS int receive_all(struct download *d, struct sftp_got *got)
{
    struct sftp_flow *flow = &d->flow;
    for (;;) {
        look_at_facts(d, &got->attributes);
        event_clear(&flow->moved);
        if (flow->result < 0 || d->client->broken < 0)
            return flow->result < 0 ? flow->result : d->client->broken;
        int asked = wants_more(d) ? ask_some(d) : 0;
        if (asked < 0)
            return asked;
        if (asked > 0)
            continue;
        if (flow->open == 0 && is_delivered(d))
            return flow->data_end > flow->end ? -FERRY_ETRUNCATED : 0;
        int r = sftp_client_wait(d->client, &flow->moved);
        if (r < 0)
            return r;
    }
}

int sftp_client_get(struct sftp_client *c, struct bytes path, const struct sftp_get *get,
                    struct sftp_got *ret)
{
    struct download d = {.client = c};
    *ret = (struct sftp_got){0};
    int r = open_file(&d, path, get);
    if (r < 0)
        return r;
    struct sftp_request q = {.kind = SFTP_KIND_FSTAT,
                             .handle = bytes_of(d.file.handle, d.file.len)};
    r = sftp_call_send(c, &q, &d.facts);
    if (r == 0)
        r = receive_all(&d, ret);
    sftp_flow_leave(c, &d.flow);
    sftp_call_done(c, &d.facts);
    mem_free(d.flow.gaps);
    ret->bytes = d.flow.bytes;
    q.kind = SFTP_KIND_CLOSE;
    task_shield_begin(clock_after(CLOSE_US));
    if (c->broken == 0 && sftp_tell(c, &q) < 0) /* what it says is of no interest */
        sftp_client_break(c, -FERRY_ECLOSED);
    task_shield_end();
    return r;
}

int sftp_local_sink(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                    unsigned count)
{
    const struct sftp_local *local = arg;
    uint64_t end = offset;
    for (unsigned i = 0; i < count; i++)
        end += pieces[i].iov_len;
    int r = end < offset || end > INT64_MAX ? -EFBIG : 0;
    if (r == 0 && local->upload != NULL)
        r = vupload_reserve(local->upload, end);
    if (r < 0)
        return r;
    return xfer_write_at(local->file, offset, chunk, pieces, count, local->stall_us);
}
