#include "ssh/wire/auth.h"

#include "base/wire.h"
#include "check_bytes.h"
#include "ssh/wire/transport.h"
#include "ssh_bytes.h"

#define REQUEST "\x32\0\0\0\5alice\0\0\0\16ssh-connection"

static const uint8_t request_number[] = {SSH_MSG_USERAUTH_REQUEST, 0};

static int parse_request(struct bytes payload)
{
    struct ssh_auth_request q;
    return ssh_auth_request_parse(payload, &q);
}

/* The request is written as these bytes and read from them. */
static struct ssh_auth_request check_request(const struct ssh_auth_request *q,
                                             struct bytes wanted)
{
    struct ssh_auth_request got = {0};
    uint8_t message[512];
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    ssh_auth_request_write(&w, q);
    assert_int_equal(wire_write_end(&w), 0);
    assert_true(bytes_equal(bytes_of(message, w.len), wanted));
    assert_int_equal(ssh_auth_request_parse(wanted, &got), 0);
    assert_bytes_equal(got.user, "alice");
    assert_bytes_equal(got.service, "ssh-connection");
    assert_int_equal(got.method, q->method);
    check_shape(parse_request, wanted, false, request_number);
    return got;
}

static struct ssh_auth_request request(enum ssh_auth_method method)
{
    return (struct ssh_auth_request){
        .user = BYTES_LIT("alice"),
        .service = BYTES_LIT("ssh-connection"),
        .method = method,
    };
}

static void requests_are_written_and_read(void **state)
{
    (void)state;
    struct ssh_auth_request q = request(SSH_AUTH_NONE);
    check_request(&q, BYTES_LIT(REQUEST "\0\0\0\4none"));

    q = request(SSH_AUTH_PASSWORD);
    q.password = BYTES_LIT("p\0w");
    struct ssh_auth_request got =
        check_request(&q, BYTES_LIT(REQUEST "\0\0\0\10password\0\0\0\0\3p\0w"));
    assert_bytes_equal(got.password, "p\0w");
    assert_false(got.wants_password_change);

    q = request(SSH_AUTH_PUBLICKEY);
    q.algorithm = BYTES_LIT("rsa-sha2-256");
    q.blob = BYTES_LIT("BLOB");
    got = check_request(
        &q, BYTES_LIT(REQUEST "\0\0\0\11publickey\0\0\0\0\14rsa-sha2-256\0\0\0\4BLOB"));
    assert_bytes_equal(got.algorithm, "rsa-sha2-256");
    assert_bytes_equal(got.blob, "BLOB");
    assert_false(got.has_signature);
    assert_int_equal(got.signature.len, 0);

    q.has_signature = true;
    q.signature = BYTES_LIT("SIG");
    got = check_request(
        &q,
        BYTES_LIT(REQUEST "\0\0\0\11publickey\1\0\0\0\14rsa-sha2-256\0\0\0\4BLOB\0\0\0\3SIG"));
    assert_true(got.has_signature);
    assert_bytes_equal(got.signature, "SIG");
}

static void a_wish_for_a_new_password_is_read(void **state)
{
    (void)state;
    struct bytes message = BYTES_LIT(REQUEST "\0\0\0\10password\1\0\0\0\3old\0\0\0\3new");
    struct ssh_auth_request q;
    assert_int_equal(ssh_auth_request_parse(message, &q), 0);
    assert_true(q.wants_password_change);
    assert_bytes_equal(q.password, "old");
    check_shape(parse_request, message, false, request_number);
}

static void other_methods_are_read_whatever_follows(void **state)
{
    (void)state;
    struct bytes message = BYTES_LIT(REQUEST "\0\0\0\24keyboard-interactive");
    struct ssh_auth_request q;
    assert_int_equal(ssh_auth_request_parse(message, &q), 0);
    assert_int_equal(q.method, SSH_AUTH_OTHER);
    check_shape(parse_request, message, true, request_number);
    assert_int_equal(ssh_auth_request_parse(BYTES_LIT(REQUEST "\0\0\0\5nonee"), &q), 0);
    assert_int_equal(q.method, SSH_AUTH_OTHER);
    assert_int_equal(ssh_auth_request_parse(BYTES_LIT(REQUEST "\0\0\0\0"), &q), 0);
    assert_int_equal(q.method, SSH_AUTH_OTHER);
}

static void each_field_of_a_request_has_its_bound(void **state)
{
    (void)state;
    static uint8_t text[SSH_KEY_BLOB_MAX + 1], message[3 * SSH_KEY_BLOB_MAX];

    static const struct {
        size_t field, max;
        enum ssh_auth_method method;
    } rows[] = {
        {offsetof(struct ssh_auth_request, user), USER_NAME_MAX, SSH_AUTH_NONE},
        {offsetof(struct ssh_auth_request, service), SSH_SERVICE_MAX, SSH_AUTH_NONE},
        {offsetof(struct ssh_auth_request, password), PASSWORD_MAX, SSH_AUTH_PASSWORD},
        {offsetof(struct ssh_auth_request, algorithm), SSH_SERVICE_MAX, SSH_AUTH_PUBLICKEY},
        {offsetof(struct ssh_auth_request, blob), SSH_KEY_BLOB_MAX, SSH_AUTH_PUBLICKEY},
        {offsetof(struct ssh_auth_request, signature), SSH_SIGNATURE_BLOB_MAX,
         SSH_AUTH_PUBLICKEY},
    };

    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t over = 0; over < 2; over++) {
            struct ssh_auth_request q = request(rows[i].method);
            q.has_signature = true;
            struct bytes long_text = bytes_of(text, rows[i].max + over);
            memcpy((char *)&q + rows[i].field, &long_text, sizeof(long_text));
            struct wire_writer w = wire_writer_of(message, sizeof(message));
            ssh_auth_request_write(&w, &q);
            assert_int_equal(wire_write_end(&w), 0);
            assert_int_equal(parse_copy(parse_request, bytes_of(message, w.len)),
                             over ? -FERRY_EPROTO : 0);
        }
}

static void what_is_signed_begins_with_the_session(void **state)
{
    (void)state;
    struct ssh_auth_request q = request(SSH_AUTH_PUBLICKEY);
    q.algorithm = BYTES_LIT("ssh-ed25519");
    q.blob = BYTES_LIT("BLOB");
    q.signature = BYTES_LIT("not in it");
    for (int has = 0; has < 2; has++) {
        uint8_t message[512];
        struct wire_writer w = wire_writer_of(message, sizeof(message));
        q.has_signature = has;
        ssh_auth_signed_write(&w, BYTES_LIT("ID"), &q);
        assert_bytes_equal(bytes_of(message, w.len),
                           "\0\0\0\2ID" REQUEST
                           "\0\0\0\11publickey\1\0\0\0\13ssh-ed25519\0\0\0\4BLOB");
    }
}

/* -- answers -- */

static int parse_failure(struct bytes payload)
{
    struct ssh_auth_failure f;
    return ssh_auth_failure_parse(payload, &f);
}

static int parse_pk_ok(struct bytes payload)
{
    struct bytes algorithm, blob;
    return ssh_auth_pk_ok_parse(payload, &algorithm, &blob);
}

static int parse_banner(struct bytes payload)
{
    struct bytes text;
    return ssh_auth_banner_parse(payload, &text);
}

static int parse_service(struct bytes payload)
{
    struct bytes name;
    return ssh_service_parse(payload, &name);
}

static int parse_disconnect(struct bytes payload)
{
    struct bytes text;
    uint32_t reason;
    return ssh_disconnect_parse(payload, &reason, &text);
}

static int parse_ext_info(struct bytes payload)
{
    struct bytes value;
    return ssh_ext_info_parse(payload, BYTES_LIT("x"), &value);
}

static void answers_are_written_and_read(void **state)
{
    (void)state;
    uint8_t message[128];
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    struct bytes wanted = BYTES_LIT("\x33\0\0\0\22publickey,password\1");
    struct ssh_auth_failure f;
    ssh_auth_failure_write(&w, BYTES_LIT("publickey,password"), true);
    assert_true(bytes_equal(bytes_of(message, w.len), wanted));
    assert_int_equal(ssh_auth_failure_parse(wanted, &f), 0);
    assert_bytes_equal(f.methods, "publickey,password");
    assert_true(f.partial_success);
    check_shape(parse_failure, wanted, false, (const uint8_t *)"\x33");

    struct bytes algorithm, blob;
    wanted = BYTES_LIT("\x3c\0\0\0\13ssh-ed25519\0\0\0\4BLOB");
    w = wire_writer_of(message, sizeof(message));
    ssh_auth_pk_ok_write(&w, BYTES_LIT("ssh-ed25519"), BYTES_LIT("BLOB"));
    assert_true(bytes_equal(bytes_of(message, w.len), wanted));
    assert_int_equal(ssh_auth_pk_ok_parse(wanted, &algorithm, &blob), 0);
    assert_bytes_equal(algorithm, "ssh-ed25519");
    assert_bytes_equal(blob, "BLOB");
    check_shape(parse_pk_ok, wanted, false, (const uint8_t *)"\x3c");

    struct bytes text;
    wanted = BYTES_LIT("\x35\0\0\0\3hi\n\0\0\0\2en");
    assert_int_equal(ssh_auth_banner_parse(wanted, &text), 0);
    assert_bytes_equal(text, "hi\n");
    check_shape(parse_banner, wanted, false, (const uint8_t *)"\x35");
}

static void services_are_asked_for_and_accepted(void **state)
{
    (void)state;
    for (enum ssh_message m = SSH_MSG_SERVICE_REQUEST; m <= SSH_MSG_SERVICE_ACCEPT; m++) {
        uint8_t message[128];
        struct wire_writer w = wire_writer_of(message, sizeof(message));
        struct bytes name;
        ssh_service_write(&w, m, BYTES_LIT("ssh-userauth"));
        assert_int_equal(message[0], m);
        assert_bytes_equal(bytes_of(message + 1, w.len - 1), "\0\0\0\14ssh-userauth");
        assert_int_equal(ssh_service_parse(bytes_of(message, w.len), &name), 0);
        assert_bytes_equal(name, "ssh-userauth");
        check_shape(parse_service, bytes_of(message, w.len), false, (const uint8_t *)"\5\6");
    }
}

static void the_end_has_a_reason(void **state)
{
    (void)state;
    uint8_t message[128];
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    struct bytes wanted = BYTES_LIT("\1\0\0\0\13\0\0\0\3bye\0\0\0\0"), text;
    uint32_t reason = 77;
    ssh_disconnect_write(&w, SSH_DISCONNECT_BY_APPLICATION, BYTES_LIT("bye"));
    assert_true(bytes_equal(bytes_of(message, w.len), wanted));
    assert_int_equal(ssh_disconnect_parse(wanted, &reason, &text), 0);
    assert_int_equal(reason, SSH_DISCONNECT_BY_APPLICATION);
    assert_bytes_equal(text, "bye");
    check_shape(parse_disconnect, wanted, false, (const uint8_t *)"\1");

    wanted = BYTES_LIT("\4\1\0\0\0\3dbg\0\0\0\2en");
    assert_int_equal(ssh_disconnect_parse(wanted, &reason, &text), 0);
    assert_int_equal(reason, 0);
    assert_bytes_equal(text, "dbg");
    check_shape(parse_disconnect, wanted, false, (const uint8_t *)"\4");
}

static void texts_have_a_bound(void **state)
{
    (void)state;
    static uint8_t text[SSH_TEXT_MAX + 1], message[SSH_TEXT_MAX + 64];
    for (size_t over = 0; over < 2; over++) {
        struct wire_writer w = wire_writer_of(message, sizeof(message));
        ssh_disconnect_write(&w, SSH_DISCONNECT_BY_APPLICATION,
                             bytes_of(text, SSH_TEXT_MAX + over));
        assert_int_equal(wire_write_end(&w), 0);
        assert_int_equal(parse_disconnect(bytes_of(message, w.len)), over ? -FERRY_EPROTO : 0);
        w = wire_writer_of(message, sizeof(message));
        wire_put_u8(&w, SSH_MSG_USERAUTH_BANNER);
        wire_put_string(&w, bytes_of(text, SSH_TEXT_MAX + over));
        wire_put_string(&w, BYTES_NONE);
        assert_int_equal(parse_banner(bytes_of(message, w.len)), over ? -FERRY_EPROTO : 0);
        w = wire_writer_of(message, sizeof(message));
        ssh_auth_failure_write(&w, bytes_of(text, SSH_METHODS_MAX + over), false);
        assert_int_equal(parse_failure(bytes_of(message, w.len)), over ? -FERRY_EPROTO : 0);
    }
}

static void extensions_are_found_by_name(void **state)
{
    (void)state;
    static const struct ssh_extension extensions[] = {
        {BYTES_LIT("server-sig-algs"), BYTES_LIT("ssh-ed25519")},
        {BYTES_LIT("ping@openssh.com"), BYTES_LIT("0")},
    };
    struct bytes wanted = BYTES_LIT("\7\0\0\0\2\0\0\0\17server-sig-algs\0\0\0\13ssh-ed25519"
                                    "\0\0\0\20ping@openssh.com\0\0\0\1"
                                    "0");
    struct bytes value;
    uint8_t message[128];
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    ssh_ext_info_write(&w, extensions, ARRAY_LEN(extensions));
    assert_true(bytes_equal(bytes_of(message, w.len), wanted));
    assert_int_equal(ssh_ext_info_parse(wanted, BYTES_LIT("server-sig-algs"), &value), 0);
    assert_bytes_equal(value, "ssh-ed25519");
    assert_int_equal(ssh_ext_info_parse(wanted, BYTES_LIT("ping@openssh.com"), &value), 0);
    assert_bytes_equal(value, "0");
    assert_int_equal(ssh_ext_info_parse(wanted, BYTES_LIT("server-sig"), &value), 0);
    assert_int_equal(value.len, 0);
    check_shape(parse_ext_info, wanted, false, (const uint8_t *)"\7");
    assert_int_equal(parse_ext_info(BYTES_LIT("\7\0\0\0\0")), 0);
    wanted = BYTES_LIT("\7\0\0\0\2\0\0\0\1x\0\0\0\1a\0\0\0\1x\0\0\0\1b");
    assert_int_equal(ssh_ext_info_parse(wanted, BYTES_LIT("x"), &value), 0);
    assert_bytes_equal(value, "a"); /* the first */
}

static void a_number_of_extensions_beyond_the_message_ends_at_once(void **state)
{
    (void)state;
    assert_int_equal(parse_ext_info(BYTES_LIT("\7\xff\xff\xff\xff")), -FERRY_EPROTO);
    assert_int_equal(parse_ext_info(BYTES_LIT("\7\xff\xff\xff\xff\0\0\0\1x\0\0\0\1y")),
                     -FERRY_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_written_and_read),
        cmocka_unit_test(a_wish_for_a_new_password_is_read),
        cmocka_unit_test(other_methods_are_read_whatever_follows),
        cmocka_unit_test(each_field_of_a_request_has_its_bound),
        cmocka_unit_test(what_is_signed_begins_with_the_session),
        cmocka_unit_test(answers_are_written_and_read),
        cmocka_unit_test(services_are_asked_for_and_accepted),
        cmocka_unit_test(the_end_has_a_reason),
        cmocka_unit_test(texts_have_a_bound),
        cmocka_unit_test(extensions_are_found_by_name),
        cmocka_unit_test(a_number_of_extensions_beyond_the_message_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
