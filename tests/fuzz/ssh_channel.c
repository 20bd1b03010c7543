/* layers: ssh_wire */
/* Channel and global messages: what is read is written the same, and nothing that is given out
 * lies outside its message. */
#include "base/wire.h"
#include "invariant.h"
#include "ssh/wire/channel.h"
#include "ssh/wire/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t message[256 * 1024];

static struct wire_writer begin(void)
{
    return wire_writer_of(message, sizeof(message));
}

static bool is_written(const struct wire_writer *w, struct bytes payload)
{
    return wire_write_end(w) == 0 && bytes_equal(bytes_of(message, w->len), payload);
}

static bool is_inside(struct bytes part, struct bytes payload)
{
    return part.len == 0 ||
           (part.data > payload.data && part.data + part.len <= payload.data + payload.len);
}

static void check_opening(struct bytes payload)
{
    struct ssh_channel_open o;
    struct ssh_channel_confirmation c;
    uint32_t recipient, reason;
    struct bytes text;
    struct wire_writer w = begin();
    if (ssh_channel_open_parse(payload, &o) == 0) {
        ssh_channel_open_write(&w, &o);
        INVARIANT(is_written(&w, payload) && o.packet_max > 0);
    }
    if (ssh_channel_confirmation_parse(payload, &c) == 0) {
        ssh_channel_confirmation_write(&w, &c);
        INVARIANT(is_written(&w, payload) && c.packet_max > 0);
    }
    if (ssh_channel_open_failure_parse(payload, &recipient, &reason, &text) == 0)
        INVARIANT(is_inside(text, payload) && text.len <= SSH_TEXT_MAX);
}

static void check_data(struct bytes payload)
{
    struct ssh_channel_data d;
    uint32_t recipient, bytes;
    struct wire_writer w = begin();
    if (ssh_channel_data_parse(payload, &d) == 0) {
        INVARIANT(is_inside(d.data, payload));
        INVARIANT((d.code == 0) == (payload.data[0] == SSH_MSG_CHANNEL_DATA));
        uint8_t head[SSH_DATA_HEAD];
        ssh_channel_data_head(head, d.recipient, (uint32_t)d.data.len);
        if (d.code == 0)
            INVARIANT(memcmp(head, payload.data, sizeof(head)) == 0);
    }
    if (ssh_channel_adjust_parse(payload, &recipient, &bytes) == 0) {
        ssh_channel_adjust_write(&w, recipient, bytes);
        INVARIANT(is_written(&w, payload));
    }
    if (ssh_channel_plain_parse(payload, &recipient) == 0) {
        ssh_channel_plain_write(&w, payload.data[0], recipient);
        INVARIANT(is_written(&w, payload));
    }
}

static void check_requests(struct bytes payload)
{
    struct ssh_channel_request q, again;
    struct bytes text;
    bool wants_reply;
    if (ssh_channel_request_parse(payload, &q) == 0) {
        INVARIANT(is_inside(q.type, payload) && is_inside(q.text, payload));
        struct wire_writer w = begin();
        ssh_channel_request_write(&w, &q);
        INVARIANT(wire_write_end(&w) == 0);
        INVARIANT(ssh_channel_request_parse(bytes_of(message, w.len), &again) == 0);
        INVARIANT(again.recipient == q.recipient && again.kind == q.kind);
        INVARIANT(again.wants_reply == q.wants_reply && again.number == q.number);
        INVARIANT(bytes_equal(again.type, q.type) && bytes_equal(again.text, q.text));
    }
    if (ssh_global_request_parse(payload, &text, &wants_reply) == 0)
        INVARIANT(is_inside(text, payload) && text.len <= SSH_REQUEST_TYPE_MAX);
    if (ssh_ping_parse(payload, &text) == 0)
        INVARIANT(is_inside(text, payload) && text.len <= SSH_PING_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes payload = bytes_of(data, len);
    if (len > sizeof(message))
        return 0;
    check_opening(payload);
    check_data(payload);
    check_requests(payload);
    return 0;
}
