#include "server/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

/* A service manager's socket of that name ("@..." is abstract). */
static int manager(const char *name)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    memcpy(addr.sun_path, name, strlen(name));
    if (name[0] == '@')
        addr.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
    return fd;
}

static void hears(int fd, const char *expected)
{
    char text[64] = "";
    assert_int_equal(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), strlen(expected));
    assert_string_equal(text, expected);
}

static void the_manager_hears_the_state(void **state)
{
    (void)state;
    char name[2][64] = {"/tmp/ferry-notify-XXXXXX/socket", "@ferry-notify-"};
    char dir[64] = "/tmp/ferry-notify-XXXXXX";
    assert_non_null(mkdtemp(dir));
    snprintf(name[0], sizeof(name[0]), "%.40s/s", dir);
    snprintf(name[1], sizeof(name[1]), "@ferry-notify-%ld", (long)getpid());
    for (int i = 0; i < 2; i++) {
        int heard = manager(name[i]);
        int fd = notify_open(name[i]);
        assert_true(fd >= 0);
        notify_send(fd, "READY=1");
        hears(heard, "READY=1");
        notify_send(fd, "STOPPING=1");
        hears(heard, "STOPPING=1");
        close(fd);
        close(heard);
    }
    unlink(name[0]);
    rmdir(dir);
}

static void without_a_manager_nothing_happens(void **state)
{
    (void)state;
    char long_name[200];
    memset(long_name, 'x', sizeof(long_name));
    long_name[0] = '/';
    long_name[sizeof(long_name) - 1] = '\0';
    assert_int_equal(notify_open(NULL), -1);
    assert_int_equal(notify_open(""), -1);
    assert_int_equal(notify_open("relative"), -1);
    assert_int_equal(notify_open("/nonexistent/socket"), -1);
    assert_int_equal(notify_open(long_name), -1);
    notify_send(-1, "READY=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_hears_the_state),
        cmocka_unit_test(without_a_manager_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
