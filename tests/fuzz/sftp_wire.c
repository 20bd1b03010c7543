/* layers: sftp_wire */
/* SFTP messages in both roles: what is read lies in its message and, written again, reads the
 * same. */
#include "../sftp_attributes.h"
#include "base/err.h"
#include "invariant.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t message[1024 * 1024];

static bool is_inside(struct bytes part, struct bytes whole)
{
    return part.len == 0 ||
           (part.data > whole.data && part.data + part.len <= whole.data + whole.len);
}

static bool are_same(const struct sftp_request *a, const struct sftp_request *b)
{
    return a->kind == b->kind && a->id == b->id && bytes_equal(a->path, b->path) &&
           bytes_equal(a->to, b->to) && bytes_equal(a->handle, b->handle) &&
           bytes_equal(a->to_handle, b->to_handle) && a->offset == b->offset &&
           a->to_offset == b->to_offset && a->len == b->len && a->flags == b->flags &&
           sftp_attributes_equal(&a->attributes, &b->attributes) &&
           bytes_equal(a->data, b->data);
}

static void check_request(struct bytes whole)
{
    struct sftp_request q, again;
    if (sftp_request_parse(whole, &q) < 0 || q.kind == SFTP_KIND_UNKNOWN)
        return;
    INVARIANT(is_inside(q.path, whole) && is_inside(q.to, whole) && is_inside(q.data, whole));
    INVARIANT(is_inside(q.handle, whole) && is_inside(q.to_handle, whole));
    INVARIANT(q.handle.len <= SFTP_HANDLE_MAX && q.to_handle.len <= SFTP_HANDLE_MAX);
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    sftp_request_write(&w, &q);
    INVARIANT(wire_write_end(&w) == 0 && wire_u32(message) == w.len - SFTP_LENGTH_BYTES);
    struct bytes written = bytes_skip(bytes_of(message, w.len), SFTP_LENGTH_BYTES);
    INVARIANT(written.len <= whole.len);
    INVARIANT(sftp_request_parse(written, &again) == 0 && are_same(&q, &again));
}

static void check_write_head(struct bytes whole)
{
    struct sftp_request q;
    if (whole.len < SFTP_WRITE_HEAD || !sftp_write_head_parse(whole.data, &q))
        return;
    INVARIANT(q.len + SFTP_WRITE_HEAD - SFTP_LENGTH_BYTES <= SFTP_MESSAGE_MAX);
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    sftp_write_head(&w, q.id, q.handle, q.offset, (uint32_t)q.len);
    INVARIANT(bytes_equal(bytes_of(message, w.len), bytes_first(whole, SFTP_WRITE_HEAD)));
}

static void check_answer(struct bytes whole)
{
    struct sftp_answer a;
    if (sftp_answer_parse(whole, &a) < 0)
        return;
    INVARIANT(is_inside(a.text, whole) && is_inside(a.handle, whole) &&
              is_inside(a.data, whole));
    INVARIANT(a.status < SFTP_STATUS_COUNT);
    struct bytes name, other;
    struct sftp_attributes attributes;
    size_t left = a.rest.left;
    while (sftp_answer_name(&a, &name, &other, &attributes) ||
           sftp_answer_extension(&a, &name, &other)) {
        INVARIANT(is_inside(name, whole) && is_inside(other, whole));
        INVARIANT(a.rest.left < left);
        left = a.rest.left;
    }
    struct sftp_space space;
    struct sftp_limits limits;
    struct sftp_answer copy = a;
    if (sftp_answer_limits(&copy, &limits) == 0)
        INVARIANT(a.rest.left >= 32);
    if (sftp_answer_space(&a, &space) == 0)
        INVARIANT(whole.len >= 5 + 88);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes whole = bytes_of(data, len);
    uint32_t version;
    if (sftp_init_parse(whole, &version) == 0)
        INVARIANT(whole.len >= 5);
    check_request(whole);
    check_write_head(whole);
    check_answer(whole);
    return 0;
}
