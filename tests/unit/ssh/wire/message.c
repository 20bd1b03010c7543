#include "ssh/wire/message.h"

#include "check_bytes.h"

static void numbers_have_names_and_others_a_question_mark(void **state)
{
    (void)state;

    static const struct {
        uint8_t message;
        const char *name;
    } rows[] = {
        {0, "?"},
        {1, "DISCONNECT"},
        {7, "EXT_INFO"},
        {8, "?"},
        {20, "KEXINIT"},
        {31, "KEXDH_REPLY"},
        {32, "?"},
        {50, "USERAUTH_REQUEST"},
        {60, "USERAUTH_PK_OK"},
        {94, "CHANNEL_DATA"},
        {100, "CHANNEL_FAILURE"},
        {192, "PING"},
        {193, "PONG"},
        {255, "?"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(ssh_message_name(rows[i].message), rows[i].name);
}

static void a_message_of_another_number_reads_as_nothing(void **state)
{
    (void)state;
    struct bytes payload = BYTES_LIT("\x14\x01\x02\x03\x04");
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_KEXINIT);
    assert_int_equal(wire_get_u32(&r), 0x01020304);
    assert_int_equal(wire_read_end(&r), 0);
    r = ssh_message_reader(payload, SSH_MSG_NEWKEYS);
    assert_int_equal(wire_get_u32(&r), 0);
    assert_true(wire_read_end(&r) < 0);
    r = ssh_message_reader(BYTES_NONE, SSH_MSG_NEWKEYS);
    assert_true(wire_read_end(&r) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_names_and_others_a_question_mark),
        cmocka_unit_test(a_message_of_another_number_reads_as_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
