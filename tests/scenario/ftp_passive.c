/* Which port a session takes for passive mode. */
#include "ftp_harness.h"

/* What EPSV answered, and its port if it is 229. */
struct answer {
    int code;
    uint16_t port;
};

static void ask_epsv(struct harness *h)
{
    struct answer *answer = h->client_state;
    struct ftp_client c = {.fd = connect_port(h->port)};
    TASK_ASSERT(client_reply(&c) == 220);
    TASK_ASSERT(client_say(&c, "USER ann") == 331);
    TASK_ASSERT(client_say(&c, "PASS right") == 230);
    answer->code = client_say(&c, "EPSV");
    const char *at = strstr(c.reply, "|||");
    answer->port = at != NULL ? (uint16_t)strtoul(at + 3, NULL, 10) : 0;
    client_close(&c);
}

/* A socket on a port of its own that others may bind too until one of them listens; held, so
 * that nobody else is given it meanwhile. */
static int hold_port(uint16_t *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static struct answer answer_with(uint16_t port, bool is_hint)
{
    struct answer answer = {0};
    struct harness h = {.client = ask_epsv,
                        .client_state = &answer,
                        .passive_port = port,
                        .passive_is_hint = is_hint};
    (void)strcpy(h.root_path, "/tmp");
    harness_run(&h, 1);
    return answer;
}

static void a_free_port_that_is_hinted_at_is_taken(void **state)
{
    (void)state;
    uint16_t port;
    int held = hold_port(&port);
    struct answer answer = answer_with(port, true);
    assert_int_equal(answer.code, 229);
    assert_int_equal(answer.port, port);
    close(held);
}

static void a_taken_port_that_was_a_hint_is_no_obstacle(void **state)
{
    (void)state;
    uint16_t port;
    int held = hold_port(&port);
    assert_int_equal(listen(held, 1), 0);
    struct answer answer = answer_with(port, true);
    assert_int_equal(answer.code, 229);
    assert_int_not_equal(answer.port, port);
    assert_int_not_equal(answer.port, 0);
    close(held);
}

static void from_a_range_that_was_set_no_other_port_is_taken(void **state)
{
    (void)state;
    uint16_t port;
    int held = hold_port(&port);
    assert_int_equal(answer_with(port, false).port, port);
    assert_int_equal(listen(held, 1), 0);
    assert_int_equal(answer_with(port, false).code, 425);
    close(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_port_that_is_hinted_at_is_taken),
        cmocka_unit_test(a_taken_port_that_was_a_hint_is_no_obstacle),
        cmocka_unit_test(from_a_range_that_was_set_no_other_port_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
