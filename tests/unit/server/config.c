#include "server/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "io/compress.h"

#define HASH "$y$j9T$abcdefgh$0123456789012345678901"

static struct settings s;
static struct refusal why;
static char path[64];

static int setup(void **state)
{
    (void)state;
    strcpy(path, "/tmp/ferry-config-XXXXXX");
    int fd = mkstemp(path);
    close(fd);
    return fd < 0 ? -1 : settings_init(&s);
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    settings_done(&s);
    return 0;
}

static int read_text(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    settings_done(&s);
    assert_int_equal(settings_init(&s), 0);
    return config_read(path, &s, &why);
}

static const char whole[] =
    "state = \"/var/lib/ferryd\"\n"
    "user = \"ferry\"\n"
    "anonymous = true\n"
    "listen \"ftp\" {\n"
    "  address = {\"127.0.0.1:21\", \"[::1]:21\"}\n"
    "  passive_ports = \"50000-50999\"  masquerade = \"203.0.113.7\"\n"
    "}\n"
    "listen \"ssh\" {\n"
    "  address = {\"127.0.0.1:22\"}\n"
    "  nistp256 = true  legacy = true  compression = 9  rekey_bytes = 2G  rekey_time_s = 600\n"
    "}\n"
    "defaults {\n"
    "  root = \"/srv/files/%u\"\n"
    "  rights = {\"list\", \"read\", \"write\"}\n"
    "  quota_bytes = 10G  quota_files = 1000  rate_bytes_per_s = 64K\n"
    "  sync = file  links = in-root  atomic_upload = false  keep_partial = no\n"
    "  sendfile = off\n"
    "}\n"
    "account \"anna\" {\n"
    "  hash = \"" HASH "\"\n"
    "  root = \"/home/anna\"\n"
    "  rights = {\"read\"}\n"
    "  quota_bytes = 1M\n"
    "  rate_bytes_per_s = 0\n"
    "}\n"
    "limits { sessions = 9 per_address = 8 per_account = 7 unauthenticated = 6 }\n"
    "timeouts { login_s = 1 idle_s = 2 stall_s = 3 connect_s = 4 remember_s = 5 }\n"
    "log { format = json transfers = \"/var/log/t.jsonl\" }\n";

static void every_key_reaches_its_setting(void **state)
{
    (void)state;
    assert_int_equal(read_text(whole), 0);
    assert_string_equal(s.state_dir, "/var/lib/ferryd");
    assert_string_equal(s.user, "ferry");
    assert_true(s.anonymous);
    assert_int_equal(s.listener_count, 3);
    assert_int_equal(addr_port(&s.listeners[1].addr), 21);
    assert_int_equal(addr_family(&s.listeners[1].addr), AF_INET6);
    assert_int_equal(s.listeners[1].passive_first, 50000);
    assert_int_equal(s.listeners[1].passive_last, 50999);
    char text[ADDR_TEXT_MAX];
    assert_string_equal(addr_format_host(&s.listeners[0].masquerade, text), "203.0.113.7");
    assert_true(settings_listener_is_ssh(&s.listeners[2]));
    assert_true(s.ssh.nistp256);
    assert_true(s.ssh.legacy);
    assert_int_equal(s.ssh.compression, 9);
    assert_int_equal(s.ssh.rekey_bytes, UINT64_C(2) << 30);
    assert_int_equal(s.ssh.rekey_us, 600 * USEC_PER_S);
    assert_string_equal(s.default_root, "/srv/files/%u");
    assert_int_equal(s.default_rights, RIGHT_LIST | RIGHT_READ | RIGHT_WRITE);
    assert_int_equal(s.default_quota_bytes, UINT64_C(10) << 30);
    assert_int_equal(s.default_quota_files, 1000);
    assert_int_equal(s.default_rate_bytes_per_s, 64 * 1024);
    assert_int_equal(s.vfs.sync, VFS_SYNC_FILE);
    assert_int_equal(s.links, VROOT_IN_ROOT);
    assert_false(s.vfs.atomic_upload);
    assert_false(s.vfs.keep_partial);
    assert_false(s.vfs.sendfile);
    assert_int_equal(s.limits.sessions, 9);
    assert_int_equal(s.limits.per_address, 8);
    assert_int_equal(s.limits.per_account, 7);
    assert_int_equal(s.limits.unauthenticated, 6);
    assert_int_equal(s.timeouts.login_us, 1 * USEC_PER_S);
    assert_int_equal(s.timeouts.idle_us, 2 * USEC_PER_S);
    assert_int_equal(s.timeouts.stall_us, 3 * USEC_PER_S);
    assert_int_equal(s.timeouts.connect_us, 4 * USEC_PER_S);
    assert_int_equal(s.remember_us, 5 * USEC_PER_S);
    assert_int_equal(s.log_format, LOG_JSON);
    assert_string_equal(s.transfers, "/var/log/t.jsonl");
}

static void an_account_has_its_own_values(void **state)
{
    (void)state;
    assert_int_equal(read_text(whole), 0);
    assert_int_equal(s.account_count, 1);
    const struct account_setting *a = &s.accounts[0];
    assert_string_equal(a->name, "anna");
    assert_string_equal(a->hash, HASH);
    assert_string_equal(a->root, "/home/anna");
    assert_int_equal(a->rights, RIGHT_READ);
    assert_int_equal(a->quota_bytes, 1024 * 1024);
    assert_int_equal(a->rate_bytes_per_s, 0);
    assert_true(a->quota_files == SETTING_UNSET);
}

static void an_empty_file_changes_nothing(void **state)
{
    (void)state;
    const struct session_limits limits = s.limits;
    const struct session_timeouts timeouts = s.timeouts;
    const unsigned ban_failures = s.ban_failures;
    const struct ssh_setting ssh = s.ssh;
    assert_int_equal(read_text("# nothing\n"), 0);
    assert_memory_equal(&s.limits, &limits, sizeof(s.limits));
    assert_memory_equal(&s.timeouts, &timeouts, sizeof(s.timeouts));
    assert_true(s.ssh.nistp256 == ssh.nistp256 && s.ssh.legacy == ssh.legacy);
    assert_true(s.ssh.compression == ssh.compression && s.ssh.rekey_bytes == ssh.rekey_bytes);
    assert_true(s.ssh.rekey_us == ssh.rekey_us);
    assert_false(s.ssh.nistp256);
    assert_false(s.ssh.legacy);
    assert_int_equal(s.ssh.compression, COMPRESS_AUTO);
    assert_int_equal(s.ssh.rekey_bytes, 0);
    assert_int_equal(s.ssh.rekey_us, 3600 * USEC_PER_S);
    assert_int_equal(s.default_rights, RIGHTS_DEFAULT);
    assert_int_equal(s.ban_failures, ban_failures);
    assert_true(s.vfs.atomic_upload);
    assert_true(s.vfs.sendfile);
    assert_int_equal(s.account_count, 0);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int line;
        const char *says;
    } refused[] = {
        {"# one\nno_such_key = 1\n", 2, "no_such_key"},
        {"limits {\n sessions = many\n}\n", 2, "'many' is not a number"},
        {"limits {\n\n sessions = -1\n}\n", 3, "'-1' is not a number"},
        {"limits { sessions = 99999999999 }\n", 1, "not a number from 0 to 2147483647"},
        {"timeouts {\n idle_s = 604801 }\n", 2, "idle_s"},
        {"defaults {\n quota_bytes = 10X\n}\n", 2, "'10X' is not a size"},
        {"defaults {\n quota_bytes = 8388608T\n}\n", 2, "'8388608T' is too large"},
        {"defaults {\n quota_bytes = 99999999T\n}\n", 2, "'99999999T' is too large"},
        {"defaults {\n sync = disk\n}\n", 2, "'disk' is neither none nor file"},
        {"defaults {\n links = out\n}\n", 2, "'out' is neither beneath nor in-root"},
        {"defaults {\n rights = {\"read\", \"fly\"}\n}\n", 2, "'fly' is no right"},
        {"defaults {\n rights = {}\n}\n", 3, "the list is empty"},
        {"account \"a\" {\n hash = \"" HASH "\"\n rights = {}\n}\n", 4, "the list is empty"},
        {"listen \"ftp\" {\n address = {\"localhost:21\"}\n}\n", 2, "numeric"},
        {"listen \"ftp\" {\n passive_ports = \"80-90\"\n}\n", 2, "1024"},
        {"listen \"ftp\" {\n passive_ports = \"2000-1999\"\n}\n", 2, "FIRST-LAST"},
        {"listen \"ftp\" {\n masquerade = \"example.org\"\n}\n", 2, "numeric address"},
        {"listen \"ftp\" {\n}\n", 2, "has no address"},
        {"listen \"ssh\" {\n nistp256 = perhaps\n}\n", 2, "nistp256"},
        {"listen \"ssh\" {\n rekey_bytes = 16383\n}\n", 2, "'16383' is neither 0 nor at least"},
        {"listen \"ssh\" {\n rekey_bytes = -1\n}\n", 2, "'-1' is not a size"},
        {"listen \"ssh\" {\n compression = 0\n}\n", 2, "'0' is neither off nor auto nor"},
        {"listen \"ssh\" {\n compression = 10\n}\n", 2, "'10' is neither off nor auto nor"},
        {"listen \"ssh\" {\n compression = yes\n}\n", 2, "'yes' is neither off nor auto"},
        {"listen \"ssh\" {\n rekey_time_s = 604801\n}\n", 2, "rekey_time_s"},
        {"listen \"ftp\" {\n address = {\"127.0.0.1:21\"}\n rekey_time_s = 60\n}\n", 4,
         "rekey_time_s is for listen \"ssh\""},
        {"listen \"ssh\" {\n nistp256 = true\n}\n", 3, "has no address"},
        {"\nlog {\n format = xml\n}\n", 3, "'xml' is neither text nor json"},
        {"account \"anna\" {\n root = \"/\"\n}\n", 3, "either hash or password_file"},
        {"account \"anna\" {\n hash = \"secret\"\n}\n", 2, "no method"},
        {"account \"anna\" {\n hash = \"!\"\n}\n", 2, "no method"},
        {"account \"anna\" {\n hash = \"$y$j9T$...\"\n}\n", 2, "cut off"},
        {"account \"a/b\" {\n password_file = \"/dev/null\"\n}\n", 3, "cannot be the name"},
        {"account \"a\" {\n password_file = \"/dev/null\"\n}\naccount \"a\" {\n password_file "
         "= \"x\"\n}\n",
         4, "a second section \"a\""},
        /* which of the two it is cannot be known */
        {"listen \"ftp\" { }\naccount \"ftp\" { }\naccount \"ftp\" { }\n", 3,
         ": a second section \"ftp\""},
        {"account \"a\" {\n password_file = \"/nonexistent/p\"\n}\n", 3, "/nonexistent/p"},
        {"state = \"x\n", 1, "never closed"},
        {"defaults {\n root = \"srv\"\n}\n", 2, "'srv' is no absolute path"},
        {"defaults {\n root = \"\"\n}\n", 2, "'' is no absolute path"},
        {"defaults {\n root = \"%u\"\n}\n", 2, "'%u' is no absolute path"},
        {"account \"a\" {\n root = \"./srv\"\n}\n", 2, "'./srv' is no absolute path"},
        {"account \"a\" {\n\n password_file = \"p\"\n}\n", 3, "'p' is no absolute path"},
        {"account \"a\" {\n authorized_keys = \"k\"\n}\n", 2, "'k' is no absolute path"},
        {"\nstate = \"s\"\n", 2, "'s' is no absolute path"},
        {"log {\n transfers = \"t\"\n}\n", 2, "'t' is no absolute path"},
        {"listen \"ftp\" { address = {\"127.0.0.1:21\"} }\n"
         "listen \"ftp\" { address = {\"[::1]:21\"} }\n",
         2, "a second section listen \"ftp\": put all addresses into the list of one"},
        /* DESIGN's, not built */
        {"listen \"tar\" {\n address = {\"127.0.0.1:22\"}\n}\n", 3, "\"tar\": not built"},
        {"listen \"ftp\" {\n tls = allow\n}\n", 2, "tls: not built"},
        {"tls {\n cleartext = local\n}\n", 3, "tls: not built"},
        {"accounts {\n store = \"sqlite\"\n}\n", 3, "accounts: not built"},
        {"accounts { }\n", 1, "accounts: not built"},
        {"log {\n xferlog = \"/x\"\n}\n", 2, "xferlog: not built"},
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(read_text(refused[i].text), -EINVAL);
        char place[96];
        snprintf(place, sizeof(place), "%s:%d: ", path, refused[i].line);
        if (strncmp(why.text, place, strlen(place)) != 0 ||
            strstr(why.text, refused[i].says) == NULL)
            fail_msg("%s: %s", refused[i].text, why.text);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    assert_int_equal(config_read("/nonexistent/ferryd.conf", &s, &why), -EINVAL);
    assert_non_null(strstr(why.text, "/nonexistent/ferryd.conf"));
}

static void an_ipv6_address_can_be_the_masquerade(void **state)
{
    (void)state;
    assert_int_equal(read_text("listen \"ftp\" { address = {\"[::1]:21\"} "
                               "masquerade = \"2001:db8::7\" }\n"),
                     0);
    char text[ADDR_TEXT_MAX];
    assert_non_null(strstr(addr_format_host(&s.listeners[0].masquerade, text), "2001:db8::7"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_key_reaches_its_setting),     TEST(an_account_has_its_own_values),
        TEST(an_empty_file_changes_nothing),     TEST(what_is_wrong_is_named_with_its_line),
        TEST(a_file_that_is_not_there_is_named), TEST(an_ipv6_address_can_be_the_masquerade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
