#include "ssh/wire/ident.h"

#include <stdlib.h>

#include "base/err.h"
#include "check_bytes.h"

static void lines_are_idents_others_or_refused(void **state)
{
    (void)state;

    static const struct {
        struct bytes data;
        int result;
        size_t used;
        const char *text;
    } rows[] = {
        {BYTES_LIT("SSH-2.0-ferry\r\n"), SSH_IDENT_FOUND, 15, "SSH-2.0-ferry"},
        {BYTES_LIT("SSH-2.0-ferry\n"), SSH_IDENT_FOUND, 14, "SSH-2.0-ferry"},
        {BYTES_LIT("SSH-1.99-Cisco-1.25\n"), SSH_IDENT_FOUND, 20, "SSH-1.99-Cisco-1.25"},
        {BYTES_LIT("SSH-2.0-a b c\r\nmore"), SSH_IDENT_FOUND, 15, "SSH-2.0-a b c"},
        {BYTES_LIT("SSH-2.0-x-y_z \r\n"), SSH_IDENT_FOUND, 16, "SSH-2.0-x-y_z "},
        {BYTES_LIT("SSH-2.0-\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0- x\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-1.5-old\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.1-new\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.00-x\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0-a\0b\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0-a\x7f\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0-a\xc3\xa4\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0-a\tb\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0-a\rb\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("SSH-2.0-a\r\r\n"), -FERRY_EPROTO, 0, NULL},
        {BYTES_LIT("ssh-2.0-ferry\r\n"), SSH_IDENT_OTHER, 15, NULL},
        {BYTES_LIT("welcome\0\xff\r\nSSH-2.0-x\r\n"), SSH_IDENT_OTHER, 11, NULL},
        {BYTES_LIT("SSH\r\n"), SSH_IDENT_OTHER, 5, NULL},
        {BYTES_LIT("\n"), SSH_IDENT_OTHER, 1, NULL},
        {BYTES_LIT(""), SSH_IDENT_MORE, 0, NULL},
        {BYTES_LIT("SSH-2.0-ferry\r"), SSH_IDENT_MORE, 0, NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_ident ident = {.len = 77};
        size_t used = 0;
        assert_int_equal(ssh_ident_parse(rows[i].data, &used, &ident), rows[i].result);
        assert_int_equal(used, rows[i].used);
        assert_int_equal(ident.len, rows[i].text != NULL ? strlen(rows[i].text) : 77);
        if (rows[i].text != NULL)
            assert_string_equal(ident.text, rows[i].text);
    }
}

static void each_cut_of_an_ident_wants_more(void **state)
{
    (void)state;
    static const char line[] = "SSH-2.0-ferry comment\r\n";
    struct ssh_ident ident;
    size_t used;
    for (size_t len = 0; len < sizeof(line) - 1; len++) {
        uint8_t *copy = malloc(len + 1);
        memcpy(copy, line, len);
        assert_int_equal(ssh_ident_parse(bytes_of(copy, len), &used, &ident), SSH_IDENT_MORE);
        free(copy);
    }
}

static void a_line_of_255_bytes_is_the_longest(void **state)
{
    (void)state;
    static const char *const starts[] = {"SSH-2.0-", "welcome "};
    static const int found[] = {SSH_IDENT_FOUND, SSH_IDENT_OTHER};
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        char line[SSH_IDENT_MAX + 2];
        struct ssh_ident ident;
        size_t used;
        memset(line, 'x', sizeof(line));
        memcpy(line, starts[i], strlen(starts[i]));
        assert_int_equal(ssh_ident_parse(bytes_of(line, SSH_IDENT_MAX - 1), &used, &ident),
                         SSH_IDENT_MORE);
        assert_int_equal(ssh_ident_parse(bytes_of(line, SSH_IDENT_MAX), &used, &ident),
                         -FERRY_EPROTO);
        line[SSH_IDENT_MAX - 1] = '\n';
        assert_int_equal(ssh_ident_parse(bytes_of(line, SSH_IDENT_MAX), &used, &ident),
                         found[i]);
        assert_int_equal(used, SSH_IDENT_MAX);
        if (found[i] == SSH_IDENT_FOUND)
            assert_int_equal(ident.len, SSH_IDENT_MAX - 1);
        line[SSH_IDENT_MAX - 1] = 'x';
        line[SSH_IDENT_MAX] = '\n';
        assert_int_equal(ssh_ident_parse(bytes_of(line, sizeof(line)), &used, &ident),
                         -FERRY_EPROTO);
    }
}

static void quirks_go_by_how_the_software_begins(void **state)
{
    (void)state;

    static const struct {
        struct bytes line;
        unsigned quirks;
    } rows[] = {
        {BYTES_LIT("SSH-2.0-OpenSSH_9.2p1 Debian-2\n"), SSH_QUIRK_GCM_LAST},
        {BYTES_LIT("SSH-1.99-OpenSSH_for_Windows_8.1\n"), SSH_QUIRK_GCM_LAST},
        {BYTES_LIT("SSH-2.0-PuTTY_Release_0.78\n"), 0},
        {BYTES_LIT("SSH-2.0-ferry_0.1 OpenSSH\n"), 0},
        {BYTES_LIT("SSH-2.0-x-OpenSSH\n"), 0},
        {BYTES_LIT("SSH-2.0-Open\n"), 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_ident ident;
        size_t used;
        assert_int_equal(ssh_ident_parse(rows[i].line, &used, &ident), SSH_IDENT_FOUND);
        assert_int_equal(ssh_ident_quirks(&ident), rows[i].quirks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_idents_others_or_refused),
        cmocka_unit_test(each_cut_of_an_ident_wants_more),
        cmocka_unit_test(a_line_of_255_bytes_is_the_longest),
        cmocka_unit_test(quirks_go_by_how_the_software_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
