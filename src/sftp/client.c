#include "sftp/client.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "sftp/client_internal.h"

#define SLOTS_FIRST  32
#define REQUEST_HEAD 256 /* a request without paths, handles and data */
#define LEN_LEAST    1024
#define EXTENSIONS   64 /* of a VERSION are looked at */

/* -- the end -- */

void sftp_client_break(struct sftp_client *c, int result)
{
    if (c->broken < 0)
        return;
    c->broken = result;
    for (unsigned i = 0; i < c->slot_count; i++) {
        struct sftp_slot *slot = &c->slots[i];
        if (slot->waiting == SFTP_SLOT_FREE)
            continue;
        if (slot->call != NULL)
            event_set(&slot->call->answered);
        if (slot->flow != NULL)
            event_set(&slot->flow->moved);
    }
    event_set(&c->may_send);
}

int sftp_client_wait(struct sftp_client *c, struct event *event)
{
    usec_t began_at = clock_now();
    for (;;) {
        usec_t from = c->heard_at > began_at ? c->heard_at : began_at;
        if (c->sinking != NULL) /* it is we who do not listen */
            from = clock_now();
        int r = event_wait(event, from + c->stall_us);
        if (r != -ETIMEDOUT)
            return r;
        if (c->sinking == NULL && clock_now() >= c->heard_at + c->stall_us) {
            sftp_client_break(c, -FERRY_ESTALLED);
            return -FERRY_ESTALLED;
        }
    }
}

/* -- slots -- */

static int grow_slots(struct sftp_client *c)
{
    unsigned count = c->slot_count != 0 ? c->slot_count * 2 : SLOTS_FIRST;
    if (count > SFTP_SLOTS_MAX)
        return -EAGAIN;
    struct sftp_slot *slots = mem_resize(c->slots, count * sizeof(*slots));
    if (slots == NULL)
        return -ENOMEM;
    memset(slots + c->slot_count, 0, (count - c->slot_count) * sizeof(*slots));
    c->slots = slots;
    c->slot_count = count;
    return 0;
}

int sftp_slot_new(struct sftp_client *c, const struct sftp_slot *slot, uint32_t *ret_id)
{
    if (c->slots_used == c->slot_count) {
        int r = grow_slots(c);
        if (r < 0)
            return r;
    }
    /* mostly the oldest is free, since servers answer in order */
    uint32_t index = ++c->last_generation % c->slot_count;
    while (c->slots[index].waiting != SFTP_SLOT_FREE)
        index = (index + 1) % c->slot_count;
    c->slots[index] = *slot;
    c->slots[index].id = c->last_generation * SFTP_SLOTS_MAX + index;
    c->slots_used++;
    *ret_id = c->slots[index].id;
    return 0;
}

void sftp_slot_drop(struct sftp_client *c, uint32_t id)
{
    struct sftp_slot *slot = &c->slots[id % SFTP_SLOTS_MAX];
    slot->waiting = SFTP_SLOT_FREE;
    slot->call = NULL;
    slot->flow = NULL;
    c->slots_used--;
    event_set(&c->may_send);
}

/* -- sending -- */

int sftp_turn_begin(struct sftp_client *c)
{
    while (c->broken == 0 && (c->is_sending || c->slots_used == SFTP_SLOTS_MAX)) {
        event_clear(&c->may_send);
        int r = event_wait(&c->may_send, USEC_NEVER); /* those who wait for answers end it */
        if (r < 0)
            return r;
    }
    if (c->broken < 0)
        return c->broken;
    c->is_sending = true;
    return 0;
}

void sftp_turn_end(struct sftp_client *c, int result)
{
    c->is_sending = false;
    event_set(&c->may_send);
    if (result < 0)
        sftp_client_break(c, result);
}

static PARKS int send_in_turn(struct sftp_client *c, struct sftp_request *q,
                              struct sftp_call *call, struct wire_writer *w)
{
    const struct sftp_slot slot = {.waiting = SFTP_SLOT_CALL, .call = call};
    int r = sftp_slot_new(c, &slot, &q->id);
    if (r < 0)
        return r;
    sftp_request_write(w, q);
    r = wire_write_end(w);
    if (r < 0) {
        sftp_slot_drop(c, q->id);
        return r;
    }
    r = stream_write_bytes(c->stream, bytes_of(w->data, w->len));
    if (r < 0)
        sftp_client_break(c, r);
    return r;
}

static PARKS int send_request(struct sftp_client *c, struct sftp_request *q,
                              struct sftp_call *call)
{
    size_t max = REQUEST_HEAD + q->path.len + q->to.len + q->handle.len + q->data.len;
    if (max > SFTP_MESSAGE_MAX)
        return -FERRY_ELIMIT;
    struct buf message;
    buf_init(&message, max);
    int r = buf_reserve(&message, max);
    if (r == 0)
        r = sftp_turn_begin(c);
    if (r == 0) {
        struct wire_writer w = wire_writer_of(message.data, max);
        r = send_in_turn(c, q, call, &w);
        sftp_turn_end(c, 0);
    }
    buf_done(&message);
    return r;
}

int sftp_call_send(struct sftp_client *c, struct sftp_request *q, struct sftp_call *call)
{
    *call = (struct sftp_call){0};
    event_init(&call->answered);
    buf_init(&call->message, SFTP_MESSAGE_MAX);
    return send_request(c, q, call);
}

int sftp_tell(struct sftp_client *c, struct sftp_request *q)
{
    return send_request(c, q, NULL);
}

/* -- answers -- */

static int result_of_status(enum sftp_status status)
{
    static const int results[SFTP_STATUS_COUNT] = {
        [SFTP_OK] = 0,
        [SFTP_EOF] = -ENODATA,
        [SFTP_NO_SUCH_FILE] = -ENOENT,
        [SFTP_PERMISSION_DENIED] = -EACCES,
        [SFTP_FAILURE] = -FERRY_EREFUSED,
        [SFTP_BAD_MESSAGE] = -FERRY_EREFUSED,
        [SFTP_NO_CONNECTION] = -FERRY_ECLOSED,
        [SFTP_CONNECTION_LOST] = -FERRY_ECLOSED,
        [SFTP_OP_UNSUPPORTED] = -EOPNOTSUPP,
    };
    return results[status];
}

int sftp_client_result(struct sftp_client *c, const struct sftp_answer *a)
{
    int r = result_of_status(a->status);
    if (r < 0 && r != -ENODATA)
        (void)text_copy_printable(c->why, sizeof(c->why), a->text);
    return r;
}

int sftp_call_wait(struct sftp_client *c, struct sftp_call *call, enum sftp_type type)
{
    int r = call->answered.is_set ? 0 : sftp_client_wait(c, &call->answered);
    if (r == 0 && call->message.len == 0)
        r = c->broken < 0 ? c->broken : call->result;
    if (r < 0)
        return r;
    if (call->answer.type == SFTP_STATUS) {
        r = sftp_client_result(c, &call->answer);
        if (r < 0 || type == SFTP_STATUS)
            return r;
    }
    if (call->answer.type == type)
        return 0;
    sftp_client_break(c, -FERRY_EPROTO);
    return -FERRY_EPROTO;
}

void sftp_call_done(struct sftp_client *c, struct sftp_call *call)
{
    for (unsigned i = 0; i < c->slot_count; i++)
        if (c->slots[i].waiting != SFTP_SLOT_FREE && c->slots[i].call == call)
            c->slots[i].call = NULL;
    buf_done(&call->message);
}

int sftp_ask_status(struct sftp_client *c, struct sftp_request *q)
{
    struct sftp_call call;
    int r = sftp_call_send(c, q, &call);
    if (r == 0)
        r = sftp_call_wait(c, &call, SFTP_STATUS);
    sftp_call_done(c, &call);
    return r;
}

/* -- life -- */

static uint64_t bit(enum sftp_kind kind)
{
    return (uint64_t)1 << kind;
}

static void note_extension(struct sftp_client *c, struct bytes name)
{
    for (unsigned i = 0; i < SFTP_KIND_COUNT; i++) {
        const char *extension = sftp_kind_row((enum sftp_kind)i)->extension;
        if (extension != NULL && bytes_equal(bytes_str(extension), name))
            c->kinds |= bit((enum sftp_kind)i);
    }
}

static int read_version(struct sftp_client *c, struct bytes message)
{
    struct sftp_answer answer;
    struct bytes name, version;
    int r = sftp_answer_parse(message, &answer);
    if (r < 0 || answer.type != SFTP_VERSION_ANSWER || answer.id < SFTP_VERSION)
        return -FERRY_EPROTO;
    for (unsigned i = 0; i < EXTENSIONS && sftp_answer_extension(&answer, &name, &version); i++)
        note_extension(c, name);
    return 0;
}

/* What comes first may be the output of a shell's start: no length is as large as its text. */
static PARKS int receive_version(struct sftp_client *c)
{
    struct bytes head, message;
    int r = stream_wait(c->stream, NULL, clock_after(c->stall_us));
    if (r == 0)
        r = sftp_input_get(&c->input, SFTP_LENGTH_BYTES, &head);
    if (r <= 0)
        return r == 0 ? -FERRY_ECLOSED : r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
    size_t len = wire_u32(head.data);
    if (len > SFTP_MESSAGE_MAX)
        return -FERRY_EPROTO;
    r = sftp_input_get(&c->input, SFTP_LENGTH_BYTES + len, &message);
    if (r <= 0)
        return r == 0 ? -FERRY_ECLOSED : r;
    r = read_version(c, bytes_skip(message, SFTP_LENGTH_BYTES));
    sftp_input_skip(&c->input, SFTP_LENGTH_BYTES + len);
    return r;
}

static PARKS int begin(struct sftp_client *c)
{
    uint8_t init[16];
    struct wire_writer w = wire_writer_of(init, sizeof(init));
    sftp_init_write(&w, SFTP_VERSION);
    int r = stream_write_bytes(c->stream, bytes_of(init, w.len));
    if (r == 0)
        r = receive_version(c);
    if (r == 0)
        r = scope_start(&c->scope, "sftp client", TASK_NORMAL, sftp_reader_main, c, &c->reader);
    return r;
}

/* What one request may be: as told, within reason; 0: nothing was told. */
static uint32_t length_of(uint64_t told)
{
    if (told == 0)
        return SFTP_READ_USUAL;
    if (told < LEN_LEAST)
        return LEN_LEAST;
    return told < SFTP_DATA_MAX ? (uint32_t)told : SFTP_DATA_MAX;
}

static PARKS int ask_for_limits(struct sftp_client *c)
{
    struct sftp_request q = {.kind = SFTP_KIND_LIMITS};
    struct sftp_call call;
    struct sftp_limits limits = {0};
    int r = sftp_call_send(c, &q, &call);
    if (r == 0)
        r = sftp_call_wait(c, &call, SFTP_EXTENDED_REPLY);
    if (r == 0)
        r = sftp_answer_limits(&call.answer, &limits);
    sftp_call_done(c, &call);
    if (r < 0)
        return c->broken;
    c->read_bytes = length_of(limits.read_bytes);
    c->write_bytes = length_of(limits.write_bytes);
    /* a packet holds a head too */
    if (limits.packet_bytes != 0 && limits.packet_bytes < c->write_bytes + LEN_LEAST)
        c->write_bytes = length_of(
            limits.packet_bytes > 2 * LEN_LEAST ? limits.packet_bytes - LEN_LEAST : LEN_LEAST);
    return 0;
}

int sftp_client_new(struct stream *stream, const struct sftp_client_settings *settings,
                    struct sftp_client **ret)
{
    struct sftp_client *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->stream = stream;
    c->stall_us = settings->stall_us != 0 ? settings->stall_us : DEFAULT_STALL_US;
    c->in_flight_max = settings->in_flight_bytes;
    c->read_bytes = c->write_bytes = SFTP_READ_USUAL;
    scope_init(&c->scope);
    event_init(&c->sunk);
    event_init(&c->may_send);
    sftp_input_init(&c->input, stream);
    int r = begin(c);
    if (r == 0 && sftp_client_has(c, SFTP_KIND_LIMITS))
        r = ask_for_limits(c);
    if (r < 0) {
        (void)sftp_client_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct sftp_client *sftp_client_free(struct sftp_client *c)
{
    if (c == NULL)
        return NULL;
    scope_leave(&c->scope);
    sftp_input_done(&c->input);
    mem_free(c->slots);
    mem_free(c);
    return NULL;
}

bool sftp_client_has(const struct sftp_client *c, enum sftp_kind kind)
{
    return sftp_kind_row(kind)->extension == NULL || (c->kinds & bit(kind)) != 0;
}

const char *sftp_client_why(const struct sftp_client *c)
{
    return c->why;
}
