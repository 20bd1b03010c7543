/* layers: ssh_wire */
/* Messages of the login and about the connection's end: what is read is written the same. */
#include "base/wire.h"
#include "invariant.h"
#include "ssh/wire/auth.h"
#include "ssh/wire/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t message[256 * 1024];

static struct wire_writer begin(void)
{
    return wire_writer_of(message, sizeof(message));
}

/* Booleans may come as any byte but 0, and are written as 1: sizes agree, then what is read. */
static struct bytes written(const struct wire_writer *w, struct bytes payload)
{
    INVARIANT(wire_write_end(w) == 0 && w->len == payload.len);
    return bytes_of(message, w->len);
}

static void check_request(struct bytes payload)
{
    struct ssh_auth_request q, again;
    if (ssh_auth_request_parse(payload, &q) < 0)
        return;
    INVARIANT(q.user.len <= USER_NAME_MAX && q.password.len <= PASSWORD_MAX);
    INVARIANT(q.blob.len <= SSH_KEY_BLOB_MAX && q.signature.len <= SSH_SIGNATURE_BLOB_MAX);
    if (q.method == SSH_AUTH_OTHER || q.wants_password_change)
        return;
    struct wire_writer w = begin();
    ssh_auth_request_write(&w, &q);
    INVARIANT(ssh_auth_request_parse(written(&w, payload), &again) == 0);
    INVARIANT(again.method == q.method && again.has_signature == q.has_signature);
    INVARIANT(bytes_equal(again.user, q.user) && bytes_equal(again.service, q.service));
    INVARIANT(bytes_equal(again.password, q.password) && bytes_equal(again.blob, q.blob));
    INVARIANT(bytes_equal(again.signature, q.signature));
}

static void check_failure(struct bytes payload)
{
    struct ssh_auth_failure f, again;
    if (ssh_auth_failure_parse(payload, &f) < 0)
        return;
    struct wire_writer w = begin();
    ssh_auth_failure_write(&w, f.methods, f.partial_success);
    INVARIANT(ssh_auth_failure_parse(written(&w, payload), &again) == 0);
    INVARIANT(again.partial_success == f.partial_success);
    INVARIANT(bytes_equal(again.methods, f.methods));
}

static void check_pk_ok(struct bytes payload)
{
    struct bytes algorithm, blob;
    if (ssh_auth_pk_ok_parse(payload, &algorithm, &blob) < 0)
        return;
    struct wire_writer w = begin();
    ssh_auth_pk_ok_write(&w, algorithm, blob);
    INVARIANT(bytes_equal(written(&w, payload), payload));
}

static void check_service(struct bytes payload)
{
    struct bytes name;
    if (ssh_service_parse(payload, &name) < 0)
        return;
    struct wire_writer w = begin();
    ssh_service_write(&w, payload.data[0], name);
    INVARIANT(bytes_equal(written(&w, payload), payload));
}

static void check_ext_info(struct bytes payload)
{
    struct bytes value;
    if (ssh_ext_info_parse(payload, BYTES_LIT("server-sig-algs"), &value) == 0 && value.len > 0)
        INVARIANT(value.data > payload.data &&
                  value.data + value.len <= payload.data + payload.len);
}

static void check_texts(struct bytes payload)
{
    struct bytes text;
    uint32_t reason;
    if (ssh_auth_banner_parse(payload, &text) == 0)
        INVARIANT(text.len <= SSH_TEXT_MAX && text.len < payload.len);
    if (ssh_disconnect_parse(payload, &reason, &text) == 0)
        INVARIANT(text.len <= SSH_TEXT_MAX && text.len < payload.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes payload = bytes_of(data, len);
    if (len > sizeof(message))
        return 0;
    check_request(payload);
    check_failure(payload);
    check_pk_ok(payload);
    check_service(payload);
    check_ext_info(payload);
    check_texts(payload);
    return 0;
}
