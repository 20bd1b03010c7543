#include "ssh/wire/transport.h"

#define EXTENSION_MAX 4096 /* bytes of an extension's value */

int ssh_service_parse(struct bytes payload, struct bytes *ret_name)
{
    bool is_accept = payload.len > 0 && payload.data[0] == SSH_MSG_SERVICE_ACCEPT;
    struct wire_reader r = ssh_message_reader(payload, is_accept ? SSH_MSG_SERVICE_ACCEPT
                                                                 : SSH_MSG_SERVICE_REQUEST);
    struct bytes name = wire_get_string(&r, SSH_SERVICE_MAX);
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret_name = name;
    return rc;
}

void ssh_service_write(struct wire_writer *w, enum ssh_message message, struct bytes name)
{
    wire_put_u8(w, (uint8_t)message);
    wire_put_string(w, name);
}

int ssh_disconnect_parse(struct bytes payload, uint32_t *ret_reason, struct bytes *ret_text)
{
    bool is_debug = payload.len > 0 && payload.data[0] == SSH_MSG_DEBUG;
    struct wire_reader r =
        ssh_message_reader(payload, is_debug ? SSH_MSG_DEBUG : SSH_MSG_DISCONNECT);
    uint32_t reason = 0;
    if (is_debug)
        wire_get_bool(&r); /* whether to show it always: never */
    else
        reason = wire_get_u32(&r);
    struct bytes text = wire_get_string(&r, SSH_TEXT_MAX);
    wire_get_string(&r, SSH_LANGUAGE_MAX);
    int rc = wire_read_end(&r);
    if (rc < 0)
        return rc;
    *ret_reason = reason;
    *ret_text = text;
    return 0;
}

void ssh_disconnect_write(struct wire_writer *w, enum ssh_disconnect reason, struct bytes text)
{
    wire_put_u8(w, SSH_MSG_DISCONNECT);
    wire_put_u32(w, (uint32_t)reason);
    wire_put_string(w, text);
    wire_put_string(w, BYTES_NONE);
}

int ssh_ext_info_parse(struct bytes payload, struct bytes name, struct bytes *ret_value)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_EXT_INFO);
    struct bytes found = BYTES_NONE;
    uint32_t count = wire_get_u32(&r);
    for (uint32_t i = 0; i < count && !r.has_failed; i++) {
        bool is_it = bytes_equal(wire_get_string(&r, SSH_SERVICE_MAX), name);
        struct bytes value = wire_get_string(&r, EXTENSION_MAX);
        if (is_it && found.len == 0)
            found = value;
    }
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret_value = found;
    return rc;
}

void ssh_ext_info_write(struct wire_writer *w, const struct ssh_extension *extensions,
                        unsigned count)
{
    wire_put_u8(w, SSH_MSG_EXT_INFO);
    wire_put_u32(w, count);
    for (unsigned i = 0; i < count; i++) {
        wire_put_string(w, extensions[i].name);
        wire_put_string(w, extensions[i].value);
    }
}

int ssh_ping_parse(struct bytes payload, struct bytes *ret_data)
{
    bool is_pong = payload.len > 0 && payload.data[0] == SSH_MSG_PONG;
    struct wire_reader r = ssh_message_reader(payload, is_pong ? SSH_MSG_PONG : SSH_MSG_PING);
    struct bytes data = wire_get_string(&r, SSH_PING_MAX);
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret_data = data;
    return rc;
}
