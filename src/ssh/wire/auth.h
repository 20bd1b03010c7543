/* Authentication messages (RFC 4252), both ways. Parsed values point into the payload. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "ssh/wire/message.h"

#define SSH_KEY_BLOB_MAX       4096 /* bytes of a public key */
#define SSH_SIGNATURE_BLOB_MAX 2048
#define SSH_METHODS_MAX        512 /* bytes of a list of methods */

enum ssh_auth_method {
    SSH_AUTH_NONE,
    SSH_AUTH_PASSWORD,
    SSH_AUTH_PUBLICKEY,
    SSH_AUTH_OTHER /* of no use here: answered with a failure */
};

struct ssh_auth_request {
    struct bytes user, service;
    enum ssh_auth_method method;
    struct bytes password;
    bool wants_password_change;
    bool has_signature;           /* publickey: else it only asks whether the key would do */
    struct bytes algorithm, blob; /* publickey */
    struct bytes signature;       /* the blob: algorithm, then the signature */
};

MUST_CHECK int ssh_auth_request_parse(struct bytes payload, struct ssh_auth_request *ret);
struct wire_writer;
void ssh_auth_request_write(struct wire_writer *, const struct ssh_auth_request *);
/* What a publickey signature is made over (RFC 4252 7). */
void ssh_auth_signed_write(struct wire_writer *, struct bytes session_id,
                           const struct ssh_auth_request *);

struct ssh_auth_failure {
    struct bytes methods; /* that may go on, between commas */
    bool partial_success;
};

MUST_CHECK int ssh_auth_failure_parse(struct bytes payload, struct ssh_auth_failure *ret);
void ssh_auth_failure_write(struct wire_writer *, struct bytes methods, bool partial_success);
MUST_CHECK int ssh_auth_pk_ok_parse(struct bytes payload, struct bytes *ret_algorithm,
                                    struct bytes *ret_blob);
void ssh_auth_pk_ok_write(struct wire_writer *, struct bytes algorithm, struct bytes blob);
MUST_CHECK int ssh_auth_banner_parse(struct bytes payload, struct bytes *ret_text);
