#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "task/sys.h"
#include "unit/io/tcp_fixture.h"

static void connect_from_elsewhere(void *arg)
{
    struct addr to = loopback(), from, peer = {.len = sizeof(peer.u)};
    struct io_fd *f;
    int listening;
    (void)arg;
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.9:0"), &from) == 0);
    TASK_ASSERT(tcp_listen(&to, 5, &listening) == 0);
    TASK_ASSERT(tcp_connect(&to, &from, USEC_NEVER, &f) == 0);
    int fd = sys_accept(listening, &peer.u.any, &peer.len);
    TASK_ASSERT(fd >= 0 && addr_same_host(&peer, &from));
    (void)io_fd_close(f);
    sys_close(fd);
    sys_close(listening);
}

static void connects_from_the_given_address(void **state)
{
    (void)state;
    run_deterministic(1, connect_from_elsewhere, NULL);
}

static void connect_to_nobody(void *arg)
{
    struct addr to = loopback();
    struct io_fd *f = NULL;
    int fd;
    (void)arg;
    TASK_ASSERT(tcp_listen(&to, 5, &fd) == 0);
    sys_close(fd);
    TASK_ASSERT(tcp_connect(&to, NULL, USEC_NEVER, &f) == -ECONNREFUSED);
    TASK_ASSERT(f == NULL);
}

static void a_port_where_nobody_listens_refuses(void **state)
{
    (void)state;
    run_deterministic(1, connect_to_nobody, NULL);
}

static void connect_to_the_deaf(void *arg)
{
    struct addr to = loopback();
    struct io_fd *all[8] = {NULL};
    int fd, r = 0;
    unsigned count = 0;
    (void)arg;
    TASK_ASSERT(tcp_listen(&to, 0, &fd) == 0);
    while (r == 0 && count < ARRAY_LEN(all)) { /* until the backlog of 0 is full */
        r = tcp_connect(&to, NULL, clock_now() + USEC_PER_S, &all[count]);
        count += r == 0;
    }
    TASK_ASSERT(r == -ETIMEDOUT);
    while (count > 0)
        (void)io_fd_close(all[--count]);
    sys_close(fd);
}

static void a_peer_that_does_not_answer_costs_the_deadline(void **state)
{
    (void)state;
    run_deterministic(1, connect_to_the_deaf, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects_from_the_given_address),
        cmocka_unit_test(a_port_where_nobody_listens_refuses),
        cmocka_unit_test(a_peer_that_does_not_answer_costs_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
