#include "client/place/ssh_config.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"

static const struct ssh_config_who who = {
    .alias = "web1", .local_user = "me", .home = "/home/me", .remote_user = "ann"};

static char why[SSH_CONFIG_WHY_MAX];

/* "one" is a file with a Port; "loop" includes itself. */
static int include(void *arg, struct ssh_config *c, const char *pattern, unsigned depth)
{
    bool is_loop = strcmp(pattern, "loop") == 0;
    return ssh_config_read(c, bytes_str(is_loop ? "Include loop\n" : "Port 77\n"), pattern,
                           depth, include, arg, why);
}

static int parse(struct ssh_config *c, const char *text)
{
    why[0] = '\0';
    ssh_config_init(c, &who);
    return ssh_config_read(c, bytes_str(text), "f", 0, include, NULL, why);
}

static void the_first_value_rules(void **state)
{
    struct ssh_config c;
    (void)state;
    assert_int_equal(parse(&c, "Port 1\nport=2\nUser a\nUSER b\nHostName = x\nHostName y\n"),
                     0);
    assert_int_equal(c.port, 1);
    assert_string_equal(c.user, "a");
    assert_string_equal(c.host_name, "x");
    ssh_config_done(&c);
}

static void blocks_apply_to_the_hosts_that_they_name(void **state)
{
    static const struct {
        const char *text;
        unsigned port;
    } rows[] = {
        {"Host web1\nPort 5", 5},
        {"Host web*\nPort 5", 5},
        {"Host WEB1\nPort 5", 0},
        {"Host web?\nPort 5", 5},
        {"Host other\nPort 5", 0},
        {"Host other\nPort 5\nHost *\nPort 6", 6},
        {"Host other web1\nPort 5", 5},
        {"Host * !web1\nPort 5", 0},
        {"Host !web1 *\nPort 5", 0},
        {"Host !web2 *\nPort 5", 5},
        {"Host !web2\nPort 5", 0},
        {"Host \"web1\"\nPort 5", 5},
        {"Match all\nPort 5", 5},
        {"Match host web*,x\nPort 5", 5},
        {"Match host !web1,*\nPort 5", 0},
        {"HostName real\nMatch host real\nPort 5", 5},
        {"HostName real\nMatch host web1\nPort 5", 0},
        {"Match user ann\nPort 5", 0},
        {"Match host web1 exec true\nPort 5", 0},
        {"Match exec \"touch /tmp/x\"\nPort 5\nHost *\nPort 6", 6},
        {"Host other\nInclude one\nHost *\nPort 6", 6},
        {"Include one", 77},
        {"Host other\nPort nonsense", 0},
        {"# Port 5\n\n  \t\nPort 6 # seven", 6},
        {"Port 5\r\n", 5},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_config c;
        int r = parse(&c, rows[i].text);
        if (r != 0 || c.port != rows[i].port)
            fail_msg("%s: %d, %u, %s", rows[i].text, r, c.port, why);
        ssh_config_done(&c);
    }
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    static const char *const rows[] = {
        "\nPort x",
        "\nPort 0",
        "\nPort 65536",
        "\nPort",
        "\nPort 1 2",
        "\nCompression 5",
        "\nHost",
        "\nMatch",
        "\nInclude loop",
        "\nHostName %q",
        "\nConnectTimeout x",
        "\nProxyJump",
        "\nMatch host",
        "\nUser",
        "\nStrictHostKeyChecking maybe",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_config c;
        int r = parse(&c, rows[i]);
        if (r != -EINVAL || strstr(why, "line ") == NULL)
            fail_msg("%s: %d, %s", rows[i], r, why);
        ssh_config_done(&c);
    }
}

static void all_that_is_known_is_kept(void **state)
{
    struct ssh_config c;
    char *path;
    (void)state;
    assert_int_equal(parse(&c, "HostName %h.example.org\n"
                               "IdentityFile ~/.ssh/%r@%h-%n\nIdentityFile \"%d/a b\"\n"
                               "IdentitiesOnly yes\nCompression no\nCiphers ^aes128-ctr\n"
                               "UserKnownHostsFile /a ~/b\nStrictHostKeyChecking accept-new\n"
                               "HashKnownHosts yes\nConnectTimeout 9\nForwardX11 yes\n"
                               "ProxyCommand none\nProxyJump x\n"),
                     0);
    assert_string_equal(c.host_name, "web1.example.org");
    assert_int_equal(c.identity_count, 2);
    assert_int_equal(ssh_config_expand(&c, c.identities[0], &path), 0);
    assert_string_equal(path, "/home/me/.ssh/ann@web1.example.org-web1");
    mem_free(path);
    assert_int_equal(ssh_config_expand(&c, c.identities[1], &path), 0);
    assert_string_equal(path, "/home/me/a b");
    mem_free(path);
    assert_int_equal(ssh_config_expand(&c, "%%%u%p", &path), 0);
    assert_string_equal(path, "%me22");
    mem_free(path);
    assert_int_equal(ssh_config_expand(&c, "%", &path), -EINVAL);
    assert_int_equal(c.identities_only, SSH_FLAG_YES);
    assert_int_equal(c.compression, SSH_FLAG_NO);
    assert_string_equal(c.ciphers, "^aes128-ctr");
    assert_int_equal(c.known_hosts_count, 2);
    assert_int_equal(c.strict, SSH_STRICT_ACCEPT_NEW);
    assert_int_equal(c.hash_known_hosts, SSH_FLAG_YES);
    assert_int_equal(c.connect_s, 9);
    assert_false(c.has_proxy);
    assert_true(buf_append_byte(&c.notes, '\0') == 0 &&
                strstr((char *)c.notes.data, "ForwardX11") != NULL);
    ssh_config_done(&c);
    assert_int_equal(parse(&c, "Host web1\nProxyJump x\n"), 0);
    assert_true(c.has_proxy);
    ssh_config_done(&c);
}

static void is_told_when_there_is_no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 12; n++) {
        struct ssh_config c;
        fault_arm(FAULT_ALLOC, n);
        int r = parse(&c, "HostName %h\nUser a\nIdentityFile b\nUserKnownHostsFile c\n");
        assert_true(r == 0 || r == -ENOMEM);
        ssh_config_done(&c);
    }
    fault_arm(FAULT_ALLOC, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_value_rules),
        cmocka_unit_test(blocks_apply_to_the_hosts_that_they_name),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(all_that_is_known_is_kept),
        cmocka_unit_test(is_told_when_there_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
