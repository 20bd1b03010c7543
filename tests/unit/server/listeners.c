#include "server/listeners.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

static void each_worker_gets_a_socket_of_each_listener_at_one_port(void **state)
{
    (void)state;
    struct listeners l;
    assert_int_equal(settings_add_listener(&s, "ftp://127.0.0.1:0", &why), 0);
    assert_int_equal(settings_add_listener(&s, "ftp://127.0.0.1:0", &why), 0);
    assert_int_equal(listeners_open(&s, 3, &l, &why), 0);
    for (unsigned i = 0; i < 2; i++) {
        uint16_t port = addr_port(&s.listeners[i].addr);
        assert_int_not_equal(port, 0);
        for (unsigned worker = 0; worker < 3; worker++) {
            struct sockaddr_in addr;
            socklen_t len = sizeof(addr);
            int fd = listeners_take(&l, i, worker);
            assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
            assert_int_equal(ntohs(addr.sin_port), port);
            close(fd);
        }
    }
    assert_int_not_equal(addr_port(&s.listeners[0].addr), addr_port(&s.listeners[1].addr));
    listeners_close(&l);
}

static void a_port_that_is_taken_is_refused_and_named(void **state)
{
    (void)state;
    struct listeners l, second;
    assert_int_equal(settings_add_listener(&s, "ftp://127.0.0.1:0", &why), 0);
    assert_int_equal(listeners_open(&s, 1, &l, &why), 0);
    char text[ADDR_TEXT_MAX];
    assert_int_equal(listeners_open(&s, 1, &second, &why), -EINVAL);
    assert_non_null(strstr(why.text, addr_format(&s.listeners[0].addr, text)));
    listeners_close(&l);
}

static void an_address_that_is_not_ours_is_refused(void **state)
{
    (void)state;
    struct listeners l;
    assert_int_equal(settings_add_listener(&s, "ftp://127.0.0.1:0", &why), 0);
    assert_int_equal(settings_add_listener(&s, "ftp://203.0.113.7:0", &why), 0);
    assert_int_equal(listeners_open(&s, 2, &l, &why), -EINVAL);
    assert_non_null(strstr(why.text, "203.0.113.7"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_worker_gets_a_socket_of_each_listener_at_one_port),
        TEST(a_port_that_is_taken_is_refused_and_named),
        TEST(an_address_that_is_not_ours_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
