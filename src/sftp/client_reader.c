/* The client's reading task: answers go to who asked. The bytes of files go to their sinks from
 * where they were received; of all others a copy is made for the task that waits. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "sftp/client_internal.h"

#define HEAD       (SFTP_LENGTH_BYTES + 5) /* what each answer begins with: type and id */
#define TAIL_MAX   64                      /* behind the data of an answer: of later versions */
#define SINK_US    USEC_PER_S /* a sink whose task leaves may take so long to end */
#define GAPS_FIRST 16

/* -- sinks -- */

static PARKS void flush(struct sftp_client *c)
{
    struct sftp_batch *b = &c->batch;
    struct sftp_flow *flow = b->flow;
    b->flow = NULL;
    if (flow == NULL)
        return;
    c->sinking = flow;
    int r = flow->sink(flow->arg, b->offset, c->input.held.chunk, b->pieces, b->count);
    c->sinking = NULL;
    event_set(&c->sunk);
    c->heard_at = clock_now(); /* nobody listened meanwhile */
    if (r < 0 && flow->result == 0)
        flow->result = r;
    event_set(&flow->moved);
}

static PARKS void add_to_batch(struct sftp_client *c, struct sftp_flow *flow, uint64_t offset,
                               struct iovec piece)
{
    struct sftp_batch *b = &c->batch;
    if (b->flow != NULL &&
        (b->flow != flow || b->offset + b->len != offset || b->count == ARRAY_LEN(b->pieces)))
        flush(c);
    if (b->flow == NULL) {
        b->flow = flow;
        b->offset = offset;
        b->len = 0;
        b->count = 0;
    }
    b->pieces[b->count++] = piece;
    b->len += piece.iov_len;
}

void sftp_flow_leave(struct sftp_client *c, struct sftp_flow *flow)
{
    for (unsigned i = 0; i < c->slot_count; i++)
        if (c->slots[i].flow == flow)
            c->slots[i].flow = NULL;
    if (c->batch.flow == flow)
        c->batch.flow = NULL;
    task_shield_begin(clock_after(SINK_US));
    while (c->sinking == flow) {
        event_clear(&c->sunk);
        if (event_wait(&c->sunk, USEC_NEVER) < 0)
            break;
    }
    task_shield_end();
    if (c->sinking != flow)
        return;
    /* its file does not answer: the connection is given up with it */
    task_cancel(c->reader);
    task_shield_begin(USEC_NEVER);
    while (c->sinking == flow) {
        event_clear(&c->sunk);
        (void)(event_wait(&c->sunk, USEC_NEVER) < 0); /* it sees the cancel */
    }
    task_shield_end();
}

/* -- flows -- */

static int add_gap(struct sftp_flow *flow, uint64_t offset, uint32_t len)
{
    if (flow->gap_count == flow->gap_room) {
        unsigned room = flow->gap_room != 0 ? 2 * flow->gap_room : GAPS_FIRST;
        struct sftp_part *gaps = mem_resize(flow->gaps, room * sizeof(*gaps));
        if (gaps == NULL)
            return -ENOMEM;
        flow->gaps = gaps;
        flow->gap_room = room;
    }
    flow->gaps[flow->gap_count++] = (struct sftp_part){offset, len};
    return 0;
}

/* The request in this slot was answered, with so many bytes. */
static void flow_answered(struct sftp_flow *flow, const struct sftp_slot *slot, uint32_t len)
{
    flow->open--;
    flow->in_flight -= slot->len;
    flow->bytes += len;
    if (slot->offset + len > flow->data_end && len > 0)
        flow->data_end = slot->offset + len;
    if (slot->waiting == SFTP_SLOT_READ && len > 0 && len < slot->len && flow->result == 0)
        flow->result = add_gap(flow, slot->offset + len, slot->len - len);
    sftp_flight_moved(&flow->flight, len, clock_now());
    event_set(&flow->moved);
}

static void flow_status(struct sftp_client *c, const struct sftp_slot *slot,
                        const struct sftp_answer *a)
{
    struct sftp_flow *flow = slot->flow;
    int r = sftp_client_result(c, a);
    if (slot->waiting == SFTP_SLOT_READ && r == -ENODATA) {
        if (slot->offset < flow->end)
            flow->end = slot->offset;
    } else if (slot->waiting == SFTP_SLOT_READ && r == 0) {
        r = -FERRY_EPROTO; /* neither data nor a failure */
    }
    if (r < 0 && r != -ENODATA && flow->result == 0)
        flow->result = r;
    /* behind a WRITE that failed none counts: what is told has no gap */
    bool is_written = slot->waiting == SFTP_SLOT_WRITE && r == 0 && flow->result == 0;
    flow_answered(flow, slot, is_written ? slot->len : 0);
}

/* -- answers -- */

/* The next len bytes in one run. What is held goes to its sink before more is taken. */
static PARKS int need(struct sftp_client *c, size_t len, struct bytes *ret)
{
    if (sftp_input_left(&c->input) < len)
        flush(c);
    int r = sftp_input_get(&c->input, len, ret);
    c->heard_at = clock_now();
    return r;
}

/* Hands on the next len bytes of the data that slot asked for. */
static PARKS int receive_data(struct sftp_client *c, unsigned index, uint32_t len)
{
    uint64_t offset = c->slots[index].offset;
    while (len > 0) {
        if (sftp_input_left(&c->input) == 0) {
            flush(c);
            int r = sftp_input_take(&c->input);
            c->heard_at = clock_now();
            if (r <= 0)
                return r == 0 ? -FERRY_ECLOSED : r;
        }
        struct iovec piece = sftp_input_piece(&c->input, len);
        struct sftp_flow *flow = c->slots[index].flow; /* it may have left */
        if (flow != NULL && flow->sink != NULL && flow->result == 0)
            add_to_batch(c, flow, offset, piece);
        offset += piece.iov_len;
        len -= (uint32_t)piece.iov_len;
    }
    return 0;
}

static PARKS int on_data(struct sftp_client *c, unsigned index, size_t message_len)
{
    struct bytes head;
    int r = need(c, SFTP_DATA_HEAD, &head);
    if (r <= 0)
        return r == 0 ? -FERRY_ECLOSED : r;
    uint32_t len = wire_u32(head.data + HEAD);
    size_t rest = SFTP_LENGTH_BYTES + message_len - SFTP_DATA_HEAD;
    if (len > rest || rest - len > TAIL_MAX || len == 0 || len > c->slots[index].len)
        return -FERRY_EPROTO;
    sftp_input_skip(&c->input, SFTP_DATA_HEAD);
    r = receive_data(c, index, len);
    if (r == 0 && rest > len) {
        r = need(c, rest - len, &head);
        if (r > 0)
            sftp_input_skip(&c->input, rest - len);
        r = r > 0 ? 0 : r == 0 ? -FERRY_ECLOSED : r;
    }
    if (r < 0)
        return r;
    struct sftp_slot was = c->slots[index];
    sftp_slot_drop(c, was.id);
    if (was.flow != NULL)
        flow_answered(was.flow, &was, len);
    return 0;
}

/* The copy that the waiting task reads. */
static void call_answered(struct sftp_call *call, struct bytes message)
{
    call->result = buf_append_bytes(&call->message, message);
    if (call->result == 0)
        call->result = sftp_answer_parse(buf_bytes(&call->message), &call->answer);
    event_set(&call->answered);
}

static PARKS int on_other(struct sftp_client *c, unsigned index, size_t message_len)
{
    struct bytes message;
    struct sftp_answer answer;
    int r = need(c, SFTP_LENGTH_BYTES + message_len, &message);
    if (r <= 0)
        return r == 0 ? -FERRY_ECLOSED : r;
    message = bytes_skip(message, SFTP_LENGTH_BYTES);
    r = sftp_answer_parse(message, &answer);
    struct sftp_slot was = c->slots[index];
    if (r < 0 || answer.type == SFTP_VERSION_ANSWER ||
        (was.waiting != SFTP_SLOT_CALL && answer.type != SFTP_STATUS))
        return -FERRY_EPROTO;
    sftp_slot_drop(c, was.id);
    if (was.call != NULL)
        call_answered(was.call, message);
    else if (was.flow != NULL)
        flow_status(c, &was, &answer);
    sftp_input_skip(&c->input, SFTP_LENGTH_BYTES + message_len);
    return 0;
}

/* 1: there was one; 0: the stream has ended. */
static PARKS int read_answer(struct sftp_client *c)
{
    struct bytes head;
    int r = need(c, HEAD, &head);
    if (r <= 0)
        return r;
    size_t len = wire_u32(head.data);
    uint8_t type = head.data[SFTP_LENGTH_BYTES];
    uint32_t id = wire_u32(head.data + SFTP_LENGTH_BYTES + 1);
    unsigned index = id % SFTP_SLOTS_MAX;
    if (len < HEAD - SFTP_LENGTH_BYTES || len > SFTP_MESSAGE_MAX || index >= c->slot_count ||
        c->slots[index].waiting == SFTP_SLOT_FREE || c->slots[index].id != id)
        return -FERRY_EPROTO;
    if (type == SFTP_DATA && c->slots[index].waiting == SFTP_SLOT_READ)
        r = on_data(c, index, len);
    else
        r = on_other(c, index, len);
    return r < 0 ? r : 1;
}

static PARKS int read_answers(struct sftp_client *c)
{
    int r;
    do {
        if (sftp_input_left(&c->input) == 0) {
            flush(c);
            sftp_input_release(&c->input);
            r = stream_wait(c->stream, NULL, USEC_NEVER); /* nothing may be owed */
            if (r < 0)
                return r;
        }
        r = read_answer(c);
        if (task_turn_is_over())
            task_yield();
    } while (r > 0);
    return r;
}

void sftp_reader_main(void *arg)
{
    struct sftp_client *c = arg;
    int r = read_answers(c);
    c->batch.flow = NULL;
    sftp_client_break(c, r < 0 ? r : -FERRY_ECLOSED);
}
