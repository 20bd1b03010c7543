#include "server/ssh_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/limits.h"
#include "base/log.h"
#include "check.h"
#include "ssh/wire/authorized_keys.h"
#include "ssh/wire/key_file.h"

#define ED25519 "ssh_host_ed25519_key"
#define RSA     "ssh_host_rsa_key"
#define ECDSA   "ssh_host_ecdsa_key"
#define DATA    "tests/data/ssh/"

static char base[64], path[128], logged[16384];
static int dir;
static struct refusal why;
static const struct ssh_setting plain, with_nistp256 = {.nistp256 = true};
static struct account *account;

static void note(const char *line, size_t len)
{
    size_t have = strlen(logged);
    assert_true(have + len < sizeof(logged));
    memcpy(logged + have, line, len);
    logged[have + len] = '\0';
}

static int setup(void **state)
{
    (void)state;
    strcpy(base, "/tmp/ferry-ssh-keys-XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/authorized_keys", base);
    dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    logged[0] = '\0';
    why.text[0] = '\0';
    log_setup(LOG_TEXT, LOG_INFO, note);
    return account_new(BYTES_LIT("user"), &account);
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {ED25519, RSA, ECDSA, "authorized_keys",
                                        "ssh_host_key.new"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlinkat(dir, names[i], 0);
    close(dir);
    account_unref(account);
    log_setup(LOG_TEXT, LOG_INFO, NULL);
    return rmdir(base);
}

static void write_file(const char *name, const void *data, size_t len)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), len);
    close(fd);
}

static void copy_file(const char *from, const char *name)
{
    char data[8192];
    FILE *f = fopen(from, "rbe");
    assert_non_null(f);
    size_t len = fread(data, 1, sizeof(data), f);
    fclose(f);
    write_file(name, data, len);
}

/* RSA keys take their time to make: who is not about that starts with both. */
static void copy_host_keys(void)
{
    copy_file(DATA "ed25519", ED25519);
    copy_file(DATA "rsa3072", RSA);
}

/* -- host keys -- */

static void check_refused(const char *reason)
{
    struct ssh_host_keys keys;
    assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), -EINVAL);
    if (strstr(why.text, reason) == NULL)
        fail_msg("%s, not %s", why.text, reason);
}

static void the_first_start_makes_both_for_us_alone(void **state)
{
    (void)state;
    struct ssh_host_keys keys, again;
    static const char *const names[] = {ED25519, RSA};
    write_file("ssh_host_key.new", "left", 4); /* by a start that was interrupted */
    assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), 0);
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.names, "ssh-ed25519,rsa-sha2-512,rsa-sha2-256");
    for (unsigned i = 0; i < 2; i++) {
        struct stat st;
        assert_true(crypto_key_is_private(keys.keys[i]));
        assert_int_equal(fstatat(dir, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_int_equal(st.st_mode, S_IFREG | 0600);
        assert_non_null(strstr(logged, names[i]));
    }
    assert_int_equal(crypto_key_public(keys.keys[1]).n.len, CRYPTO_RSA_BITS_OWN / 8);
    assert_int_equal(faccessat(dir, "ssh_host_key.new", F_OK, 0), -1);
    assert_non_null(strstr(logged, "SHA256:"));
    const char *before = strstr(logged, "host_keys_making"), *made = strstr(logged, RSA);
    assert_non_null(before);
    assert_true(before < made);

    logged[0] = '\0';
    assert_int_equal(ssh_host_keys_load(dir, &plain, &again, &why), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_true(crypto_key_equal(keys.keys[i], again.keys[i]));
    assert_string_equal(logged, "");
    ssh_host_keys_done(&keys);
    ssh_host_keys_done(&again);
}

static void ecdsa_and_sha_1_are_there_by_setting_alone(void **state)
{
    (void)state;
    struct ssh_host_keys keys, again;
    copy_host_keys();
    assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), 0);
    assert_int_equal(faccessat(dir, ECDSA, F_OK, 0), -1);
    ssh_host_keys_done(&keys);

    assert_int_equal(ssh_host_keys_load(dir, &with_nistp256, &keys, &why), 0);
    assert_string_equal(keys.names,
                        "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256");
    struct crypto_key *made = ssh_host_keys_find(&keys, BYTES_LIT("ecdsa-sha2-nistp256"));
    assert_non_null(made);
    assert_non_null(strstr(logged, ECDSA));
    assert_int_equal(ssh_host_keys_load(dir, &with_nistp256, &again, &why), 0);
    assert_true(
        crypto_key_equal(made, ssh_host_keys_find(&again, BYTES_LIT("ecdsa-sha2-nistp256"))));
    ssh_host_keys_done(&again);

    const struct ssh_setting legacy = {.legacy = true}; /* and RSA's with SHA-1 */
    assert_null(ssh_host_keys_find(&keys, BYTES_LIT("ssh-rsa")));
    assert_int_equal(ssh_host_keys_load(dir, &legacy, &again, &why), 0);
    assert_string_equal(again.names, "ssh-ed25519,rsa-sha2-512,rsa-sha2-256,ssh-rsa");
    assert_non_null(ssh_host_keys_find(&again, BYTES_LIT("ssh-rsa")));
    ssh_host_keys_done(&keys);
    ssh_host_keys_done(&again);

    /* it is no reason not to start when nobody would use it */
    assert_int_equal(fchmodat(dir, ECDSA, 0644, 0), 0);
    assert_int_equal(ssh_host_keys_load(dir, &with_nistp256, &keys, &why), -EINVAL);
    assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), 0);
    assert_null(ssh_host_keys_find(&keys, BYTES_LIT("ecdsa-sha2-nistp256")));
    ssh_host_keys_done(&keys);
}

static void one_that_others_can_use_is_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601, 0644};
    copy_host_keys();
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        assert_int_equal(fchmodat(dir, RSA, modes[i], 0), 0);
        check_refused(RSA ": others can use it");
    }
    struct ssh_host_keys keys;
    assert_int_equal(fchmodat(dir, RSA, 0400, 0), 0);
    assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), 0);
    ssh_host_keys_done(&keys);
}

static void one_of_another_user_is_refused_but_for_the_directorys_owner(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct ssh_host_keys keys;
    copy_host_keys();
    assert_int_equal(fchownat(dir, ED25519, 65533, 65533, 0), 0);
    check_refused(ED25519 ": it belongs to another user");
    assert_int_equal(fchown(dir, 65533, 65533), 0);
    assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), 0);
    ssh_host_keys_done(&keys);
}

static void what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    copy_host_keys();
    assert_int_equal(renameat(dir, RSA, dir, "authorized_keys"), 0);
    assert_int_equal(symlinkat("authorized_keys", dir, RSA), 0);
    check_refused(RSA ": no regular file");
    assert_int_equal(unlinkat(dir, RSA, 0), 0);
    assert_int_equal(mkfifoat(dir, RSA, 0600), 0);
    check_refused(RSA ": no regular file");
    assert_int_equal(unlinkat(dir, RSA, 0), 0);
    assert_int_equal(mkdirat(dir, RSA, 0700), 0);
    check_refused(RSA ": no regular file");
    assert_int_equal(unlinkat(dir, RSA, AT_REMOVEDIR), 0);
}

static void what_is_no_such_key_is_refused_and_kept(void **state)
{
    (void)state;
    static uint8_t large[SSH_KEY_FILE_MAX + 1];
    struct stat st;
    copy_host_keys();
    copy_file(DATA "ed25519.pub", ED25519);
    check_refused(ED25519 ": no private key");
    copy_file(DATA "ecdsa", ED25519);
    check_refused(ED25519 ": no private key of this kind");
    copy_file(DATA "ed25519-encrypted", ED25519);
    check_refused(ED25519 ": it is encrypted");
    copy_file(DATA "ecdsa-sec1-encrypted", ED25519);
    check_refused(ED25519 ": it is encrypted");
    write_file(ED25519, large, sizeof(large));
    check_refused(ED25519 ": no private key");
    write_file(ED25519, "", 0);
    check_refused(ED25519 ": no private key");
    assert_int_equal(fstatat(dir, ED25519, &st, 0), 0);
    assert_int_equal(st.st_size, 0);
}

static void a_start_that_fails_leaves_no_half_of_a_key(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    static const enum fault_kind kinds[] = {FAULT_SYSCALL, FAULT_ALLOC};

    copy_file(DATA "rsa3072", RSA);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct ssh_host_keys keys;
        bool was_hit = true;
        for (unsigned n = 1; n < 200 && was_hit; n++) {
            unlinkat(dir, ED25519, 0);
            fault_arm(kinds[i], n);
            int r = ssh_host_keys_load(dir, &plain, &keys, &why);
            was_hit = fault_count(kinds[i]) >= n;
            fault_arm(kinds[i], 0);
            assert_int_equal(r, was_hit ? -EINVAL : 0);
            if (was_hit)
                assert_int_equal(ssh_host_keys_load(dir, &plain, &keys, &why), 0);
            ssh_host_keys_done(&keys);
        }
        assert_false(was_hit);
    }
#else
    skip();
#endif
}

/* -- keys that let in -- */

static void keys_of_a_file_become_the_accounts(void **state)
{
    (void)state;
    static const char text[] =
        "# keys\n\n"
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW a\n"
        "from=\"192.0.2.*,!192.0.2.9\",command=\"scp -t \\\"a b\\\"\",expiry-time=\"19700102\" "
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW\r\n"
        "command=\"\" "
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW";
    write_file("authorized_keys", text, sizeof(text) - 1);
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
    assert_int_equal(account->key_count, 3);
    const struct account_key *k = account->keys;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(k[i].blob_len, 51);
        assert_memory_equal(k[i].blob, "\0\0\0\x0bssh-ed25519\0\0\0\x20\xa4\x11\xf7", 22);
    }
    assert_null(k[0].from);
    assert_null(k[0].command);
    assert_true(k[0].expires_s == INT64_MAX);
    assert_string_equal(k[1].from, "192.0.2.*,!192.0.2.9");
    assert_string_equal(k[1].command, "scp -t \"a b\"");
    assert_true(k[1].expires_s == 86400);
    assert_string_equal(k[2].command, ""); /* which is not the same as none */
    assert_string_equal(logged, "");
}

static void keys_of_openssh_are_taken(void **state)
{
    (void)state;
    static const char *const files[] = {DATA "ed25519.pub", DATA "ecdsa.pub",
                                        DATA "rsa2048.pub", DATA "rsa3072.pub"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        copy_file(files[i], "authorized_keys"); /* others may read it */
        assert_int_equal(fchmodat(dir, "authorized_keys", 0644, 0), 0);
        assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
        assert_int_equal(account->key_count, i + 1);
    }
}

static void a_line_that_is_refused_is_named_and_lets_nobody_in(void **state)
{
    (void)state;
    static const char text[] =
        "\nverify-required ssh-ed25519 "
        "AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW\n"
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGy=\n"
        "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW\n"
        "ssh-ed25519 !!!!\n"
        "garbage\n"
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW\n";
    write_file("authorized_keys", text, sizeof(text) - 1);
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
    assert_int_equal(account->key_count, 1);
    static const char *const lines[] = {"line=2 ", "line=3 ", "line=4 ", "line=5 ", "line=6 "};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_non_null(strstr(logged, lines[i]));
    assert_null(strstr(logged, "line=7"));
    assert_non_null(strstr(logged, "warning authorized_key_refused"));
    assert_non_null(strstr(logged, path));

    logged[0] = '\0';
    copy_file(DATA "rsa1024.pub", "authorized_keys");
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
    copy_file(DATA "ed25519-cert.pub", "authorized_keys");
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
    copy_file(DATA "p384.pub", "authorized_keys");
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
    assert_int_equal(account->key_count, 1);
    assert_non_null(strstr(logged, "line=1"));
}

static void check_file_refused(const char *reason)
{
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), -EINVAL);
    assert_non_null(strstr(why.text, path));
    if (strstr(why.text, reason) == NULL)
        fail_msg("%s, not %s", why.text, reason);
    assert_int_equal(account->key_count, 0);
}

static void a_file_that_others_can_write_is_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0620, 0602, 0664, 0666};
    copy_file(DATA "ed25519.pub", "authorized_keys");
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        assert_int_equal(fchmodat(dir, "authorized_keys", modes[i], 0), 0);
        check_file_refused("others may write it");
    }
}

static void what_is_no_file_or_too_long_is_refused(void **state)
{
    (void)state;
    check_file_refused("no such file");
    assert_int_equal(mkfifoat(dir, "authorized_keys", 0600), 0);
    check_file_refused("no regular file");
    assert_int_equal(unlinkat(dir, "authorized_keys", 0), 0);
    static char blanks[SSH_AUTHORIZED_FILE_MAX + 1];
    memset(blanks, '\n', sizeof(blanks));
    write_file("authorized_keys", blanks, sizeof(blanks));
    check_file_refused("longer");
    write_file("authorized_keys", blanks, sizeof(blanks) - 1);
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
}

static void an_account_has_so_many_keys_and_no_more(void **state)
{
    (void)state;
    static const char line[] =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW\n";
    static char text[(ACCOUNT_KEYS_MAX + 1) * sizeof(line)];
    size_t len = sizeof(line) - 1;
    for (size_t i = 0; i <= ACCOUNT_KEYS_MAX; i++)
        memcpy(text + i * len, line, len);
    write_file("authorized_keys", text, ACCOUNT_KEYS_MAX * len);
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), 0);
    assert_int_equal(account->key_count, ACCOUNT_KEYS_MAX);
    write_file("authorized_keys", line, len);
    assert_int_equal(ssh_authorized_keys_read(path, account, &why), -EINVAL);
    assert_non_null(strstr(why.text, "more than 256 keys"));
}

static void a_fault_is_a_refusal_and_never_a_missing_key(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    static const enum fault_kind kinds[] = {FAULT_SYSCALL, FAULT_ALLOC};

    static const char text[] =
        "from=\"*\",command=\"x\" ssh-ed25519 "
        "AAAAC3NzaC1lZDI1NTE5AAAAIKQR9/5zGLN4/z4zUgUy5pmIri02ApeQwTnWMPsmvGyW\n";
    write_file("authorized_keys", text, sizeof(text) - 1);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool was_hit = true;
        for (unsigned n = 1; n < 100 && was_hit; n++) {
            unsigned before = account->key_count;
            fault_arm(kinds[i], n);
            int r = ssh_authorized_keys_read(path, account, &why);
            was_hit = fault_count(kinds[i]) >= n;
            fault_arm(kinds[i], 0);
            assert_int_equal(r, was_hit ? -EINVAL : 0);
            assert_int_equal(account->key_count, before + !was_hit);
        }
        assert_false(was_hit);
    }
    assert_string_equal(logged, "");
#else
    skip();
#endif
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_first_start_makes_both_for_us_alone),
        TEST(ecdsa_and_sha_1_are_there_by_setting_alone),
        TEST(one_that_others_can_use_is_refused),
        TEST(one_of_another_user_is_refused_but_for_the_directorys_owner),
        TEST(what_is_no_regular_file_is_refused),
        TEST(what_is_no_such_key_is_refused_and_kept),
        TEST(a_start_that_fails_leaves_no_half_of_a_key),
        TEST(keys_of_a_file_become_the_accounts),
        TEST(keys_of_openssh_are_taken),
        TEST(a_line_that_is_refused_is_named_and_lets_nobody_in),
        TEST(a_file_that_others_can_write_is_refused),
        TEST(what_is_no_file_or_too_long_is_refused),
        TEST(an_account_has_so_many_keys_and_no_more),
        TEST(a_fault_is_a_refusal_and_never_a_missing_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
