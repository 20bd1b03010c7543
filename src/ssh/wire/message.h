/* Numbers of the protocol: messages (RFC 4250 4.1.2, RFC 8308), why a connection ends (RFC 4250
 * 4.2.2), why a channel is refused (4.3). */
#pragma once
#include <stdint.h>

#include "base/wire.h"

enum ssh_message {
    SSH_MSG_DISCONNECT = 1,
    SSH_MSG_IGNORE = 2,
    SSH_MSG_UNIMPLEMENTED = 3,
    SSH_MSG_DEBUG = 4,
    SSH_MSG_SERVICE_REQUEST = 5,
    SSH_MSG_SERVICE_ACCEPT = 6,
    SSH_MSG_EXT_INFO = 7,
    SSH_MSG_KEXINIT = 20,
    SSH_MSG_NEWKEYS = 21,
    SSH_MSG_KEXDH_INIT = 30,  /* KEXDH_INIT (RFC 4253 8), KEX_ECDH_INIT (RFC 5656, 8731) */
    SSH_MSG_KEXDH_REPLY = 31, /* KEXDH_REPLY, KEX_ECDH_REPLY */
    SSH_MSG_USERAUTH_REQUEST = 50,
    SSH_MSG_USERAUTH_FAILURE = 51,
    SSH_MSG_USERAUTH_SUCCESS = 52,
    SSH_MSG_USERAUTH_BANNER = 53,
    SSH_MSG_USERAUTH_PK_OK = 60,            /* for publickey */
    SSH_MSG_USERAUTH_PASSWD_CHANGEREQ = 60, /* for password */
    SSH_MSG_GLOBAL_REQUEST = 80,
    SSH_MSG_REQUEST_SUCCESS = 81,
    SSH_MSG_REQUEST_FAILURE = 82,
    SSH_MSG_CHANNEL_OPEN = 90,
    SSH_MSG_CHANNEL_OPEN_CONFIRMATION = 91,
    SSH_MSG_CHANNEL_OPEN_FAILURE = 92,
    SSH_MSG_CHANNEL_WINDOW_ADJUST = 93,
    SSH_MSG_CHANNEL_DATA = 94,
    SSH_MSG_CHANNEL_EXTENDED_DATA = 95,
    SSH_MSG_CHANNEL_EOF = 96,
    SSH_MSG_CHANNEL_CLOSE = 97,
    SSH_MSG_CHANNEL_REQUEST = 98,
    SSH_MSG_CHANNEL_SUCCESS = 99,
    SSH_MSG_CHANNEL_FAILURE = 100,
    SSH_MSG_PING = 192, /* ping@openssh.com */
    SSH_MSG_PONG = 193
};

enum ssh_disconnect {
    SSH_DISCONNECT_NOT_ALLOWED = 1,
    SSH_DISCONNECT_PROTOCOL_ERROR = 2,
    SSH_DISCONNECT_KEY_EXCHANGE_FAILED = 3,
    SSH_DISCONNECT_MAC_ERROR = 5,
    SSH_DISCONNECT_COMPRESSION_ERROR = 6,
    SSH_DISCONNECT_SERVICE_NOT_AVAILABLE = 7,
    SSH_DISCONNECT_HOST_KEY_NOT_VERIFIABLE = 9,
    SSH_DISCONNECT_CONNECTION_LOST = 10,
    SSH_DISCONNECT_BY_APPLICATION = 11,
    SSH_DISCONNECT_TOO_MANY_CONNECTIONS = 12,
    SSH_DISCONNECT_AUTH_CANCELLED_BY_USER = 13,
    SSH_DISCONNECT_NO_MORE_AUTH_METHODS = 14
};

enum ssh_open_failure {
    SSH_OPEN_ADMINISTRATIVELY_PROHIBITED = 1,
    SSH_OPEN_CONNECT_FAILED = 2,
    SSH_OPEN_UNKNOWN_CHANNEL_TYPE = 3,
    SSH_OPEN_RESOURCE_SHORTAGE = 4
};

/* What a peer sends for people to read: a text and the tag of its language. */
#define SSH_TEXT_MAX     (32 * 1024)
#define SSH_LANGUAGE_MAX 64

enum ssh_role { SSH_CLIENT, SSH_SERVER, SSH_ROLE_COUNT };

/* "KEXINIT"; "?" for a number without a name. For logs. */
const char *ssh_message_name(uint8_t message);

/* What stands behind a payload's number. One of another number reads as nothing and fails in
 * the end: who dispatches has looked, but none is ever taken for another. */
struct wire_reader ssh_message_reader(struct bytes payload, enum ssh_message);
