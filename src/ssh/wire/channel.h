/* Channel and global messages (RFC 4254), both ways. Parsed values point into the payload. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "ssh/wire/message.h"

#define SSH_CHANNEL_TYPE_MAX 64
#define SSH_REQUEST_TYPE_MAX 64
#define SSH_COMMAND_MAX      (64 * 1024) /* bytes of an exec command */

/* CHANNEL_DATA's bytes before its data: message, recipient, length. */
#define SSH_DATA_HEAD 9

struct ssh_channel_open {
    struct bytes type;
    uint32_t sender, window, packet_max; /* read: the latter is never 0 */
    struct bytes rest;                   /* of the type's own */
};

MUST_CHECK int ssh_channel_open_parse(struct bytes payload, struct ssh_channel_open *ret);
struct wire_writer;
void ssh_channel_open_write(struct wire_writer *, const struct ssh_channel_open *);

struct ssh_channel_confirmation {
    uint32_t recipient, sender, window, packet_max;
};

MUST_CHECK int ssh_channel_confirmation_parse(struct bytes payload,
                                              struct ssh_channel_confirmation *ret);
void ssh_channel_confirmation_write(struct wire_writer *,
                                    const struct ssh_channel_confirmation *);

MUST_CHECK int ssh_channel_open_failure_parse(struct bytes payload, uint32_t *ret_recipient,
                                              uint32_t *ret_reason, struct bytes *ret_text);
void ssh_channel_open_failure_write(struct wire_writer *, uint32_t recipient,
                                    enum ssh_open_failure, struct bytes text);

/* DATA and EXTENDED_DATA. code: 0, or the type of extended data, which is never 0. */
struct ssh_channel_data {
    uint32_t recipient, code;
    struct bytes data;
};

MUST_CHECK int ssh_channel_data_parse(struct bytes payload, struct ssh_channel_data *ret);
/* The head of DATA alone: SSH_DATA_HEAD bytes that stand before len bytes of data. */
void ssh_channel_data_head(uint8_t dst[SSH_DATA_HEAD], uint32_t recipient, uint32_t len);

MUST_CHECK int ssh_channel_adjust_parse(struct bytes payload, uint32_t *ret_recipient,
                                        uint32_t *ret_bytes);
void ssh_channel_adjust_write(struct wire_writer *, uint32_t recipient, uint32_t bytes);

/* EOF, CLOSE, SUCCESS, FAILURE: a recipient and nothing else. */
MUST_CHECK int ssh_channel_plain_parse(struct bytes payload, uint32_t *ret_recipient);
void ssh_channel_plain_write(struct wire_writer *, enum ssh_message, uint32_t recipient);

enum ssh_request_kind {
    SSH_REQUEST_EXEC,      /* text: the command */
    SSH_REQUEST_SUBSYSTEM, /* text: its name */
    SSH_REQUEST_SHELL,
    SSH_REQUEST_PTY,
    SSH_REQUEST_ENV, /* text: the variable's name */
    SSH_REQUEST_WINDOW_CHANGE,
    SSH_REQUEST_SIGNAL,      /* text: the signal without "SIG" */
    SSH_REQUEST_EXIT_STATUS, /* number */
    SSH_REQUEST_EXIT_SIGNAL, /* text */
    SSH_REQUEST_KEEPALIVE,   /* keepalive@openssh.com */
    SSH_REQUEST_OTHER
};

struct ssh_channel_request {
    uint32_t recipient;
    enum ssh_request_kind kind;
    struct bytes type;
    bool wants_reply;
    struct bytes text;
    uint32_t number;
};

MUST_CHECK int ssh_channel_request_parse(struct bytes payload, struct ssh_channel_request *ret);
/* Of its type's fields those that are kept; others as nothing and 0. The type is that of kind,
 * but for SSH_REQUEST_OTHER. */
void ssh_channel_request_write(struct wire_writer *, const struct ssh_channel_request *);

/* GLOBAL_REQUEST. */
MUST_CHECK int ssh_global_request_parse(struct bytes payload, struct bytes *ret_type,
                                        bool *ret_wants_reply);
void ssh_global_request_write(struct wire_writer *, struct bytes type, bool wants_reply);
