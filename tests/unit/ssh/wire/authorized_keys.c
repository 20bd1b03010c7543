#include "ssh/wire/authorized_keys.h"

#include "ssh_files.h"

#define BLOB "AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW"
#define KEY  "ssh-ed25519 " BLOB

static struct ssh_authorized got;
static const char *why;

static enum ssh_authorized_result parse(const char *line)
{
    got = (struct ssh_authorized){0};
    why = NULL;
    return ssh_authorized_parse(bytes_str(line), &got, &why);
}

static void check_text(struct bytes text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    if (text.len > 0)
        assert_memory_equal(text.data, expected, text.len);
}

/* -- lines -- */

static void a_line_is_a_key_with_its_comment(void **state)
{
    (void)state;
    static const char *const lines[] = {
        KEY " alice at home",
        "  \t" KEY "\talice at home  ",
        KEY "   alice at home\r",
        "no-pty " KEY " alice at home",
        "\trestrict,pty\t" KEY "\talice at home\t",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(parse(lines[i]), SSH_AUTHORIZED_KEY);
        check_text(got.type, "ssh-ed25519");
        check_text(got.blob_text, BLOB);
        check_text(got.comment, "alice at home");
        check_text(got.from, "");
        assert_false(got.has_command);
        assert_true(got.expires_s == INT64_MAX);
    }
    assert_int_equal(parse("ssh-rsa AAAA"), SSH_AUTHORIZED_KEY);
    check_text(got.comment, "");
    assert_int_equal(parse("ecdsa-sha2-nistp256 AAAA x"), SSH_AUTHORIZED_KEY);
}

static void files_of_openssh_are_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        struct bytes text = file_read(key_samples[i].name, ".pub");
        struct buf *blob = file_new();
        assert_int_equal(ssh_authorized_parse(bytes_take_until(&text, '\n'), &got, &why),
                         SSH_AUTHORIZED_KEY);
        check_text(got.comment, key_samples[i].comment);
        assert_int_equal(ssh_base64_decode(got.blob_text, blob), 0);
        assert_true(bytes_equal(buf_bytes(blob), file_blob(key_samples[i].name)));
    }
    files_done();
}

static void blank_lines_and_comments_are_empty(void **state)
{
    (void)state;
    static const char *const lines[] = {"", " \t ", "\r", "# ssh-ed25519 AAAA", "   #", "#"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_int_equal(parse(lines[i]), SSH_AUTHORIZED_EMPTY);
}

static void what_is_no_key_is_refused_with_a_reason(void **state)
{
    (void)state;

    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"ssh-ed25519", "missing"},
        {"ssh-ed25519   ", "missing"},
        {"no-pty ssh-ed25519", "missing"},
        {"ssh-dss AAAA", "type"},
        {"sk-ssh-ed25519@openssh.com AAAA", "type"},
        {"ssh-ed25519-cert-v01@openssh.com AAAA", "type"},
        {"no-pty sk-ecdsa-sha2-nistp256@openssh.com AAAA", "type"},
        {"SSH-ED25519 AAAA", "type"},
        {"no-pty", "type"},
        {"no-pty, ssh-rsa AAAA", "not known"},
        {",no-pty ssh-rsa AAAA", "not known"},
        {"no-pty,,pty ssh-rsa AAAA", "not known"},
        {"no-pty , pty ssh-rsa AAAA", "type"},
        {"garbage", "type"},
        {"\"", "type"},
        {"-----BEGIN", "type"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(cases[i].line), SSH_AUTHORIZED_REFUSED);
        assert_non_null(strstr(why, cases[i].reason));
    }
}

static void a_line_has_no_nul_and_an_end(void **state)
{
    (void)state;
    static const char nul[] = "no-pty\0,x " KEY;
    char line[SSH_AUTHORIZED_LINE_MAX + 2];
    assert_int_equal(ssh_authorized_parse(bytes_of(nul, sizeof(nul) - 1), &got, &why),
                     SSH_AUTHORIZED_REFUSED);
    assert_non_null(strstr(why, "NUL"));

    memset(line, 'x', sizeof(line));
    memcpy(line, KEY " ", strlen(KEY " "));
    line[SSH_AUTHORIZED_LINE_MAX] = '\0';
    assert_int_equal(parse(line), SSH_AUTHORIZED_KEY);
    line[SSH_AUTHORIZED_LINE_MAX] = 'x';
    line[SSH_AUTHORIZED_LINE_MAX + 1] = '\0';
    assert_int_equal(parse(line), SSH_AUTHORIZED_REFUSED);
    assert_non_null(strstr(why, "long"));
}

/* -- options -- */

static enum ssh_authorized_result parse_options(const char *options)
{
    static char line[512]; /* what was read points into it */
    snprintf(line, sizeof(line), "%s %s comment", options, KEY);
    enum ssh_authorized_result r = parse(line);
    if (r == SSH_AUTHORIZED_KEY)
        check_text(got.comment, "comment");
    return r;
}

static void options_that_change_nothing_are_taken(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "restrict",
        "no-port-forwarding,no-agent-forwarding,no-X11-forwarding,no-pty,no-user-rc",
        "port-forwarding,agent-forwarding,x11-FORWARDING,PTY,User-Rc",
        "RESTRICT,NO-pty",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        assert_int_equal(parse_options(lists[i]), SSH_AUTHORIZED_KEY);
}

static void an_option_that_is_not_known_refuses_its_key(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "cert-authority",
        "principals=\"x\"",
        "permitopen=\"x:1\"",
        "permitlisten=\"1\"",
        "tunnel=\"0\"",
        "environment=\"A=b\"",
        "no-touch-required",
        "verify-required",
        "no-restrict",
        "no-from",
        "no-",
        "no-no-pty",
        "pty=\"x\"",
        "no-ptyx",
        "restrict ,pty",
        "comman=\"x\"",
        "commandx=\"x\"",
        "=\"x\"",
        "no-command=\"x\"",
        "from=\"192.0.2.1\",verify-required",
        "'no-pty'",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        assert_int_equal(parse_options(lists[i]), SSH_AUTHORIZED_REFUSED);
}

static void values_stand_between_quotes(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "command",
        "command=",
        "command=x",
        "command=\"",
        "command=\"x",
        "command=x\"",
        "command=\"x\"y",
        "command=\"x\"\"y\"",
        "command =\"x\"",
        "command= \"x\"",
        "command=\"x\\\"",
        "from=192.0.2.1",
        "expiry-time=20300101",
        "command=\\\"x\\\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(parse_options(wrong[i]), SSH_AUTHORIZED_REFUSED);
}

static void check_command(const char *option, const char *expected)
{
    struct buf b;
    buf_init(&b, 256);
    assert_int_equal(parse_options(option), SSH_AUTHORIZED_KEY);
    assert_true(got.has_command);
    assert_int_equal(ssh_authorized_command(&got, &b), 0);
    check_text(buf_bytes(&b), expected);
    buf_done(&b);
}

static void a_command_has_its_blanks_commas_and_quotes(void **state)
{
    (void)state;
    check_command("command=\"scp -t .\"", "scp -t .");
    check_command("COMMAND=\"a, b\",no-pty", "a, b");
    check_command("no-pty,command=\"tar x \\\"my dir\\\"\"", "tar x \"my dir\"");
    check_command("command=\"a\\b\\\\c\\n\"", "a\\b\\\\c\\n"); /* only quotes are escaped */
    check_command("command=\"\\\\\\\"\"", "\\\\\"");
    check_command("command=\"" KEY "\"", KEY);
    check_command("command=\"\"", "");
    check_command("command=\"#\tx=y\"", "#\tx=y");
    assert_int_equal(parse_options("command=\"a\",command=\"a\""), SSH_AUTHORIZED_REFUSED);
    assert_int_equal(parse_options("command=\"\",Command=\"\""), SSH_AUTHORIZED_REFUSED);
}

static void a_command_is_held_to_its_buffer(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 3);
    assert_int_equal(parse_options("command=\"abcd\""), SSH_AUTHORIZED_KEY);
    assert_int_equal(ssh_authorized_command(&got, &b), -FERRY_ELIMIT);
    buf_done(&b);
}

static void check_expiry(const char *time, int64_t expected)
{
    char option[128];
    snprintf(option, sizeof(option), "expiry-time=\"%s\"", time);
    assert_int_equal(parse_options(option), SSH_AUTHORIZED_KEY);
    assert_true(got.expires_s == expected);
}

static void times_are_utc_with_or_without_its_letter(void **state)
{
    (void)state;
    check_expiry("19700101", 0);
    check_expiry("19700102Z", 86400);
    check_expiry("203001020304", 1893553440);
    check_expiry("203001020304Z", 1893553440);
    check_expiry("20300102030405", 1893553445);
    check_expiry("20300102030405Z", 1893553445);
    check_expiry("20000229", 951782400);
    check_expiry("19691231", -86400);
    check_expiry("99991231", 253402214400);
}

static void of_several_times_the_earliest_counts(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "expiry-time=\"19700102\",expiry-time=\"20300101\"",
        "Expiry-Time=\"20300101\",EXPIRY-TIME=\"19700102\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        assert_int_equal(parse_options(lists[i]), SSH_AUTHORIZED_KEY);
        assert_true(got.expires_s == 86400);
    }
}

static void what_is_no_time_refuses_the_key(void **state)
{
    (void)state;
    static const char *const times[] = {
        "",
        "Z",
        "2030",
        "203001",
        "2030010",
        "2030010100",
        "20300101000",
        "2030010100000",
        "203001010000000",
        "20300101ZZ",
        "20300101z",
        "20300101 ",
        " 20300101",
        "20301301",
        "20300001",
        "20300100",
        "20300230",
        "20010229",
        "203001012400",
        "203001010060",
        "00000101",
        "-2030101",
        "2030-01-01",
        "20300101T0000",
        "+2030101",
        "2030010100 0",
        "+1d",
        "always",
    };
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        char option[128];
        snprintf(option, sizeof(option), "expiry-time=\"%s\"", times[i]);
        assert_int_equal(parse_options(option), SSH_AUTHORIZED_REFUSED);
    }
}

static void from_is_kept_and_checked(void **state)
{
    (void)state;
    assert_int_equal(parse_options("from=\"192.0.2.0/24,!192.0.2.9\",no-pty"),
                     SSH_AUTHORIZED_KEY);
    check_text(got.from, "192.0.2.0/24,!192.0.2.9");
    static const char *const wrong[] = {
        "",
        "192.0.2.1/24",
        "192.0.2.0/33",
        "192.0.2.0/",
        "192.0.2/24",
        "/24",
        "2001:db8::/129",
        "2001:db8::1/64",
        "*,10.0.0.1/8",
        "!10.0.0.1/8,*",
        "10.0.0.0/-8",
        "10.0.0.0/8/8",
        "example.org/24",
        "10.0.0.0/ 8",
        "300.0.0.0/8",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char option[128];
        snprintf(option, sizeof(option), "from=\"%s\"", wrong[i]);
        assert_int_equal(parse_options(option), SSH_AUTHORIZED_REFUSED);
        assert_non_null(strstr(why, "from"));
    }
    assert_int_equal(parse_options("from=\"*\",from=\"*\""), SSH_AUTHORIZED_REFUSED);
}

/* -- addresses -- */

static void addresses_match_as_openssh_does(void **state)
{
    (void)state;

    static const struct {
        const char *list, *address;
        bool matches;
    } cases[] = {
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.10", false},
        {"192.0.2.1", "192.0.2.11", false},
        {"192.0.2.*", "192.0.2.77", true},
        {"192.0.2.?", "192.0.2.7", true},
        {"192.0.2.?", "192.0.2.77", false},
        {"*", "192.0.2.7", true},
        {"*", "2001:db8::1", true},
        {"", "192.0.2.7", false},
        {",", "192.0.2.7", false},
        {"10.1.1.1,192.0.2.7", "192.0.2.7", true},
        {"192.0.2.0/24", "192.0.2.255", true},
        {"192.0.2.0/24", "192.0.3.0", false},
        {"192.0.2.128/25", "192.0.2.127", false},
        {"192.0.2.128/25", "192.0.2.128", true},
        {"192.0.2.1/32", "192.0.2.1", true},
        {"192.0.2.1/32", "192.0.2.0", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "203.0.113.9", false},
        {"::/0", "2001:db8::1", true},
        {"2001:db8::/32", "2001:db8:ffff::1", true},
        {"2001:db8::/32", "2001:db9::1", false},
        {"2001:db8::/33", "2001:db8:8000::", false},
        {"2001:DB8:0::1", "2001:db8::1", true}, /* the same address in other words */
        {"2001:db8::*", "2001:DB8:0:0::77", true},
        {"2001:db8::1/128", "2001:db8::1", true},
        {"2001:db8::1", "2001:db8::2", false},
        {"fe80::1", "fe80::1%eth0", true},
        {"192.0.2.0/24,!192.0.2.9", "192.0.2.8", true},
        {"192.0.2.0/24,!192.0.2.9", "192.0.2.9", false},
        {"!192.0.2.9,192.0.2.0/24", "192.0.2.9", false},
        {"!192.0.2.0/24,*", "192.0.2.9", false},
        {"!192.0.2.0/24,*", "192.0.3.9", true},
        {"!192.0.2.*,*", "192.0.2.9", false},
        {"!192.0.2.9", "192.0.2.8", false}, /* "!" alone lets nobody in */
        {"!", "192.0.2.8", false},
        {"192.0.2.9", "::ffff:192.0.2.9", true}, /* IPv4, however it is said */
        {"!192.0.2.0/24,*", "::ffff:192.0.2.9", false},
        {"!::ffff:192.0.2.9,*", "192.0.2.9", false},
        {"::ffff:192.0.2.0/120", "192.0.2.9", true},
        {"192.0.2.9", "::ffff:c000:209", true},
        {"192.0.2.1/24,*", "192.0.2.1", false}, /* a wrong block spoils its list */
        {"*,!192.0.2.1/24", "203.0.113.9", false},
        {"host.example.org", "192.0.2.9", false},
        {"*", "", false},
        {"*", "host.example.org", false},
        {"*", "192.0.2.9/24", false},
        {"*", "192.0.2", false},
        {" 192.0.2.9", "192.0.2.9", false},
        {"192.0.2.1,,192.0.2.9", "192.0.2.9", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (ssh_from_matches(bytes_str(cases[i].list), cases[i].address) != cases[i].matches)
            fail_msg("from=\"%s\" and %s", cases[i].list, cases[i].address);
}

static void no_pattern_takes_long(void **state)
{
    (void)state;
    char list[SSH_AUTHORIZED_LINE_MAX];
    for (size_t i = 0; i < sizeof(list); i++)
        list[i] = i % 2 == 0 ? '*' : '2';
    assert_false(ssh_from_matches(bytes_of(list, sizeof(list)), "222.222.222.222"));
    assert_false(ssh_from_matches(bytes_of(list, 1001), "222.222.222.222"));
    assert_true(ssh_from_matches(bytes_of(list, 9), "222.222.222.222"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_key_with_its_comment),
        cmocka_unit_test(files_of_openssh_are_lines),
        cmocka_unit_test(blank_lines_and_comments_are_empty),
        cmocka_unit_test(what_is_no_key_is_refused_with_a_reason),
        cmocka_unit_test(a_line_has_no_nul_and_an_end),
        cmocka_unit_test(options_that_change_nothing_are_taken),
        cmocka_unit_test(an_option_that_is_not_known_refuses_its_key),
        cmocka_unit_test(values_stand_between_quotes),
        cmocka_unit_test(a_command_has_its_blanks_commas_and_quotes),
        cmocka_unit_test(a_command_is_held_to_its_buffer),
        cmocka_unit_test(times_are_utc_with_or_without_its_letter),
        cmocka_unit_test(of_several_times_the_earliest_counts),
        cmocka_unit_test(what_is_no_time_refuses_the_key),
        cmocka_unit_test(from_is_kept_and_checked),
        cmocka_unit_test(addresses_match_as_openssh_does),
        cmocka_unit_test(no_pattern_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
