#include "client/place/netrc.h"

#include <errno.h>

#include "check.h"

#define FILE_TEXT                                                                              \
    "# ours\n"                                                                                 \
    "machine a login ann password \"se cret\" account x\n"                                     \
    "macdef init\ncd /pub\nmachine trap password no\n\n"                                       \
    "machine b\n\tlogin bob\n\tpassword #hash\n"                                               \
    "machine a login eve password other\n"                                                     \
    "default login anonymous password me@home\n"                                               \
    "machine c login late password late\n"

static const struct {
    const char *machine, *login, *is_login, *is_password;
} rows[] = {
    {"a", "", "ann", "se cret"},
    {"A", "", "ann", "se cret"},
    {"a", "eve", "eve", "other"},
    {"b", "", "bob", "#hash"},
    {"b", "bob", "bob", "#hash"},
    {"trap", "", "anonymous", "me@home"},
    {"x", "", "anonymous", "me@home"},
    {"c", "", "late", "late"},
    {"x", "anonymous", "anonymous", "me@home"},
};

static void the_first_entry_that_fits_is_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct netrc_entry e;
        unsigned line;
        int r = netrc_find(BYTES_LIT(FILE_TEXT), bytes_str(rows[i].machine),
                           bytes_str(rows[i].login), &e, &line);
        if (r != 0 || !bytes_equal(e.login, bytes_str(rows[i].is_login)) ||
            !bytes_equal(e.password, bytes_str(rows[i].is_password)))
            fail_msg("%s %s: %d, %.*s %.*s", rows[i].machine, rows[i].login, r,
                     (int)e.login.len, e.login.data, (int)e.password.len, e.password.data);
    }
}

static void another_login_has_no_entry(void **state)
{
    struct netrc_entry e;
    unsigned line;
    (void)state;
    assert_int_equal(
        netrc_find(BYTES_LIT(FILE_TEXT), BYTES_LIT("a"), BYTES_LIT("joe"), &e, &line), -ENOENT);
    assert_int_equal(
        netrc_find(BYTES_LIT("machine a login b\n"), BYTES_LIT("c"), BYTES_NONE, &e, &line),
        -ENOENT);
    assert_int_equal(netrc_find(BYTES_NONE, BYTES_LIT("c"), BYTES_NONE, &e, &line), -ENOENT);
}

static void what_is_no_netrc_is_told_with_its_line(void **state)
{
    static const char *const texts[] = {
        "\nlogin ann\n",
        "\nmachine\n",
        "\nmachine x nonsense y\n",
        "\nmachine x login\n",
        "\nmachine x password \"open\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct netrc_entry e;
        unsigned line = 0;
        int r = netrc_find(bytes_str(texts[i]), BYTES_LIT("a"), BYTES_NONE, &e, &line);
        if (r != -EINVAL || line < 2)
            fail_msg("%s: %d, line %u", texts[i], r, line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_entry_that_fits_is_taken),
        cmocka_unit_test(another_login_has_no_entry),
        cmocka_unit_test(what_is_no_netrc_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
