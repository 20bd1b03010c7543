#include "ssh/wire/channel.h"

#include <assert.h>

#include "base/err.h"
#include "base/wire.h"

/* -- opening -- */

int ssh_channel_open_parse(struct bytes payload, struct ssh_channel_open *ret)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_CHANNEL_OPEN);
    struct ssh_channel_open o = {.type = wire_get_string(&r, SSH_CHANNEL_TYPE_MAX)};
    o.sender = wire_get_u32(&r);
    o.window = wire_get_u32(&r);
    o.packet_max = wire_get_u32(&r);
    o.rest = wire_get_rest(&r);
    int rc = wire_read_end(&r);
    if (rc < 0 || o.packet_max == 0)
        return -FERRY_EPROTO;
    *ret = o;
    return 0;
}

void ssh_channel_open_write(struct wire_writer *w, const struct ssh_channel_open *o)
{
    wire_put_u8(w, SSH_MSG_CHANNEL_OPEN);
    wire_put_string(w, o->type);
    wire_put_u32(w, o->sender);
    wire_put_u32(w, o->window);
    wire_put_u32(w, o->packet_max);
    wire_put_bytes(w, o->rest);
}

/* What stands behind the numbers is the type's own, and a session has nothing there. */
int ssh_channel_confirmation_parse(struct bytes payload, struct ssh_channel_confirmation *ret)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_CHANNEL_OPEN_CONFIRMATION);
    struct ssh_channel_confirmation c = {.recipient = wire_get_u32(&r)};
    c.sender = wire_get_u32(&r);
    c.window = wire_get_u32(&r);
    c.packet_max = wire_get_u32(&r);
    int rc = wire_read_end(&r);
    if (rc < 0 || c.packet_max == 0)
        return -FERRY_EPROTO;
    *ret = c;
    return 0;
}

void ssh_channel_confirmation_write(struct wire_writer *w,
                                    const struct ssh_channel_confirmation *c)
{
    wire_put_u8(w, SSH_MSG_CHANNEL_OPEN_CONFIRMATION);
    wire_put_u32(w, c->recipient);
    wire_put_u32(w, c->sender);
    wire_put_u32(w, c->window);
    wire_put_u32(w, c->packet_max);
}

int ssh_channel_open_failure_parse(struct bytes payload, uint32_t *ret_recipient,
                                   uint32_t *ret_reason, struct bytes *ret_text)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_CHANNEL_OPEN_FAILURE);
    uint32_t recipient = wire_get_u32(&r), reason = wire_get_u32(&r);
    struct bytes text = wire_get_string(&r, SSH_TEXT_MAX);
    wire_get_string(&r, SSH_LANGUAGE_MAX);
    int rc = wire_read_end(&r);
    if (rc < 0)
        return rc;
    *ret_recipient = recipient;
    *ret_reason = reason;
    *ret_text = text;
    return 0;
}

void ssh_channel_open_failure_write(struct wire_writer *w, uint32_t recipient,
                                    enum ssh_open_failure reason, struct bytes text)
{
    wire_put_u8(w, SSH_MSG_CHANNEL_OPEN_FAILURE);
    wire_put_u32(w, recipient);
    wire_put_u32(w, (uint32_t)reason);
    wire_put_string(w, text);
    wire_put_string(w, BYTES_NONE);
}

/* -- data and windows -- */

int ssh_channel_data_parse(struct bytes payload, struct ssh_channel_data *ret)
{
    bool is_data = payload.len > 0 && payload.data[0] == SSH_MSG_CHANNEL_DATA;
    struct wire_reader r = ssh_message_reader(payload, is_data ? SSH_MSG_CHANNEL_DATA
                                                               : SSH_MSG_CHANNEL_EXTENDED_DATA);
    struct ssh_channel_data d = {.recipient = wire_get_u32(&r)};
    if (!is_data)
        d.code = wire_get_u32(&r);
    d.data = wire_get_string(&r, payload.len);
    int rc = wire_read_end(&r);
    if (rc < 0 || (!is_data && d.code == 0)) /* 0 would be taken for DATA */
        return -FERRY_EPROTO;
    *ret = d;
    return 0;
}

void ssh_channel_data_head(uint8_t dst[SSH_DATA_HEAD], uint32_t recipient, uint32_t len)
{
    dst[0] = SSH_MSG_CHANNEL_DATA;
    wire_set_u32(dst + 1, recipient);
    wire_set_u32(dst + 5, len);
}

int ssh_channel_adjust_parse(struct bytes payload, uint32_t *ret_recipient, uint32_t *ret_bytes)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_CHANNEL_WINDOW_ADJUST);
    uint32_t recipient = wire_get_u32(&r), bytes = wire_get_u32(&r);
    int rc = wire_read_end(&r);
    if (rc < 0)
        return rc;
    *ret_recipient = recipient;
    *ret_bytes = bytes;
    return 0;
}

void ssh_channel_adjust_write(struct wire_writer *w, uint32_t recipient, uint32_t bytes)
{
    wire_put_u8(w, SSH_MSG_CHANNEL_WINDOW_ADJUST);
    wire_put_u32(w, recipient);
    wire_put_u32(w, bytes);
}

static bool is_plain(uint8_t message)
{
    return message == SSH_MSG_CHANNEL_EOF || message == SSH_MSG_CHANNEL_CLOSE ||
           message == SSH_MSG_CHANNEL_SUCCESS || message == SSH_MSG_CHANNEL_FAILURE;
}

int ssh_channel_plain_parse(struct bytes payload, uint32_t *ret_recipient)
{
    struct wire_reader r = wire_reader_of(payload);
    bool is_known = is_plain(wire_get_u8(&r));
    uint32_t recipient = wire_get_u32(&r);
    int rc = wire_read_end(&r);
    if (rc < 0 || !is_known)
        return -FERRY_EPROTO;
    *ret_recipient = recipient;
    return 0;
}

void ssh_channel_plain_write(struct wire_writer *w, enum ssh_message message,
                             uint32_t recipient)
{
    assert(is_plain((uint8_t)message));
    wire_put_u8(w, (uint8_t)message);
    wire_put_u32(w, recipient);
}

/* -- requests -- */

/* A type's fields, a letter each:
 *     T  a string, kept as text      s  a string, passed over
 *     N  a number, kept              n  a number, passed over
 *     b  a boolean, passed over      *  whatever is left, passed over
 * What is passed over is written as nothing and 0. */
static const struct request_row {
    struct bytes type;
    const char *fields;
} request_rows[] = {
    [SSH_REQUEST_EXEC] = {BYTES_LIT("exec"), "T"},
    [SSH_REQUEST_SUBSYSTEM] = {BYTES_LIT("subsystem"), "T"},
    [SSH_REQUEST_SHELL] = {BYTES_LIT("shell"), ""},
    [SSH_REQUEST_PTY] = {BYTES_LIT("pty-req"), "snnnns"},
    [SSH_REQUEST_ENV] = {BYTES_LIT("env"), "Ts"},
    [SSH_REQUEST_WINDOW_CHANGE] = {BYTES_LIT("window-change"), "nnnn"},
    [SSH_REQUEST_SIGNAL] = {BYTES_LIT("signal"), "T"},
    [SSH_REQUEST_EXIT_STATUS] = {BYTES_LIT("exit-status"), "N"},
    [SSH_REQUEST_EXIT_SIGNAL] = {BYTES_LIT("exit-signal"), "Tbss"},
    [SSH_REQUEST_KEEPALIVE] = {BYTES_LIT("keepalive@openssh.com"), "*"},
    [SSH_REQUEST_OTHER] = {{NULL, 0}, "*"},
};

static enum ssh_request_kind request_kind(struct bytes type)
{
    enum ssh_request_kind kind = 0;
    while (kind < SSH_REQUEST_OTHER && !bytes_equal(request_rows[kind].type, type))
        kind++;
    return kind;
}

static void parse_field(struct wire_reader *r, char field, struct ssh_channel_request *q)
{
    switch (field) {
    case 'T':
        q->text = wire_get_string(r, SSH_COMMAND_MAX);
        break;
    case 's':
        wire_get_string(r, SSH_COMMAND_MAX);
        break;
    case 'N':
        q->number = wire_get_u32(r);
        break;
    case 'n':
        wire_get_u32(r);
        break;
    case 'b':
        wire_get_bool(r);
        break;
    default:
        wire_get_rest(r);
        break;
    }
}

int ssh_channel_request_parse(struct bytes payload, struct ssh_channel_request *ret)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_CHANNEL_REQUEST);
    struct ssh_channel_request q = {.recipient = wire_get_u32(&r)};
    q.type = wire_get_string(&r, SSH_REQUEST_TYPE_MAX);
    q.wants_reply = wire_get_bool(&r);
    q.kind = request_kind(q.type);
    for (const char *field = request_rows[q.kind].fields; *field != '\0'; field++)
        parse_field(&r, *field, &q);
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret = q;
    return rc;
}

static void write_field(struct wire_writer *w, char field, const struct ssh_channel_request *q)
{
    switch (field) {
    case 'T':
        wire_put_string(w, q->text);
        break;
    case 's':
        wire_put_string(w, BYTES_NONE);
        break;
    case 'N':
        wire_put_u32(w, q->number);
        break;
    case 'n':
        wire_put_u32(w, 0);
        break;
    case 'b':
        wire_put_bool(w, false);
        break;
    default:
        break;
    }
}

void ssh_channel_request_write(struct wire_writer *w, const struct ssh_channel_request *q)
{
    const struct request_row *row = &request_rows[q->kind];
    wire_put_u8(w, SSH_MSG_CHANNEL_REQUEST);
    wire_put_u32(w, q->recipient);
    wire_put_string(w, q->kind == SSH_REQUEST_OTHER ? q->type : row->type);
    wire_put_bool(w, q->wants_reply);
    for (const char *field = row->fields; *field != '\0'; field++)
        write_field(w, *field, q);
}

int ssh_global_request_parse(struct bytes payload, struct bytes *ret_type,
                             bool *ret_wants_reply)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_GLOBAL_REQUEST);
    struct bytes type = wire_get_string(&r, SSH_REQUEST_TYPE_MAX);
    bool wants_reply = wire_get_bool(&r);
    wire_get_rest(&r); /* the type's own */
    int rc = wire_read_end(&r);
    if (rc < 0)
        return rc;
    *ret_type = type;
    *ret_wants_reply = wants_reply;
    return 0;
}

void ssh_global_request_write(struct wire_writer *w, struct bytes type, bool wants_reply)
{
    wire_put_u8(w, SSH_MSG_GLOBAL_REQUEST);
    wire_put_string(w, type);
    wire_put_bool(w, wants_reply);
}
