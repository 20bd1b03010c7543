#include "server/banner.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct settings s;
static struct refusal why;
static char *text;

static int setup(void **state)
{
    (void)state;
    text = NULL;
    return settings_init(&s) < 0 || settings_serve_dir(&s, "/srv/demo", &why) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    free(text);
    settings_done(&s);
    return 0;
}

static void print(void)
{
    size_t len;
    assert_int_equal(settings_finish(&s, "/state", &why), 0);
    FILE *out = open_memstream(&text, &len);
    banner_print(out, &s);
    banner_ready(out);
    fclose(out);
}

static void a_generated_password_is_shown_in_lines_to_paste(void **state)
{
    (void)state;
    print();
    char line[128];
    snprintf(line, sizeof(line), "curl -u ferry:%s ftp://127.0.0.1:2121/\n",
             (const char *)s.accounts[0].password.data);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, "serves /srv/demo\n"));
    assert_non_null(strstr(text, "\n  sftp -P 2222 ferry@127.0.0.1\n"));
    assert_non_null(
        strstr(text, "\nlistening ftp 127.0.0.1:2121\nlistening ssh 127.0.0.1:2222\nready\n"));
}

static void a_given_password_is_not_shown(void **state)
{
    (void)state;
    struct account_setting *a;
    assert_int_equal(settings_add_account(&s, BYTES_LIT("anna"), &why, &a), 0);
    assert_int_equal(settings_set_password(a, BYTES_LIT("hunter2"), &why), 0);
    print();
    assert_null(strstr(text, "hunter2"));
    assert_non_null(strstr(text, "curl -u anna:PASSWORD ftp://"));
}

static void any_address_is_pasted_as_loopback_and_listed_as_it_is(void **state)
{
    (void)state;
    assert_int_equal(settings_add_listener(&s, "ftp://0.0.0.0:2121", &why), 0);
    assert_int_equal(settings_add_listener(&s, "ftp://[::]:2122", &why), 0);
    print();
    assert_non_null(strstr(text, " ftp://127.0.0.1:2121/\n"));
    assert_non_null(strstr(text, "listening ftp 0.0.0.0:2121\n"));
    assert_non_null(strstr(text, "listening ftp [::]:2122\n"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_generated_password_is_shown_in_lines_to_paste),
        TEST(a_given_password_is_not_shown),
        TEST(any_address_is_pasted_as_loopback_and_listed_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
