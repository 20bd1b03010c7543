/* Messages of the transport besides those of a key exchange, both ways: DISCONNECT, DEBUG,
 * SERVICE_* (RFC 4253 10, 11), EXT_INFO (RFC 8308), PING. Parsed values point into the payload.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "ssh/wire/message.h"

#define SSH_SERVICE_MAX 64 /* bytes of the name of a service, an extension, a method */

struct wire_writer;

/* SERVICE_REQUEST and SERVICE_ACCEPT: the number, then the name. */
MUST_CHECK int ssh_service_parse(struct bytes payload, struct bytes *ret_name);
void ssh_service_write(struct wire_writer *, enum ssh_message, struct bytes name);

/* DISCONNECT and DEBUG (reason 0): what a peer says; the text is not to be shown as it is. */
MUST_CHECK int ssh_disconnect_parse(struct bytes payload, uint32_t *ret_reason,
                                    struct bytes *ret_text);
void ssh_disconnect_write(struct wire_writer *, enum ssh_disconnect, struct bytes text);

/* EXT_INFO (RFC 8308): the value of one extension by name, the first; empty: not there. */
MUST_CHECK int ssh_ext_info_parse(struct bytes payload, struct bytes name,
                                  struct bytes *ret_value);

struct ssh_extension {
    struct bytes name, value;
};

void ssh_ext_info_write(struct wire_writer *, const struct ssh_extension *, unsigned count);

/* PING and PONG (ping@openssh.com): a string that comes back. */
#define SSH_PING_MAX 1024
MUST_CHECK int ssh_ping_parse(struct bytes payload, struct bytes *ret_data);
