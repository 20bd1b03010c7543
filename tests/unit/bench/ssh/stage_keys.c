#include "bench/ssh/stage_keys.h"

#include <errno.h>
#include <sys/stat.h>

#include "unit/bench/folder_fixture.h"

static struct stage stage;

static int setup(void **state)
{
    if (folder_fixture_setup(state) != 0)
        return -1;
    snprintf(stage.base, sizeof(stage.base), "%s", fixture_folder);
    return 0;
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in_folder(name), &st), 0);
    return st.st_mode & 07777;
}

static void read_whole(const char *name, char dst[4096])
{
    struct buf text;
    buf_init(&text, 4095);
    assert_int_equal(file_read(in_folder(name), &text), 0);
    memcpy(dst, text.data, text.len);
    dst[text.len] = '\0';
    buf_done(&text);
}

static void keys_are_read_as_they_were_made(void **state)
{
    (void)state;
    struct stage_keys one, again;
    assert_int_equal(stage_ssh_make(&stage), 0);
    assert_int_equal(stage_keys_read(&stage, &one), 0);
    assert_int_equal(stage_keys_read(&stage, &again), 0);
    assert_true(crypto_key_is_private(one.client));
    assert_true(crypto_key_equal(one.client, again.client));
    assert_true(crypto_key_equal(one.host, again.host));
    assert_false(crypto_key_equal(one.host, one.client));
    stage_keys_done(&one);
    stage_keys_done(&again);
}

static void secrets_are_for_their_owner_and_the_rest_for_the_servers(void **state)
{
    (void)state;
    assert_int_equal(stage_ssh_make(&stage), 0);
    assert_int_equal(mode_of("ssh/state"), 0700);
    assert_int_equal(mode_of("ssh/state/ssh_host_ed25519_key"), 0600);
    assert_int_equal(mode_of("ssh/client_key"), 0600);
    assert_int_equal(mode_of("ssh"), 0711);
    assert_int_equal(mode_of("ssh/authorized_keys"), 0644);
    assert_int_equal(mode_of("ssh/authorized_keys.ssh2"), 0644);
}

static void every_file_of_public_keys_is_about_the_right_one(void **state)
{
    (void)state;
    char known[4096], authorized[4096], ssh2[4096];
    assert_int_equal(stage_ssh_make(&stage), 0);
    read_whole("ssh/known_hosts", known);
    read_whole("ssh/authorized_keys", authorized);
    read_whole("ssh/authorized_keys.ssh2", ssh2);
    assert_memory_equal(known, "* ssh-ed25519 AAAA", 18);
    assert_memory_equal(authorized, "ssh-ed25519 AAAA", 16);
    assert_string_not_equal(known + 2, authorized);
    authorized[12 + 68] = '\0'; /* an ed25519 key in base64 */
    assert_non_null(strstr(ssh2, authorized + 12));
}

static void a_line_is_cut_as_rfc_4716_has_it(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 4096);
    char line[256] = "ssh-rsa ";
    memset(line + 8, 'A', 75);
    strcpy(line + 8 + 75, " somebody\n");
    assert_int_equal(stage_keys_rfc4716(bytes_str(line), &text), 0);
    char expected[256] = "---- BEGIN SSH2 PUBLIC KEY ----\n";
    size_t at = strlen(expected);
    memset(expected + at, 'A', 70);
    strcpy(expected + at + 70, "\nAAAAA\n---- END SSH2 PUBLIC KEY ----\n");
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
    assert_int_equal(stage_keys_rfc4716(BYTES_LIT("nothing"), &text), -EINVAL);
    buf_done(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, folder_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(keys_are_read_as_they_were_made),
        TEST(secrets_are_for_their_owner_and_the_rest_for_the_servers),
        TEST(every_file_of_public_keys_is_about_the_right_one),
        TEST(a_line_is_cut_as_rfc_4716_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
