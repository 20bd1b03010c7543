#include "session/control_path.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"

static void is(bool is_root, const char *xdg, const char *home, const char *expected)
{
    char *dir = NULL;
    assert_int_equal(control_state_dir(is_root, xdg, home, &dir), 0);
    assert_string_equal(dir, expected);
    mem_free(dir);
}

static void the_state_directory_follows_the_user(void **state)
{
    (void)state;
    is(true, "/x", "/root", "/var/lib/ferryd");
    is(false, "/x", "/home/anna", "/x/ferryd");
    is(false, NULL, "/home/anna", "/home/anna/.local/state/ferryd");
    is(false, "", "/home/anna", "/home/anna/.local/state/ferryd");
    is(false, "relative", "/home/anna", "/home/anna/.local/state/ferryd");
}

static void without_a_home_there_is_none(void **state)
{
    (void)state;
    char *dir = NULL;
    assert_int_equal(control_state_dir(false, NULL, NULL, &dir), -ENOENT);
    assert_int_equal(control_state_dir(false, NULL, "", &dir), -ENOENT);
    assert_null(dir);
}

static void the_socket_is_reached_through_the_directory(void **state)
{
    (void)state;
    struct sockaddr_un addr;
    assert_int_equal(control_socket_addr(7, &addr), sizeof(addr));
    assert_string_equal(addr.sun_path, "/proc/self/fd/7/control.sock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_directory_follows_the_user),
        cmocka_unit_test(without_a_home_there_is_none),
        cmocka_unit_test(the_socket_is_reached_through_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
