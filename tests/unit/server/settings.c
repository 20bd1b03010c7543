#include "server/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "check.h"

static struct settings s;
static struct refusal why;

static int setup(void **state)
{
    (void)state;
    return settings_init(&s);
}

static int teardown(void **state)
{
    (void)state;
    settings_done(&s);
    return 0;
}

static struct account_setting *add(const char *name, const char *password)
{
    struct account_setting *a;
    assert_int_equal(settings_add_account(&s, bytes_str(name), &why, &a), 0);
    if (password != NULL)
        assert_int_equal(settings_set_password(a, bytes_str(password), &why), 0);
    return a;
}

static void a_directory_alone_gets_loopback_and_a_generated_password(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv/%u", &why), 0);
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    assert_int_equal(s.listener_count, 2);
    char text[ADDR_TEXT_MAX];
    assert_string_equal(s.listeners[0].scheme, "ftp");
    assert_string_equal(addr_format(&s.listeners[0].addr, text), "127.0.0.1:2121");
    assert_string_equal(s.listeners[1].scheme, "ssh");
    assert_string_equal(addr_format(&s.listeners[1].addr, text), "127.0.0.1:2222");
    assert_int_equal(s.account_count, 1);
    assert_string_equal(s.accounts[0].name, "ferry");
    assert_string_equal(s.accounts[0].root, "/srv/%u");
    assert_int_equal(s.accounts[0].password.len, 20);
    assert_true(s.accounts[0].generated);
    assert_int_equal(s.accounts[0].rights, RIGHTS_DEFAULT);
    assert_int_equal(s.limits.per_address, 0);
    assert_int_equal(s.limits.per_account, 0);
    assert_string_equal(s.state_dir, "/state");
}

static void without_a_directory_the_bounds_are_the_design_s(void **state)
{
    (void)state;
    assert_int_equal(s.limits.sessions, DEFAULT_SESSIONS);
    assert_int_equal(s.limits.per_address, 50);
    assert_int_equal(s.limits.per_account, 20);
    assert_int_equal(s.limits.unauthenticated, 100);
}

static void a_configuration_must_bring_listeners_and_accounts(void **state)
{
    (void)state;
    assert_int_equal(settings_finish(&s, "/state", &why), -EINVAL);
    assert_non_null(strstr(why.text, "listener"));
    assert_int_equal(settings_add_listener(&s, "ftp://127.0.0.1:0", &why), 0);
    assert_int_equal(settings_finish(&s, "/state", &why), -EINVAL);
    assert_non_null(strstr(why.text, "account"));
}

static void the_state_directory_must_be_known(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv", &why), 0);
    assert_int_equal(settings_finish(&s, NULL, &why), -EINVAL);
    assert_non_null(strstr(why.text, "--state"));
}

static void a_root_names_its_account_with_percent_u(void **state)
{
    (void)state;
    assert_int_equal(settings_add_listener(&s, "ftp://[::1]:0", &why), 0);
    assert_int_equal(settings_set_text(&s.default_root, "/srv/%u/files"), 0);
    add("anna", "secret");
    struct account_setting *b = add("bob", "secret");
    assert_int_equal(settings_set_text(&b->root, "/home/%u%u"), 0);
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    assert_string_equal(s.accounts[0].root, "/srv/anna/files");
    assert_string_equal(s.accounts[1].root, "/home/bobbob");
}

static void an_account_without_a_root_is_refused(void **state)
{
    (void)state;
    assert_int_equal(settings_add_listener(&s, "ftp://127.0.0.1:0", &why), 0);
    add("anna", "secret");
    assert_int_equal(settings_finish(&s, "/state", &why), -EINVAL);
    assert_non_null(strstr(why.text, "'anna' has no root"));
}

static void an_account_without_a_password_is_refused(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv", &why), 0);
    add("anna", NULL);
    assert_int_equal(settings_finish(&s, "/state", &why), -EINVAL);
    assert_non_null(strstr(why.text, "'anna' has no hash"));
}

static void read_only_takes_every_right_to_change(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv", &why), 0);
    s.read_only = true;
    add("anna", "secret")->rights = RIGHT_READ | RIGHT_WRITE | RIGHT_DELETE;
    add("bob", "secret");
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    assert_int_equal(s.accounts[0].rights, RIGHT_READ);
    assert_int_equal(s.accounts[1].rights, RIGHTS_READ_ONLY);
}

static void anonymous_comes_beside_the_others_and_reads_only(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv", &why), 0);
    s.anonymous = true;
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    assert_int_equal(s.account_count, 2);
    assert_string_equal(s.accounts[0].name, "ferry");
    assert_string_equal(s.accounts[1].name, "anonymous");
    assert_true(s.accounts[1].anonymous);
    assert_int_equal(s.accounts[1].rights, RIGHTS_READ_ONLY);
}

static void anonymous_never_writes_even_where_others_only_write(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv", &why), 0);
    s.anonymous = true;
    s.default_rights = RIGHT_WRITE | RIGHT_MKDIR;
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    assert_int_equal(s.accounts[0].rights, RIGHT_WRITE | RIGHT_MKDIR);
    assert_int_equal(s.accounts[1].rights, 0);
}

static void what_an_account_does_not_say_is_the_default(void **state)
{
    (void)state;
    assert_int_equal(settings_serve_dir(&s, "/srv", &why), 0);
    s.default_quota_bytes = 100;
    s.default_rate_bytes_per_s = 7;
    add("anna", "secret")->quota_bytes = 0;
    add("bob", "secret")->rate_bytes_per_s = 9;
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    assert_int_equal(s.accounts[0].quota_bytes, 0);
    assert_int_equal(s.accounts[0].rate_bytes_per_s, 7);
    assert_int_equal(s.accounts[1].quota_bytes, 100);
    assert_int_equal(s.accounts[1].rate_bytes_per_s, 9);
    assert_int_equal(s.accounts[1].quota_files, 0);
}

static void names_that_could_leave_a_path_or_a_line_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",    ".",   "..",   ".hidden",
                                        "a/b", "a:b", "a\nb", "a\x7f"};
    char long_name[USER_NAME_MAX + 2];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    struct account_setting *a;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(settings_add_account(&s, bytes_str(names[i]), &why, &a), -EINVAL);
    assert_int_equal(settings_add_account(&s, bytes_str(long_name), &why, &a), -EINVAL);
    add("anna", NULL);
    assert_int_equal(settings_add_account(&s, BYTES_LIT("anna"), &why, &a), -EINVAL);
    assert_non_null(strstr(why.text, "twice"));
}

static void passwords_that_no_client_could_send_are_refused(void **state)
{
    (void)state;
    char long_one[PASSWORD_MAX + 1];
    memset(long_one, 'x', sizeof(long_one));
    struct account_setting *a = add("anna", NULL);
    assert_int_equal(settings_set_password(a, BYTES_NONE, &why), -EINVAL);
    assert_int_equal(settings_set_password(a, BYTES_LIT("a\nb"), &why), -EINVAL);
    assert_int_equal(settings_set_password(a, bytes_of(long_one, sizeof(long_one)), &why),
                     -EINVAL);
    assert_int_equal(settings_set_password(a, bytes_of(long_one, PASSWORD_MAX), &why), 0);
    assert_null(strstr(why.text, "xxx"));
}

static void the_password_is_the_first_line_of_its_file(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-password-XXXXXX";
    int fd = mkstemp(path);
    static const char text[] = "correct horse\r\nsecond line\n";
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    struct account_setting *a = add("anna", NULL);
    assert_int_equal(settings_read_password(a, path, &why), 0);
    assert_string_equal((const char *)a->password.data, "correct horse");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(settings_read_password(a, path, &why), -EINVAL);
    unlink(path);
    assert_int_equal(settings_read_password(a, path, &why), -EINVAL);
    assert_non_null(strstr(why.text, path));
}

static void listeners_are_numeric_and_of_a_scheme_that_is_built(void **state)
{
    (void)state;

    static const struct {
        const char *url, *says;
    } refused[] = {
        {"rsync://127.0.0.1:873", "'rsync' is not built yet"},
        {"ftps://127.0.0.1:990", "'ftps' is not built yet"},
        {"http://127.0.0.1:80", "'http' is not built yet"},
        {"gopher://127.0.0.1:70", "unknown scheme"},
        {"127.0.0.1:21", "SCHEME://"},
        {"ftp://localhost:21", "numeric"},
        {"ftp://127.0.0.1", "numeric"},
        {"ftp://127.0.0.1:65536", "numeric"},
        {"ftp://", "numeric"},
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(settings_add_listener(&s, refused[i].url, &why), -EINVAL);
        assert_non_null(strstr(why.text, refused[i].says));
    }
    assert_int_equal(s.listener_count, 0);
    for (unsigned i = 0; i < SETTINGS_LISTENERS_MAX; i++)
        assert_int_equal(settings_add_listener(&s, "ftp://0.0.0.0:0", &why), 0);
    assert_int_equal(settings_add_listener(&s, "ftp://0.0.0.0:0", &why), -EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_directory_alone_gets_loopback_and_a_generated_password),
        TEST(without_a_directory_the_bounds_are_the_design_s),
        TEST(a_configuration_must_bring_listeners_and_accounts),
        TEST(the_state_directory_must_be_known),
        TEST(a_root_names_its_account_with_percent_u),
        TEST(an_account_without_a_root_is_refused),
        TEST(an_account_without_a_password_is_refused),
        TEST(read_only_takes_every_right_to_change),
        TEST(anonymous_comes_beside_the_others_and_reads_only),
        TEST(anonymous_never_writes_even_where_others_only_write),
        TEST(what_an_account_does_not_say_is_the_default),
        TEST(names_that_could_leave_a_path_or_a_line_are_refused),
        TEST(passwords_that_no_client_could_send_are_refused),
        TEST(the_password_is_the_first_line_of_its_file),
        TEST(listeners_are_numeric_and_of_a_scheme_that_is_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
