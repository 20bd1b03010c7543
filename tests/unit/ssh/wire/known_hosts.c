#include "ssh/wire/known_hosts.h"

#include <errno.h>

#include "base/fault.h"
#include "ssh_files.h"

#define ED  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW"
#define ED2 "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDp2eU1yBLu2FIw8/5zGLN4/z4zUgUy5pmIri02ApeQw"
#define RSA "ssh-rsa AAAAB3NzaC1yc2EAAAAB" /* a type and what is not looked at */
#define EC                                                                                     \
    "ecdsa-sha2-nistp256 "                                                                     \
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBZ5vv+fYwBV+wiuHn7p8QjiKgVWgropgVa"  \
    "lo4LtxMcX7zCMVYZn/qImWvSYN+ScmbwC6YPFWo9OPNVvu9ZMrEw="

static unsigned line;

static int teardown(void **state)
{
    (void)state;
    files_done();
    return 0;
}

/* What the file says of the key ED. */
static enum ssh_known find_in(struct bytes file, const char *host, uint16_t port)
{
    enum ssh_known known;
    line = 99;
    assert_int_equal(
        ssh_known_hosts_find(file, bytes_str(host), port, file_blob("ed25519"), &known, &line),
        0);
    files_done();
    return known;
}

static enum ssh_known find(const char *file, const char *host, uint16_t port)
{
    return find_in(bytes_str(file), host, port);
}

/* -- hosts -- */

static void hosts_match_by_name_address_and_port(void **state)
{
    (void)state;

    static const struct {
        const char *hosts, *host;
        uint16_t port;
        bool matches;
    } cases[] = {
        {"host.example.org", "host.example.org", 22, true},
        {"host.example.org", "HOST.Example.org", 22, true},
        {"Host.Example.Org", "host.example.org", 22, true},
        {"host.example.org", "host.example.or", 22, false},
        {"host.example.org", "ahost.example.org", 22, false},
        {"host.example.org", "host.example.org", 2222, false},
        {"[host.example.org]:2222", "host.example.org", 2222, true},
        {"[host.example.org]:2222", "host.example.org", 22, false},
        {"[host.example.org]:2222", "host.example.org", 222, false},
        {"[host.example.org]:22", "host.example.org", 22, false},
        {"host,192.0.2.7", "192.0.2.7", 22, true},
        {"host,192.0.2.7", "host", 22, true},
        {"host,192.0.2.7", "host,192.0.2.7", 22, false},
        {"2001:db8::7", "2001:db8::7", 22, true},
        {"[2001:db8::7]:65535", "2001:DB8::7", 65535, true},
        {"*.example.org", "a.b.example.org", 22, true},
        {"*.example.org", "example.org", 22, false},
        {"host?", "host1", 22, true},
        {"host?", "host", 22, false},
        {"[*.example.org]:*", "a.example.org", 2222, true},
        {"*", "anything", 2222, true},
        {"!bad.example.org,*.example.org", "bad.example.org", 22, false},
        {"*.example.org,!bad.example.org", "bad.example.org", 22, false},
        {"*.example.org,!bad.example.org", "good.example.org", 22, true},
        {"!bad.example.org", "good.example.org", 22, false},
        {"host", "", 22, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char file[512];
        snprintf(file, sizeof(file), "%s %s\n", cases[i].hosts, ED);
        enum ssh_known known = find(file, cases[i].host, cases[i].port);
        if (known != (cases[i].matches ? SSH_KNOWN_MATCH : SSH_KNOWN_UNKNOWN))
            fail_msg("%s and %s port %u", cases[i].hosts, cases[i].host, cases[i].port);
    }
}

static void hashed_hosts_of_openssh_are_found(void **state)
{
    (void)state;
    assert_int_equal(find_in(file_read("known_hosts", ""), "host.example.org", 22),
                     SSH_KNOWN_MATCH);
    assert_int_equal(line, 1);
    assert_int_equal(find_in(file_read("known_hosts", ""), "Host.Example.ORG", 22),
                     SSH_KNOWN_MATCH);
    assert_int_equal(find_in(file_read("known_hosts", ""), "192.0.2.7", 22), SSH_KNOWN_MATCH);
    assert_int_equal(line, 2);
    assert_int_equal(find_in(file_read("known_hosts", ""), "port.example.org", 2222),
                     SSH_KNOWN_OTHER_TYPE);
    assert_int_equal(line, 3);
    assert_int_equal(find_in(file_read("known_hosts", ""), "port.example.org", 22),
                     SSH_KNOWN_UNKNOWN);
    assert_int_equal(find_in(file_read("known_hosts", ""), "host.example.or", 22),
                     SSH_KNOWN_UNKNOWN);
    assert_int_equal(line, 0);
    assert_int_equal(ssh_known_hosts_types(file_read("known_hosts", ""),
                                           BYTES_LIT("port.example.org"), 2222),
                     1u << CRYPTO_ECDSA_P256);
}

static void a_broken_hash_is_passed_over(void **state)
{
    (void)state;
    static const char *const hosts[] = {
        "|1|",
        "|1||",
        "|1|QOFjoTcAVLboeUxdwI8jrhW7MxA=",
        "|1|QOFjoTcAVLboeUxdwI8jrhW7MxA=|",
        "|1|QOFjoTcAVLboeUxdwI8jrhW7MxA|3Sc3fqowcBA3ik+MBhmJlSYp5qk=",
        "|1|QOFjoTcAVLboeUxdwI8jrhW7MxA=|3Sc3fqowcBA3ik+MBhmJlSYp5q==",
        "|1|QOFjoTcAVLboeUxdwI8jrhW7MxA=|3Sc3fqowcBA3ik+MBhmJlSYp5qk=|",
        "|1|QOFjoTcAVLboeUxdwI8jrhW7MxA=|3Sc3fqowcBA3ik+MBhmJlSYp5qk=,host",
        "|1|AAAA|3Sc3fqowcBA3ik+MBhmJlSYp5qk=",
        "|2|QOFjoTcAVLboeUxdwI8jrhW7MxA=|AAAA",
    };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        char file[512];
        snprintf(file, sizeof(file), "%s %s\n", hosts[i], ED);
        assert_int_equal(find(file, "host.example.org", 22), SSH_KNOWN_UNKNOWN);
        assert_int_equal(find(file, "host", 22), SSH_KNOWN_UNKNOWN);
    }
}

/* -- keys -- */

static void the_worst_line_counts(void **state)
{
    (void)state;

    static const struct {
        const char *file;
        enum ssh_known known;
        unsigned line;
    } cases[] = {
        {"", SSH_KNOWN_UNKNOWN, 0},
        {"other " ED "\n", SSH_KNOWN_UNKNOWN, 0},
        {"h " ED "\n", SSH_KNOWN_MATCH, 1},
        {"h " ED2 "\n", SSH_KNOWN_OTHER, 1},
        {"h " EC "\n", SSH_KNOWN_OTHER_TYPE, 1},
        {"h " RSA "\n", SSH_KNOWN_OTHER_TYPE, 1},
        {"h " EC "\nh " ED2 "\nh " ED "\n", SSH_KNOWN_MATCH, 3},
        {"h " ED "\nh " ED2 "\nh " EC "\n", SSH_KNOWN_MATCH, 1},
        {"h " EC "\nh " ED2 "\n", SSH_KNOWN_OTHER, 2},
        {"h " ED2 "\nh " ED2 "\n", SSH_KNOWN_OTHER, 1},
        {"h " ED "\n@revoked h " ED "\n", SSH_KNOWN_REVOKED, 2},
        {"@revoked * " ED "\nh " ED "\n", SSH_KNOWN_REVOKED, 1},
        {"h " ED "\n@revoked other " ED "\n", SSH_KNOWN_MATCH, 1},
        {"h " ED "\n@revoked h " ED2 "\n", SSH_KNOWN_MATCH, 1},
        {"@revoked h " ED2 "\n", SSH_KNOWN_UNKNOWN, 0},
        {"@revoked h " EC "\n", SSH_KNOWN_UNKNOWN, 0},
        {"@cert-authority * " ED "\n", SSH_KNOWN_UNKNOWN, 0},
        {"@cert-authority h " ED2 "\n", SSH_KNOWN_UNKNOWN, 0},
        {"@other h " ED "\n", SSH_KNOWN_UNKNOWN, 0},
        {"@REVOKED h " ED "\n", SSH_KNOWN_UNKNOWN, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (find(cases[i].file, "h", 22) != cases[i].known || line != cases[i].line)
            fail_msg("%s", cases[i].file);
    }
}

static void lines_have_blanks_comments_and_any_end(void **state)
{
    (void)state;
    assert_int_equal(find("# comment\n\n  \t\n \th\t" ED "\tcomment # x\n", "h", 22),
                     SSH_KNOWN_MATCH);
    assert_int_equal(line, 4);
    assert_int_equal(find("h " ED "\r\nx", "h", 22), SSH_KNOWN_MATCH);
    assert_int_equal(find("h " ED, "h", 22), SSH_KNOWN_MATCH);
    assert_int_equal(find(" @revoked\t h \t" ED, "h", 22), SSH_KNOWN_REVOKED);
    assert_int_equal(find("#h " ED "\n", "#h", 22), SSH_KNOWN_UNKNOWN);
}

static void lines_that_cannot_be_read_are_passed_over(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "h",
        "h ",
        "h ssh-ed25519",
        "h ssh-ed25519 ",
        "h ssh-ed25519 AAAA",
        "h ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGy",
        "h ssh-ed25519 =AAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW",
        "h ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW",
        "h AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW",
        "@revoked",
        "@revoked ",
        ("@revoked " ED),
        "@",
        "\x80\xff",
        "h 1024 65537 12345", /* of SSH 1 */
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char file[512];
        assert_int_equal(find(lines[i], "h", 22), SSH_KNOWN_UNKNOWN);
        snprintf(file, sizeof(file), "%s\nh %s\n", lines[i], ED);
        assert_int_equal(find(file, "h", 22), SSH_KNOWN_MATCH);
        assert_int_equal(line, 2);
    }
}

static void a_nul_spoils_its_line_alone(void **state)
{
    (void)state;
    static const char file[] = "h\0 " ED "\nh " ED " \0\n\0\nx\nh " ED "\n";
    assert_int_equal(find_in(bytes_of(file, sizeof(file) - 1), "h", 22), SSH_KNOWN_MATCH);
    assert_int_equal(line, 5);
}

static void lines_of_any_length_are_read(void **state)
{
    (void)state;
    struct buf *b = file_new();
    for (unsigned i = 0; i < 20000; i++)
        assert_int_equal(buf_append_str(b, "other.example.org,"), 0);
    assert_int_equal(buf_append_str(b, "h " ED " "), 0);
    for (unsigned i = 0; i < 100000; i++)
        assert_int_equal(buf_append_byte(b, 'x'), 0);
    assert_int_equal(buf_append_str(b, "\n*"), 0);
    for (unsigned i = 0; i < 100000; i++) /* a pattern that is too long */
        assert_int_equal(buf_append_byte(b, '*'), 0);
    assert_int_equal(buf_append_str(b, " " ED "\n"), 0);
    struct bytes key = file_blob("ed25519");
    enum ssh_known known;
    assert_int_equal(ssh_known_hosts_find(buf_bytes(b), BYTES_LIT("h"), 22, key, &known, &line),
                     0);
    assert_int_equal(known, SSH_KNOWN_MATCH);
    assert_int_equal(line, 1);
    assert_int_equal(
        ssh_known_hosts_find(buf_bytes(b), BYTES_LIT("any"), 22, key, &known, &line), 0);
    assert_int_equal(known, SSH_KNOWN_UNKNOWN);
}

static void every_cut_of_a_file_is_read(void **state)
{
    (void)state;
    static const char text[] = "# x\n@revoked *,!h " ED2 "\n|1|QOFjoTcAVLboeUxdwI8jrhW7MxA=|"
                               "3Sc3fqowcBA3ik+MBhmJlSYp5qk= " ED "\n[h]:22,h " ED " c\n";
    struct bytes key = file_blob("ed25519");
    for (size_t len = 0; len < sizeof(text); len++) {
        enum ssh_known known;
        uint8_t *copy = malloc(len + 1);
        memcpy(copy, text, len);
        assert_int_equal(
            ssh_known_hosts_find(bytes_of(copy, len), BYTES_LIT("h"), 22, key, &known, &line),
            0);
        assert_int_equal(known == SSH_KNOWN_MATCH, len > sizeof(text) - 5);
        assert_int_not_equal(known, SSH_KNOWN_REVOKED);
        free(copy);
    }
}

static void a_host_has_a_bound(void **state)
{
    (void)state;
    char host[SSH_HOST_MAX + 1];
    enum ssh_known known;
    struct bytes key = file_blob("ed25519");
    struct buf *out = file_new();
    memset(host, 'a', sizeof(host));
    struct bytes just = bytes_of(host, SSH_HOST_MAX), over = bytes_of(host, sizeof(host));
    struct bytes file = BYTES_LIT("* " ED "\n");
    assert_int_equal(ssh_known_hosts_find(file, just, 65535, key, &known, &line), 0);
    assert_int_equal(known, SSH_KNOWN_MATCH);
    assert_int_equal(ssh_known_hosts_find(file, over, 22, key, &known, &line), -FERRY_ELIMIT);
    assert_int_equal(ssh_known_hosts_types(file, just, 65535), 1u << CRYPTO_ED25519);
    assert_int_equal(ssh_known_hosts_types(file, over, 22), 0);
    assert_int_equal(ssh_known_hosts_line(over, 22, key, out), -FERRY_ELIMIT);
}

/* -- the rest -- */

static void types_of_a_host_are_those_that_may_be_shown(void **state)
{
    (void)state;
    struct bytes file = BYTES_LIT("h " RSA "\nh " ED "\nx " EC "\n@revoked h " EC
                                  "\n@cert-authority h " EC "\nh ssh-dss AAAA\nh\n");
    assert_int_equal(ssh_known_hosts_types(file, BYTES_LIT("h"), 22),
                     1u << CRYPTO_RSA | 1u << CRYPTO_ED25519);
    assert_int_equal(ssh_known_hosts_types(file, BYTES_LIT("x"), 22), 1u << CRYPTO_ECDSA_P256);
    assert_int_equal(ssh_known_hosts_types(file, BYTES_LIT("y"), 22), 0);
}

static void a_line_that_is_written_is_found(void **state)
{
    (void)state;

    static const struct {
        const char *host;
        uint16_t port;
        const char *expected;
    } cases[] = {
        {"host.example.org", 22, "host.example.org " ED "\n"},
        {"Host.Example.org", 2222, "[host.example.org]:2222 " ED "\n"},
        {"2001:db8::1", 22, "2001:db8::1 " ED "\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b;
        buf_init(&b, 1024);
        assert_int_equal(ssh_known_hosts_line(bytes_str(cases[i].host), cases[i].port,
                                              file_blob("ed25519"), &b),
                         0);
        assert_true(bytes_equal(buf_bytes(&b), bytes_str(cases[i].expected)));
        assert_int_equal(find_in(buf_bytes(&b), cases[i].host, cases[i].port), SSH_KNOWN_MATCH);
        buf_done(&b);
    }
}

static void no_line_is_written_for_what_is_no_host(void **state)
{
    (void)state;
    static const char *const hosts[] = {"",  "a b",  "a\nb", "a,b", "*",  "h?",   "!h",
                                        "#", "|1|a", "@h",   "[h]", "\t", "h\x7f"};
    struct buf *out = file_new();
    struct bytes key = file_blob("ed25519");
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        assert_int_equal(ssh_known_hosts_line(bytes_str(hosts[i]), 22, key, out), -EINVAL);
    assert_int_equal(ssh_known_hosts_line(BYTES_LIT("h\0"), 22, key, out), -EINVAL);
    assert_int_equal(ssh_known_hosts_line(BYTES_LIT("h"), 22, BYTES_LIT("x"), out), -EINVAL);
    assert_int_equal(out->len, 0);
}

static void without_memory_no_host_passes_for_unknown(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    struct bytes key = file_blob("ed25519"), file = file_read("known_hosts", "");
    int r = -ENOMEM;
    for (unsigned n = 1; n < 100 && r != 0; n++) {
        enum ssh_known known = SSH_KNOWN_UNKNOWN;
        fault_arm(FAULT_ALLOC, n);
        r = ssh_known_hosts_find(file, BYTES_LIT("host.example.org"), 22, key, &known, &line);
        assert_true(r == -ENOMEM || known == SSH_KNOWN_MATCH);
    }
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(r, 0);
#else
    skip();
#endif
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(hosts_match_by_name_address_and_port),
        TEST(hashed_hosts_of_openssh_are_found),
        TEST(a_broken_hash_is_passed_over),
        TEST(the_worst_line_counts),
        TEST(lines_have_blanks_comments_and_any_end),
        TEST(lines_that_cannot_be_read_are_passed_over),
        TEST(a_nul_spoils_its_line_alone),
        TEST(lines_of_any_length_are_read),
        TEST(every_cut_of_a_file_is_read),
        TEST(a_host_has_a_bound),
        TEST(types_of_a_host_are_those_that_may_be_shown),
        TEST(a_line_that_is_written_is_found),
        TEST(no_line_is_written_for_what_is_no_host),
        TEST(without_memory_no_host_passes_for_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
