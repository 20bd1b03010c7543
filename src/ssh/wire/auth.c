#include "ssh/wire/auth.h"

#include <assert.h>

#include "base/err.h"
#include "base/wire.h"
#include "ssh/wire/transport.h"

/* -- requests -- */

static void parse_none(struct wire_reader *r, struct ssh_auth_request *q)
{
    (void)r;
    (void)q;
}

static void parse_password(struct wire_reader *r, struct ssh_auth_request *q)
{
    q->wants_password_change = wire_get_bool(r);
    q->password = wire_get_string(r, PASSWORD_MAX);
    if (q->wants_password_change)
        wire_get_string(r, PASSWORD_MAX); /* the new one: nobody changes it here */
}

static void parse_publickey(struct wire_reader *r, struct ssh_auth_request *q)
{
    q->has_signature = wire_get_bool(r);
    q->algorithm = wire_get_string(r, SSH_SERVICE_MAX);
    q->blob = wire_get_string(r, SSH_KEY_BLOB_MAX);
    if (q->has_signature)
        q->signature = wire_get_string(r, SSH_SIGNATURE_BLOB_MAX);
}

static void write_none(struct wire_writer *w, const struct ssh_auth_request *q)
{
    (void)w;
    (void)q;
}

static void write_password(struct wire_writer *w, const struct ssh_auth_request *q)
{
    wire_put_bool(w, false);
    wire_put_string(w, q->password);
}

static void write_publickey(struct wire_writer *w, const struct ssh_auth_request *q)
{
    wire_put_bool(w, q->has_signature);
    wire_put_string(w, q->algorithm);
    wire_put_string(w, q->blob);
    if (q->has_signature)
        wire_put_string(w, q->signature);
}

static const struct {
    struct bytes name;
    void (*parse)(struct wire_reader *, struct ssh_auth_request *);
    void (*write)(struct wire_writer *, const struct ssh_auth_request *);
} method_rows[SSH_AUTH_OTHER] = {
    [SSH_AUTH_NONE] = {BYTES_LIT("none"), parse_none, write_none},
    [SSH_AUTH_PASSWORD] = {BYTES_LIT("password"), parse_password, write_password},
    [SSH_AUTH_PUBLICKEY] = {BYTES_LIT("publickey"), parse_publickey, write_publickey},
};

static enum ssh_auth_method method_of(struct bytes name)
{
    enum ssh_auth_method m = 0;
    while (m < SSH_AUTH_OTHER && !bytes_equal(method_rows[m].name, name))
        m++;
    return m;
}

int ssh_auth_request_parse(struct bytes payload, struct ssh_auth_request *ret)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_USERAUTH_REQUEST);
    struct ssh_auth_request q = {
        .user = wire_get_string(&r, USER_NAME_MAX),
        .service = wire_get_string(&r, SSH_SERVICE_MAX),
    };
    q.method = method_of(wire_get_string(&r, SSH_SERVICE_MAX));
    if (q.method == SSH_AUTH_OTHER)
        wire_get_rest(&r);
    else
        method_rows[q.method].parse(&r, &q);
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret = q;
    return rc;
}

static void write_request(struct wire_writer *w, const struct ssh_auth_request *q)
{
    assert(q->method < SSH_AUTH_OTHER);
    wire_put_u8(w, SSH_MSG_USERAUTH_REQUEST);
    wire_put_string(w, q->user);
    wire_put_string(w, q->service);
    wire_put_string(w, method_rows[q->method].name);
}

void ssh_auth_request_write(struct wire_writer *w, const struct ssh_auth_request *q)
{
    write_request(w, q);
    method_rows[q->method].write(w, q);
}

void ssh_auth_signed_write(struct wire_writer *w, struct bytes session_id,
                           const struct ssh_auth_request *q)
{
    assert(q->method == SSH_AUTH_PUBLICKEY);
    wire_put_string(w, session_id);
    write_request(w, q);
    wire_put_bool(w, true);
    wire_put_string(w, q->algorithm);
    wire_put_string(w, q->blob);
}

/* -- answers -- */

int ssh_auth_failure_parse(struct bytes payload, struct ssh_auth_failure *ret)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_USERAUTH_FAILURE);
    struct ssh_auth_failure f = {.methods = wire_get_string(&r, SSH_METHODS_MAX)};
    f.partial_success = wire_get_bool(&r);
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret = f;
    return rc;
}

void ssh_auth_failure_write(struct wire_writer *w, struct bytes methods, bool partial_success)
{
    wire_put_u8(w, SSH_MSG_USERAUTH_FAILURE);
    wire_put_string(w, methods);
    wire_put_bool(w, partial_success);
}

int ssh_auth_pk_ok_parse(struct bytes payload, struct bytes *ret_algorithm,
                         struct bytes *ret_blob)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_USERAUTH_PK_OK);
    struct bytes algorithm = wire_get_string(&r, SSH_SERVICE_MAX);
    struct bytes blob = wire_get_string(&r, SSH_KEY_BLOB_MAX);
    int rc = wire_read_end(&r);
    if (rc < 0)
        return rc;
    *ret_algorithm = algorithm;
    *ret_blob = blob;
    return 0;
}

void ssh_auth_pk_ok_write(struct wire_writer *w, struct bytes algorithm, struct bytes blob)
{
    wire_put_u8(w, SSH_MSG_USERAUTH_PK_OK);
    wire_put_string(w, algorithm);
    wire_put_string(w, blob);
}

int ssh_auth_banner_parse(struct bytes payload, struct bytes *ret_text)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_USERAUTH_BANNER);
    struct bytes text = wire_get_string(&r, SSH_TEXT_MAX);
    wire_get_string(&r, SSH_LANGUAGE_MAX);
    int rc = wire_read_end(&r);
    if (rc == 0)
        *ret_text = text;
    return rc;
}
