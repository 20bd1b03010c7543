#include "client/ssh_trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/wire.h"
#include "check.h"
#include "ssh/wire/key_file.h"

static char folder[64];
static struct crypto_key *keys[2]; /* of one kind */
static char asked[128];

static const char *path_of(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_text(const char *name, struct bytes text, mode_t mode)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.data, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path_of(name), mode), 0);
}

static struct bytes blob_of(const struct crypto_key *key)
{
    static uint8_t blob[SSH_KEY_BLOB_MAX];
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    ssh_key_write(&w, key);
    return bytes_of(blob, w.len);
}

/* A known_hosts file in which the host has this key. */
static void write_known(const char *name, const char *marker, const char *host,
                        const struct crypto_key *key)
{
    struct buf line;
    buf_init(&line, 4096);
    assert_int_equal(buf_append_str(&line, marker), 0);
    assert_int_equal(ssh_known_hosts_line(bytes_str(host), 22, blob_of(key), &line), 0);
    write_text(name, buf_bytes(&line), 0600);
    buf_done(&line);
}

static bool take(void *arg, const char *host, const char *type, const char *fingerprint)
{
    (void)snprintf(asked, sizeof(asked), "%s %s %.7s", host, type, fingerprint);
    return *(bool *)arg;
}

static int check(const char *host, const struct crypto_key *key, bool takes, char *ret_why)
{
    char first[128], second[128];
    (void)snprintf(first, sizeof(first), "%s/first", folder);
    (void)snprintf(second, sizeof(second), "%s/second", folder);
    const char *const files[] = {first, second};
    const struct ssh_trust_settings settings = {.host = host,
                                                .port = 22,
                                                .files = files,
                                                .file_count = 2,
                                                .take_unknown = take,
                                                .arg = &takes};
    struct ssh_trust *trust;
    asked[0] = '\0';
    assert_int_equal(ssh_trust_new(&settings, &trust), 0);
    int r = ssh_trust_check(trust, key, blob_of(key));
    (void)snprintf(ret_why, SSH_TRUST_WHY_MAX, "%s", ssh_trust_why(trust));
    assert_null(ssh_trust_free(trust));
    return r;
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/ferry-trust-%d", getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(crypto_key_generate(CRYPTO_ED25519, &keys[i]), 0);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"first",           "second",        "key",
                                        ".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/known_hosts"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unlink(path_of(names[i]));
    (void)rmdir(path_of(".ssh"));
    for (int i = 0; i < 2; i++)
        crypto_key_unref(keys[i]);
    return rmdir(folder);
}

static void a_host_is_who_the_files_say(void **state)
{
    (void)state;
    char why[SSH_TRUST_WHY_MAX];
    write_known("first", "", "host", keys[0]);
    assert_int_equal(check("host", keys[0], false, why), 0);
    assert_string_equal(why, "");
    assert_int_equal(check("host", keys[1], true, why), -FERRY_EAUTH);
    assert_string_equal(asked, ""); /* a key that has changed is no question */
    assert_non_null(strstr(why, "another one"));
    assert_non_null(strstr(why, "line 1 of"));
    (void)unlink(path_of("first"));
}

static void the_worst_of_all_files_counts(void **state)
{
    (void)state;
    char why[SSH_TRUST_WHY_MAX];
    write_known("first", "", "host", keys[1]);
    write_known("second", "", "host", keys[0]);
    assert_int_equal(check("host", keys[0], false, why), 0);
    assert_int_equal(check("host", keys[1], false, why), 0);
    write_known("second", "@revoked ", "host", keys[1]);
    assert_int_equal(check("host", keys[1], true, why), -FERRY_EAUTH);
    assert_non_null(strstr(why, "revoked"));
    (void)unlink(path_of("first"));
    (void)unlink(path_of("second"));
}

static void an_unknown_host_is_a_question(void **state)
{
    (void)state;
    char why[SSH_TRUST_WHY_MAX];
    assert_int_equal(check("other", keys[0], true, why), 0);
    assert_string_equal(asked, "other ssh-ed25519 SHA256:");
    assert_int_equal(check("other", keys[0], false, why), -FERRY_EAUTH);
    assert_non_null(strstr(why, "not known"));
}

static void types_that_are_known_are_offered(void **state)
{
    (void)state;
    const char *const file = path_of("first");
    const struct ssh_trust_settings settings = {
        .host = "host", .port = 22, .files = &file, .file_count = 1};
    struct ssh_trust *trust;
    write_known("first", "", "host", keys[0]);
    assert_int_equal(ssh_trust_new(&settings, &trust), 0);
    assert_string_equal(ssh_trust_host_keys(trust), "ssh-ed25519");
    (void)ssh_trust_free(trust);
    write_known("first", "", "another", keys[0]);
    assert_int_equal(ssh_trust_new(&settings, &trust), 0);
    assert_null(ssh_trust_host_keys(trust));
    (void)ssh_trust_free(trust);
    (void)unlink(path_of("first"));
    assert_int_equal(mkdir(path_of("first"), 0700), 0);
    assert_int_equal(ssh_trust_new(&settings, &trust), -EISDIR);
    assert_int_equal(rmdir(path_of("first")), 0);
}

static void write_key(const char *name, mode_t mode)
{
    struct buf text;
    buf_init(&text, SSH_KEY_FILE_MAX);
    assert_int_equal(ssh_key_file_write(keys[0], BYTES_LIT("me"), 7, &text), 0);
    write_text(name, buf_bytes(&text), mode);
    buf_wipe(&text);
}

static void a_key_that_others_can_read_is_refused(void **state)
{
    (void)state;
    struct ssh_keys all = {0};
    write_key("key", 0640);
    assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), -EPERM);
    write_key("key", 0600);
    assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), 0);
    assert_int_equal(all.count, 1);
    assert_true(crypto_key_equal(all.keys[0], keys[0]));
    assert_int_equal(ssh_keys_add_file(&all, path_of("none"), NULL, NULL), -ENOENT);
    assert_int_equal(ssh_keys_add_file(&all, folder, NULL, NULL), -FERRY_ENOTREG);
    write_text("key", BYTES_LIT("no key"), 0600);
    assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), -FERRY_EPROTO);
    for (unsigned i = 1; i < SSH_KEY_FILES_MAX; i++) {
        write_key("key", 0600);
        assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), 0);
    }
    assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), -FERRY_ELIMIT);
    ssh_keys_done(&all);
    assert_int_equal(all.count, 0);
}

/* An Ed25519 key that openssl encrypted with "right". */
static const char encrypted[] =
    "-----BEGIN ENCRYPTED "
    "PRIVATE KEY-----\n"
    "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhY6VfZC6LTXAICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEO+c2cMjSNLO1VQNlL5I//IEQBmE\n"
    "hNkmhb9hw8zjLpndxGPIyv8wPg550Wap0NkTVY6k6d9jI66ZRDkDLKh3eAieeROy\n"
    "icFEwbR8rmp1UO4J5LA=\n"
    "-----END ENCRYPTED "
    "PRIVATE KEY-----\n";

static unsigned questions;

static bool answer(void *arg, const char *path, struct buf *ret)
{
    const char *const *answers = arg;
    const char *word = answers[questions++];
    assert_string_equal(path, path_of("key"));
    return word != NULL && buf_append_str(ret, word) == 0;
}

static void a_passphrase_is_asked_for_three_times(void **state)
{
    (void)state;

    static const struct {
        const char *answers[4];
        int expected;
        unsigned questions;
    } rows[] = {
        {{"right"}, 0, 1},
        {{"wrong", "wrong", "right"}, 0, 3},
        {{"wrong", "wrong", "wrong", "right"}, -FERRY_EAUTH, 3},
        {{NULL}, -FERRY_EAUTH, 1},
    };

    write_text("key", bytes_str(encrypted), 0600);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_keys all = {0};
        const char *const *answers = rows[i].answers;
        questions = 0;
        assert_int_equal(
            ssh_keys_add_file(&all, path_of("key"), answer, (void *)(uintptr_t)answers),
            rows[i].expected);
        assert_int_equal(questions, rows[i].questions);
        ssh_keys_done(&all);
    }
    struct ssh_keys all = {0};
    assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), -FERRY_EAUTH);
}

static void copy_file(const char *from, const char *name)
{
    uint8_t data[4096];
    FILE *f = fopen(from, "rbe");
    assert_non_null(f);
    size_t len = fread(data, 1, sizeof(data), f);
    (void)fclose(f);
    assert_true(len > 0 && len < sizeof(data));
    write_text(name, bytes_of(data, len), 0600);
}

static void an_encrypted_key_of_openssh_asks_for_its_passphrase(void **state)
{
    (void)state;
    static const char *const right[] = {"wrong", "secret"}, *const wrong[] = {"a", "b", "c"};
    struct ssh_keys all = {0};
    copy_file("tests/data/ssh/ed25519-aes256-ctr", "key");
    questions = 0;
    int r = ssh_keys_add_file(&all, path_of("key"), answer, (void *)(uintptr_t)right);
    if (r == -ELIBACC) { /* said before anybody was asked */
        assert_int_equal(questions, 0);
        skip();
    }
    assert_int_equal(r, 0);
    assert_int_equal(questions, 2);
    assert_int_equal(all.count, 1);
    questions = 0;
    r = ssh_keys_add_file(&all, path_of("key"), answer, (void *)(uintptr_t)wrong);
    assert_int_equal(r, -FERRY_EAUTH);
    assert_int_equal(questions, 3);
    assert_int_equal(ssh_keys_add_file(&all, path_of("key"), NULL, NULL), -FERRY_EAUTH);
    assert_int_equal(all.count, 1);

    questions = 0;
    copy_file("tests/data/ssh/ed25519-3des-cbc", "key");
    r = ssh_keys_add_file(&all, path_of("key"), answer, (void *)(uintptr_t)right);
    assert_int_equal(r, -EPROTONOSUPPORT);
    assert_int_equal(questions, 0);
    ssh_keys_done(&all);
}

static void people_are_told_what_to_do(void **state)
{
    (void)state;
    assert_non_null(strstr(ssh_keys_why(-ELIBACC), "ssh-add"));
    assert_non_null(strstr(ssh_keys_why(-ELIBACC), "install libbotan-2-19"));
    assert_non_null(strstr(ssh_keys_why(-EPROTONOSUPPORT), "ssh-add"));
    assert_non_null(strstr(ssh_keys_why(-FERRY_EAUTH), "passphrase"));
    assert_string_equal(ssh_keys_why(-ENOENT), err_text(-ENOENT));
}

static void the_usual_files_are_those_of_the_home(void **state)
{
    (void)state;
    struct ssh_keys all = {0};
    struct ssh_trust *trust;
    const struct ssh_trust_settings settings = {.host = "host", .port = 22};
    assert_int_equal(setenv("HOME", folder, 1), 0);
    assert_int_equal(ssh_keys_add_usual(&all, NULL, NULL), 0);
    assert_int_equal(all.count, 0);
    assert_int_equal(mkdir(path_of(".ssh"), 0700), 0);
    write_key(".ssh/id_ed25519", 0600);
    write_text(".ssh/id_ecdsa", BYTES_LIT("no key"), 0600);
    write_known(".ssh/known_hosts", "", "host", keys[0]);
    assert_int_equal(ssh_keys_add_usual(&all, NULL, NULL), 0);
    assert_int_equal(all.count, 1);
    ssh_keys_done(&all);
    assert_int_equal(ssh_trust_new(&settings, &trust), 0);
    assert_int_equal(ssh_trust_check(trust, keys[0], blob_of(keys[0])), 0);
    assert_int_equal(ssh_trust_check(trust, keys[1], blob_of(keys[1])), -FERRY_EAUTH);
    (void)ssh_trust_free(trust);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_who_the_files_say),
        cmocka_unit_test(the_worst_of_all_files_counts),
        cmocka_unit_test(an_unknown_host_is_a_question),
        cmocka_unit_test(types_that_are_known_are_offered),
        cmocka_unit_test(a_key_that_others_can_read_is_refused),
        cmocka_unit_test(a_passphrase_is_asked_for_three_times),
        cmocka_unit_test(an_encrypted_key_of_openssh_asks_for_its_passphrase),
        cmocka_unit_test(people_are_told_what_to_do),
        cmocka_unit_test(the_usual_files_are_those_of_the_home),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
