#include "ssh/wire/message.h"

const char *ssh_message_name(uint8_t message)
{
    static const char *const names[UINT8_MAX + 1] = {
        [SSH_MSG_DISCONNECT] = "DISCONNECT",
        [SSH_MSG_IGNORE] = "IGNORE",
        [SSH_MSG_UNIMPLEMENTED] = "UNIMPLEMENTED",
        [SSH_MSG_DEBUG] = "DEBUG",
        [SSH_MSG_SERVICE_REQUEST] = "SERVICE_REQUEST",
        [SSH_MSG_SERVICE_ACCEPT] = "SERVICE_ACCEPT",
        [SSH_MSG_EXT_INFO] = "EXT_INFO",
        [SSH_MSG_KEXINIT] = "KEXINIT",
        [SSH_MSG_NEWKEYS] = "NEWKEYS",
        [SSH_MSG_KEXDH_INIT] = "KEXDH_INIT",
        [SSH_MSG_KEXDH_REPLY] = "KEXDH_REPLY",
        [SSH_MSG_USERAUTH_REQUEST] = "USERAUTH_REQUEST",
        [SSH_MSG_USERAUTH_FAILURE] = "USERAUTH_FAILURE",
        [SSH_MSG_USERAUTH_SUCCESS] = "USERAUTH_SUCCESS",
        [SSH_MSG_USERAUTH_BANNER] = "USERAUTH_BANNER",
        [SSH_MSG_USERAUTH_PK_OK] = "USERAUTH_PK_OK",
        [SSH_MSG_GLOBAL_REQUEST] = "GLOBAL_REQUEST",
        [SSH_MSG_REQUEST_SUCCESS] = "REQUEST_SUCCESS",
        [SSH_MSG_REQUEST_FAILURE] = "REQUEST_FAILURE",
        [SSH_MSG_CHANNEL_OPEN] = "CHANNEL_OPEN",
        [SSH_MSG_CHANNEL_OPEN_CONFIRMATION] = "CHANNEL_OPEN_CONFIRMATION",
        [SSH_MSG_CHANNEL_OPEN_FAILURE] = "CHANNEL_OPEN_FAILURE",
        [SSH_MSG_CHANNEL_WINDOW_ADJUST] = "CHANNEL_WINDOW_ADJUST",
        [SSH_MSG_CHANNEL_DATA] = "CHANNEL_DATA",
        [SSH_MSG_CHANNEL_EXTENDED_DATA] = "CHANNEL_EXTENDED_DATA",
        [SSH_MSG_CHANNEL_EOF] = "CHANNEL_EOF",
        [SSH_MSG_CHANNEL_CLOSE] = "CHANNEL_CLOSE",
        [SSH_MSG_CHANNEL_REQUEST] = "CHANNEL_REQUEST",
        [SSH_MSG_CHANNEL_SUCCESS] = "CHANNEL_SUCCESS",
        [SSH_MSG_CHANNEL_FAILURE] = "CHANNEL_FAILURE",
        [SSH_MSG_PING] = "PING",
        [SSH_MSG_PONG] = "PONG",
    };
    return names[message] != NULL ? names[message] : "?";
}

struct wire_reader ssh_message_reader(struct bytes payload, enum ssh_message message)
{
    struct wire_reader r = wire_reader_of(payload);
    if (wire_get_u8(&r) != message)
        r = (struct wire_reader){.has_failed = true};
    return r;
}
