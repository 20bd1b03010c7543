#include "ssh/wire/channel.h"

#include "base/wire.h"
#include "check_bytes.h"
#include "ssh/wire/transport.h"
#include "ssh_bytes.h"

/* A writer on a buffer of its own, and what stands in it. */
struct out {
    uint8_t data[256];
    struct wire_writer w;
};

static struct wire_writer *begin(struct out *o)
{
    o->w = wire_writer_of(o->data, sizeof(o->data));
    return &o->w;
}

static struct bytes written(const struct out *o)
{
    assert_int_equal(wire_write_end(&o->w), 0);
    return bytes_of(o->data, o->w.len);
}

/* -- opening -- */

static int parse_open(struct bytes payload)
{
    struct ssh_channel_open o;
    return ssh_channel_open_parse(payload, &o);
}

static void opening_is_written_and_read(void **state)
{
    (void)state;
    struct bytes wanted = BYTES_LIT("\x5a\0\0\0\7session\0\0\0\1\xff\xff\xff\xff\0\0\x80\0");
    struct ssh_channel_open o = {BYTES_LIT("session"), 1, UINT32_MAX, 32768, BYTES_NONE}, got;
    struct out out;
    ssh_channel_open_write(begin(&out), &o);
    assert_true(bytes_equal(written(&out), wanted));
    assert_int_equal(ssh_channel_open_parse(wanted, &got), 0);
    assert_bytes_equal(got.type, "session");
    assert_int_equal(got.sender, 1);
    assert_int_equal(got.window, UINT32_MAX);
    assert_int_equal(got.packet_max, 32768);
    assert_int_equal(got.rest.len, 0);
    check_shape(parse_open, wanted, true, (const uint8_t *)"\x5a");

    o.rest = BYTES_LIT("rest");
    ssh_channel_open_write(begin(&out), &o);
    assert_int_equal(ssh_channel_open_parse(written(&out), &got), 0);
    assert_bytes_equal(got.rest, "rest");
}

static int parse_confirmation(struct bytes payload)
{
    struct ssh_channel_confirmation c;
    return ssh_channel_confirmation_parse(payload, &c);
}

static void a_confirmation_is_written_and_read(void **state)
{
    (void)state;
    struct bytes wanted = BYTES_LIT("\x5b\0\0\0\1\0\0\0\2\0\0\0\0\0\0\x40\0");
    struct ssh_channel_confirmation c = {1, 2, 0, 16384}, got;
    struct out out;
    ssh_channel_confirmation_write(begin(&out), &c);
    assert_true(bytes_equal(written(&out), wanted));
    assert_int_equal(ssh_channel_confirmation_parse(wanted, &got), 0);
    assert_memory_equal(&got, &c, sizeof(c));
    check_shape(parse_confirmation, wanted, false, (const uint8_t *)"\x5b");
}

static void a_channel_that_could_take_no_byte_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse_open(BYTES_LIT("\x5a\0\0\0\1x\0\0\0\0\0\0\0\1\0\0\0\0")),
                     -FERRY_EPROTO);
    assert_int_equal(parse_open(BYTES_LIT("\x5a\0\0\0\1x\0\0\0\0\0\0\0\1\0\0\0\1")), 0);
    assert_int_equal(parse_confirmation(BYTES_LIT("\x5b\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0")),
                     -FERRY_EPROTO);
}

static int parse_open_failure(struct bytes payload)
{
    uint32_t recipient, reason;
    struct bytes text;
    return ssh_channel_open_failure_parse(payload, &recipient, &reason, &text);
}

static void a_refusal_has_a_reason(void **state)
{
    (void)state;
    struct bytes wanted = BYTES_LIT("\x5c\0\0\0\5\0\0\0\4\0\0\0\2no\0\0\0\0"), text;
    uint32_t recipient, reason;
    struct out out;
    ssh_channel_open_failure_write(begin(&out), 5, SSH_OPEN_RESOURCE_SHORTAGE, BYTES_LIT("no"));
    assert_true(bytes_equal(written(&out), wanted));
    assert_int_equal(ssh_channel_open_failure_parse(wanted, &recipient, &reason, &text), 0);
    assert_int_equal(recipient, 5);
    assert_int_equal(reason, SSH_OPEN_RESOURCE_SHORTAGE);
    assert_bytes_equal(text, "no");
    check_shape(parse_open_failure, wanted, false, (const uint8_t *)"\x5c");
}

/* -- data -- */

static int parse_data(struct bytes payload)
{
    struct ssh_channel_data d;
    return ssh_channel_data_parse(payload, &d);
}

static void data_is_read_behind_its_head(void **state)
{
    (void)state;
    uint8_t message[SSH_DATA_HEAD + 4] = "\0\0\0\0\0\0\0\0\0DATA";
    struct bytes wanted = BYTES_LIT("\x5e\1\2\3\4\0\0\0\4DATA");
    struct ssh_channel_data d;
    ssh_channel_data_head(message, 0x01020304, 4);
    memcpy(message + SSH_DATA_HEAD, "DATA", 4);
    assert_true(bytes_equal(bytes_of(message, sizeof(message)), wanted));
    assert_int_equal(ssh_channel_data_parse(wanted, &d), 0);
    assert_int_equal(d.recipient, 0x01020304);
    assert_int_equal(d.code, 0);
    assert_bytes_equal(d.data, "DATA");
    check_shape(parse_data, wanted, false, (const uint8_t *)"\x5e");
    assert_int_equal(parse_data(BYTES_LIT("\x5e\0\0\0\0\0\0\0\0")), 0);
    assert_int_equal(parse_data(BYTES_LIT("\x5e\0\0\0\0\xff\xff\xff\xff")), -FERRY_EPROTO);
}

static void extended_data_has_a_code(void **state)
{
    (void)state;
    struct bytes message = BYTES_LIT("\x5f\0\0\0\7\0\0\0\1\0\0\0\3err");
    struct ssh_channel_data d;
    assert_int_equal(ssh_channel_data_parse(message, &d), 0);
    assert_int_equal(d.recipient, 7);
    assert_int_equal(d.code, 1);
    assert_bytes_equal(d.data, "err");
    check_shape(parse_data, message, false, (const uint8_t *)"\x5f");
    assert_int_equal(parse_data(BYTES_LIT("\x5f\0\0\0\7\0\0\0\0\0\0\0\3err")), -FERRY_EPROTO);
}

static int parse_adjust(struct bytes payload)
{
    uint32_t recipient, bytes;
    return ssh_channel_adjust_parse(payload, &recipient, &bytes);
}

static void an_adjustment_is_written_and_read(void **state)
{
    (void)state;
    struct bytes wanted = BYTES_LIT("\x5d\0\0\0\2\xff\xff\xff\xff");
    uint32_t recipient, bytes;
    struct out out;
    ssh_channel_adjust_write(begin(&out), 2, UINT32_MAX);
    assert_true(bytes_equal(written(&out), wanted));
    assert_int_equal(ssh_channel_adjust_parse(wanted, &recipient, &bytes), 0);
    assert_int_equal(recipient, 2);
    assert_int_equal(bytes, UINT32_MAX);
    check_shape(parse_adjust, wanted, false, (const uint8_t *)"\x5d");
}

static int parse_plain(struct bytes payload)
{
    uint32_t recipient;
    return ssh_channel_plain_parse(payload, &recipient);
}

static void four_messages_are_a_recipient_alone(void **state)
{
    (void)state;

    static const enum ssh_message messages[] = {SSH_MSG_CHANNEL_EOF, SSH_MSG_CHANNEL_CLOSE,
                                                SSH_MSG_CHANNEL_SUCCESS,
                                                SSH_MSG_CHANNEL_FAILURE};

    for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
        struct out out;
        uint32_t recipient;
        ssh_channel_plain_write(begin(&out), messages[i], 0x0a0b0c0d);
        assert_int_equal(out.data[0], messages[i]);
        assert_bytes_equal(bytes_skip(written(&out), 1), "\x0a\x0b\x0c\x0d");
        assert_int_equal(ssh_channel_plain_parse(written(&out), &recipient), 0);
        assert_int_equal(recipient, 0x0a0b0c0d);
        check_shape(parse_plain, written(&out), false, (const uint8_t *)"\x60\x61\x63\x64");
    }
}

/* -- requests -- */

static int parse_request(struct bytes payload)
{
    struct ssh_channel_request q;
    return ssh_channel_request_parse(payload, &q);
}

#define HEAD "\x62\0\0\0\3"

static const struct request_row {
    struct bytes message;
    enum ssh_request_kind kind;
    bool wants_reply, is_open;
    const char *type, *text;
    uint32_t number;
} request_rows[] = {
    {BYTES_LIT(HEAD "\0\0\0\4exec\1\0\0\0\2ls"), SSH_REQUEST_EXEC, true, false, "exec", "ls",
     0},
    {BYTES_LIT(HEAD "\0\0\0\11subsystem\1\0\0\0\4sftp"), SSH_REQUEST_SUBSYSTEM, true, false,
     "subsystem", "sftp", 0},
    {BYTES_LIT(HEAD "\0\0\0\5shell\1"), SSH_REQUEST_SHELL, true, false, "shell", "", 0},
    {BYTES_LIT(HEAD "\0\0\0\7pty-req\0\0\0\0\5xterm\0\0\0\x50\0\0\0\x18\0\0\0\0\0\0\0\0"
                    "\0\0\0\1\0"),
     SSH_REQUEST_PTY, false, false, "pty-req", "", 0},
    {BYTES_LIT(HEAD "\0\0\0\3env\0\0\0\0\4LANG\0\0\0\1C"), SSH_REQUEST_ENV, false, false, "env",
     "LANG", 0},
    {BYTES_LIT(HEAD "\0\0\0\15window-change\0\0\0\0\x50\0\0\0\x18\0\0\0\0\0\0\0\0"),
     SSH_REQUEST_WINDOW_CHANGE, false, false, "window-change", "", 0},
    {BYTES_LIT(HEAD "\0\0\0\6signal\0\0\0\0\4TERM"), SSH_REQUEST_SIGNAL, false, false, "signal",
     "TERM", 0},
    {BYTES_LIT(HEAD "\0\0\0\13exit-status\0\0\0\0\x7f"), SSH_REQUEST_EXIT_STATUS, false, false,
     "exit-status", "", 127},
    {BYTES_LIT(HEAD "\0\0\0\13exit-signal\0\0\0\0\4KILL\1\0\0\0\1x\0\0\0\0"),
     SSH_REQUEST_EXIT_SIGNAL, false, false, "exit-signal", "KILL", 0},
    {BYTES_LIT(HEAD "\0\0\0\25keepalive@openssh.com\1"), SSH_REQUEST_KEEPALIVE, true, true,
     "keepalive@openssh.com", "", 0},
    {BYTES_LIT(HEAD "\0\0\0\10x11-req@\1"), SSH_REQUEST_OTHER, true, true, "x11-req@", "", 0},
    {BYTES_LIT(HEAD "\0\0\0\0\0"), SSH_REQUEST_OTHER, false, true, "", "", 0},
    {BYTES_LIT(HEAD "\0\0\0\3exe\0"), SSH_REQUEST_OTHER, false, true, "exe", "", 0},
};

static void requests_are_read_by_their_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(request_rows); i++) {
        const struct request_row *row = &request_rows[i];
        struct ssh_channel_request q;
        assert_int_equal(ssh_channel_request_parse(row->message, &q), 0);
        assert_int_equal(q.recipient, 3);
        assert_int_equal(q.kind, row->kind);
        assert_int_equal(q.wants_reply, row->wants_reply);
        assert_true(bytes_equal(q.type, bytes_str(row->type)));
        assert_true(bytes_equal(q.text, bytes_str(row->text)));
        assert_int_equal(q.number, row->number);
        check_shape(parse_request, row->message, row->is_open, (const uint8_t *)"\x62");
    }
}

static void what_is_kept_of_a_request_is_written_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(request_rows); i++) {
        const struct request_row *row = &request_rows[i];
        struct ssh_channel_request q, again;
        struct out out;
        assert_int_equal(ssh_channel_request_parse(row->message, &q), 0);
        ssh_channel_request_write(begin(&out), &q);
        assert_int_equal(ssh_channel_request_parse(written(&out), &again), 0);
        assert_int_equal(again.kind, q.kind);
        assert_true(bytes_equal(again.type, q.type));
        assert_true(bytes_equal(again.text, q.text));
        assert_int_equal(again.number, q.number);
        assert_int_equal(again.wants_reply, q.wants_reply);
        bool is_passed_over = q.kind == SSH_REQUEST_PTY || q.kind == SSH_REQUEST_ENV ||
                              q.kind == SSH_REQUEST_WINDOW_CHANGE ||
                              q.kind == SSH_REQUEST_EXIT_SIGNAL;
        if (!is_passed_over)
            assert_true(bytes_equal(written(&out), row->message));
    }
}

static void types_and_commands_have_bounds(void **state)
{
    (void)state;
    static uint8_t text[SSH_COMMAND_MAX + 1], message[SSH_COMMAND_MAX + 64];
    memset(text, 'x', sizeof(text));
    for (size_t over = 0; over < 2; over++) {
        int wanted = over ? -FERRY_EPROTO : 0;
        struct ssh_channel_request q = {.kind = SSH_REQUEST_EXEC,
                                        .text = bytes_of(text, SSH_COMMAND_MAX + over)};
        struct wire_writer w = wire_writer_of(message, sizeof(message));
        ssh_channel_request_write(&w, &q);
        assert_int_equal(wire_write_end(&w), 0);
        assert_int_equal(parse_request(bytes_of(message, w.len)), wanted);
        w = wire_writer_of(message, sizeof(message));
        q.kind = SSH_REQUEST_OTHER;
        q.type = bytes_of(text, SSH_REQUEST_TYPE_MAX + over);
        ssh_channel_request_write(&w, &q);
        assert_int_equal(parse_request(bytes_of(message, w.len)), wanted);
        struct ssh_channel_open o = {.type = bytes_of(text, SSH_CHANNEL_TYPE_MAX + over),
                                     .packet_max = 1};
        w = wire_writer_of(message, sizeof(message));
        ssh_channel_open_write(&w, &o);
        assert_int_equal(parse_open(bytes_of(message, w.len)), wanted);
    }
}

/* -- global requests and pings -- */

static int parse_global(struct bytes payload)
{
    struct bytes type;
    bool wants_reply;
    return ssh_global_request_parse(payload, &type, &wants_reply);
}

static void global_requests_are_written_and_read(void **state)
{
    (void)state;
    struct bytes wanted = BYTES_LIT("\x50\0\0\0\25keepalive@openssh.com\1"), type;
    bool wants_reply = false;
    struct out out;
    ssh_global_request_write(begin(&out), BYTES_LIT("keepalive@openssh.com"), true);
    assert_true(bytes_equal(written(&out), wanted));
    assert_int_equal(ssh_global_request_parse(wanted, &type, &wants_reply), 0);
    assert_bytes_equal(type, "keepalive@openssh.com");
    assert_true(wants_reply);
    check_shape(parse_global, wanted, true, (const uint8_t *)"\x50");
}

static int parse_ping(struct bytes payload)
{
    struct bytes data;
    return ssh_ping_parse(payload, &data);
}

static void pings_carry_a_string(void **state)
{
    (void)state;
    static uint8_t message[1 + 4 + SSH_PING_MAX + 1] = "\xc0\0\0\4\0";
    struct bytes data;
    assert_int_equal(ssh_ping_parse(BYTES_LIT("\xc0\0\0\0\3abc"), &data), 0);
    assert_bytes_equal(data, "abc");
    check_shape(parse_ping, BYTES_LIT("\xc0\0\0\0\3abc"), false, (const uint8_t *)"\xc0\xc1");
    check_shape(parse_ping, BYTES_LIT("\xc1\0\0\0\3abc"), false, (const uint8_t *)"\xc0\xc1");
    assert_int_equal(parse_ping(bytes_of(message, 1 + 4 + SSH_PING_MAX)), 0);
    message[4] = 1;
    assert_int_equal(parse_ping(bytes_of(message, sizeof(message))), -FERRY_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_is_written_and_read),
        cmocka_unit_test(a_confirmation_is_written_and_read),
        cmocka_unit_test(a_channel_that_could_take_no_byte_is_refused),
        cmocka_unit_test(a_refusal_has_a_reason),
        cmocka_unit_test(data_is_read_behind_its_head),
        cmocka_unit_test(extended_data_has_a_code),
        cmocka_unit_test(an_adjustment_is_written_and_read),
        cmocka_unit_test(four_messages_are_a_recipient_alone),
        cmocka_unit_test(requests_are_read_by_their_types),
        cmocka_unit_test(what_is_kept_of_a_request_is_written_again),
        cmocka_unit_test(types_and_commands_have_bounds),
        cmocka_unit_test(global_requests_are_written_and_read),
        cmocka_unit_test(pings_carry_a_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
