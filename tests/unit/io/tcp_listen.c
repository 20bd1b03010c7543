#include <errno.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "check.h"
#include "task/sys.h"
#include "unit/io/tcp_fixture.h"

#define WORKERS 3
#define CLIENTS 70 /* over two turns: the first may end after the others had theirs */

/* A blocking client: these tests look at listeners, not at tcp_connect(). */
static int client_of(const struct addr *to)
{
    int fd = socket(addr_family(to), SOCK_STREAM | SOCK_CLOEXEC, 0);
    TASK_ASSERT(fd >= 0 && connect(fd, &to->u.any, to->len) == 0);
    return fd;
}

static void close_all(int *fds, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sys_fd_close(&fds[i]);
}

/* -- a port that the workers share -- */

static void connections_are_spread_over_all_sockets_of_a_group(void **state)
{
    (void)state;
    struct addr at = loopback();
    int fds[WORKERS];
    unsigned accepted[WORKERS] = {0};
    assert_int_equal(tcp_listen_shared(&at, 100, WORKERS, fds), 0);
    assert_int_not_equal(addr_port(&at), 0);
    for (unsigned i = 0; i < CLIENTS; i++) {
        int client = client_of(&at);
        for (unsigned w = 0; w < WORKERS; w++) {
            int fd = sys_accept(fds[w], NULL, NULL);
            accepted[w] += fd >= 0;
            sys_close(fd);
        }
        sys_close(client);
    }
    assert_int_equal(accepted[0] + accepted[1] + accepted[2], CLIENTS);
    for (unsigned w = 0; w < WORKERS; w++)
        assert_int_not_equal(accepted[w], 0);
    close_all(fds, WORKERS);
}

static int flag_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);
    assert_int_equal(sys_getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void who_connects_before_the_workers_are_there_has_the_options_too(void **state)
{
    (void)state;
    struct addr at = loopback();
    int fds[WORKERS];
    unsigned accepted = 0;
    assert_int_equal(tcp_listen_shared(&at, 100, WORKERS, fds), 0);
    int client = client_of(&at);
    for (unsigned w = 0; w < WORKERS; w++) {
        int fd = sys_accept(fds[w], NULL, NULL);
        if (fd < 0)
            continue;
        accepted++;
        assert_int_not_equal(flag_of(fd, SOL_SOCKET, SO_OOBINLINE), 0);
        assert_int_not_equal(flag_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
        sys_close(fd);
    }
    assert_int_equal(accepted, 1);
    sys_close(client);
    close_all(fds, WORKERS);
}

static int listen_in_another_process(struct addr at, unsigned n)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int fds[WORKERS];
        int r = tcp_listen_shared(&at, 10, n, fds);
        _exit(r < 0 ? -r : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static void a_second_process_is_refused_while_the_first_listens(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= WORKERS; n++) {
        struct addr at = loopback();
        int fds[WORKERS];
        assert_int_equal(tcp_listen_shared(&at, 10, n, fds), 0);
        assert_int_equal(listen_in_another_process(at, 1), -EADDRINUSE);
        assert_int_equal(listen_in_another_process(at, WORKERS), -EADDRINUSE);
        close_all(fds, n);
        assert_int_equal(listen_in_another_process(at, WORKERS), 0);
    }
}

/* Two servers in the same moment: both are bound, neither listens yet. */
static void of_two_that_are_bound_only_one_gets_to_listen(void **state)
{
    (void)state;
    struct addr at = loopback();
    socklen_t len = sizeof(at.u);
    int on = 1, fds[WORKERS];
    int rival = sys_socket(AF_INET, SOCK_STREAM, 0);
    assert_true(rival >= 0);
    assert_int_equal(sys_setsockopt(rival, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(sys_bind(rival, &at.u.any, at.len), 0);
    assert_int_equal(sys_getsockname(rival, &at.u.any, &len), 0);
    assert_int_equal(tcp_listen_shared(&at, 10, WORKERS, fds), 0);
    assert_int_equal(sys_listen(rival, 10), -EADDRINUSE);
    close_all(fds, WORKERS);
    assert_int_equal(sys_listen(rival, 10), 0);
    assert_int_equal(tcp_listen_shared(&at, 10, WORKERS, fds), -EADDRINUSE);
    sys_close(rival);
}

static void a_restart_is_not_hindered_by_finished_connections(void **state)
{
    (void)state;
    struct addr at = loopback();
    int fds[WORKERS];
    char c;
    assert_int_equal(tcp_listen_shared(&at, 10, 1, fds), 0);
    int client = client_of(&at);
    int server = sys_accept(fds[0], NULL, NULL);
    assert_true(server >= 0);
    sys_close(server); /* first: the server's side goes to TIME_WAIT */
    assert_int_equal(sys_recv(client, &c, 1, 0), 0);
    sys_close(client);
    close_all(fds, 1);
    assert_int_equal(tcp_listen_shared(&at, 10, WORKERS, fds), 0);
    close_all(fds, WORKERS);
}

static void both_families_can_have_one_port(void **state)
{
    (void)state;
    int fd4, fd6, r = -EADDRINUSE;
    /* another process may have a port of the other family: its own, not ours, is in the way */
    for (unsigned tries = 0; r == -EADDRINUSE && tries < 100; tries++) {
        struct addr v4, v6;
        assert_int_equal(addr_parse(BYTES_LIT("[::]:0"), &v6), 0);
        assert_int_equal(addr_parse(BYTES_LIT("0.0.0.0:0"), &v4), 0);
        r = tcp_listen(&v6, 10, &fd6);
        if (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)
            skip();
        assert_int_equal(r, 0);
        addr_set_port(&v4, addr_port(&v6));
        r = tcp_listen(&v4, 10, &fd4);
        sys_close(fd6);
    }
    assert_int_equal(r, 0);
    sys_close(fd4);
}

#ifdef FERRY_FAULTS
static void a_group_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    struct addr at = loopback();
    int fds[WORKERS], r = -EIO;
    unsigned n = 0;
    int lowest = sys_eventfd();
    sys_close(lowest);
    while (r == -EIO && n < 40) {
        addr_set_port(&at, 0);
        fault_arm(FAULT_SYSCALL, ++n);
        r = tcp_listen_shared(&at, 10, WORKERS, fds);
        fault_arm(FAULT_SYSCALL, 0);
        if (r == -EIO) {
            int fd = sys_eventfd();
            assert_int_equal(fd, lowest); /* nothing stayed open */
            sys_close(fd);
        }
    }
    assert_int_equal(r, 0);
    assert_true(n > 10);
    close_all(fds, WORKERS);
}
#endif

/* -- accepting -- */

struct bench {
    struct addr at;
    struct listener *listener;
    int clients[CLIENTS];
};

static void bench_open(struct bench *b)
{
    int fd;
    b->at = loopback();
    TASK_ASSERT(tcp_listen(&b->at, CLIENTS, &fd) == 0);
    TASK_ASSERT(listener_new(fd, &b->listener) == 0 && listener_keep_spare(b->listener) == 0);
}

static int take_one(struct bench *b, usec_t deadline)
{
    struct addr peer;
    int fd = -1;
    int r = listener_accept(b->listener, BYTES_LIT("421 full\r\n"), deadline, &fd, &peer);
    if (r < 0)
        return r;
    TASK_ASSERT(addr_is_loopback(&peer) && addr_port(&peer) != 0);
    TASK_ASSERT(fcntl(fd, F_GETFL) & O_NONBLOCK && fcntl(fd, F_GETFD) & FD_CLOEXEC);
    sys_close(fd);
    return 0;
}

static void note_turn(void *arg)
{
    *(bool *)arg = true;
}

static void accept_many(void *arg)
{
    struct bench *b = arg;
    struct scope scope;
    bool others_ran = false;
    scope_init(&scope);
    bench_open(b);
    TASK_ASSERT(take_one(b, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    for (unsigned i = 0; i < CLIENTS; i++)
        b->clients[i] = client_of(&b->at);
    TASK_ASSERT(take_one(b, USEC_NEVER) == 0);
    TASK_ASSERT(scope_start(&scope, "other", TASK_NORMAL, note_turn, &others_ran, NULL) == 0);
    for (unsigned i = 1; i < 32; i++)
        TASK_ASSERT(take_one(b, USEC_NEVER) == 0);
    TASK_ASSERT(!others_ran);
    for (unsigned i = 32; i < CLIENTS; i++)
        TASK_ASSERT(take_one(b, USEC_NEVER) == 0);
    TASK_ASSERT(others_ran);
    close_all(b->clients, CLIENTS);
    scope_leave(&scope);
    b->listener = listener_free(b->listener);
}

static void after_32_connections_others_have_their_turn(void **state)
{
    (void)state;
    struct bench b;
    run_deterministic(1, accept_many, &b);
}

static void connect_later(void *arg)
{
    struct bench *b = arg;
    b->clients[1] = client_of(&b->at);
}

static void accept_quietly(void *arg)
{
    struct bench *b = arg;
    struct scope scope;
    int fd;
    b->at = loopback();
    scope_init(&scope);
    TASK_ASSERT(tcp_listen(&b->at, 2, &fd) == 0);
    TASK_ASSERT(listener_new_quiet(fd, &b->listener) == 0);
    b->clients[0] = client_of(&b->at);
    TASK_ASSERT(take_one(b, USEC_NEVER) == 0); /* it was there */
    TASK_ASSERT(take_one(b, clock_now() + USEC_PER_MS) == -ETIMEDOUT);
    TASK_ASSERT(scope_start(&scope, "later", TASK_NORMAL, connect_later, b, NULL) == 0);
    TASK_ASSERT(take_one(b, USEC_NEVER) == 0); /* it is waited for */
    scope_leave(&scope);
    close_all(b->clients, 2);
    b->listener = listener_free(b->listener);
    /* one that nobody ever asked gives its port back at once */
    TASK_ASSERT(tcp_listen(&b->at, 2, &fd) == 0);
    TASK_ASSERT(listener_new_quiet(fd, &b->listener) == 0);
    b->listener = listener_free(b->listener);
    TASK_ASSERT(tcp_listen(&b->at, 2, &fd) == 0);
    sys_close(fd);
}

static void a_quiet_listener_serves_who_is_there_and_who_comes_later(void **state)
{
    (void)state;
    struct bench b;
    run_deterministic(1, accept_quietly, &b);
    run_threaded(1, accept_quietly, &b);
}

static void out_of_descriptors(void *arg)
{
    struct bench *b = arg;
    struct rlimit limit, few;
    char text[16] = {0};
    bench_open(b);
    b->clients[0] = client_of(&b->at);
    b->clients[1] = client_of(&b->at);
    int next = sys_eventfd();
    sys_close(next);
    TASK_ASSERT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    few = limit;
    few.rlim_cur = (rlim_t)next;
    TASK_ASSERT(setrlimit(RLIMIT_NOFILE, &few) == 0);
    usec_t start = clock_now();
    TASK_ASSERT(take_one(b, start + 50 * USEC_PER_MS) == -ETIMEDOUT);
    TASK_ASSERT(sys_recv(b->clients[0], text, sizeof(text), 0) == 10);
    TASK_ASSERT(memcmp(text, "421 full\r\n", 10) == 0);
    TASK_ASSERT(sys_recv(b->clients[0], text, sizeof(text), 0) == 0);
    TASK_ASSERT(sys_recv(b->clients[1], text, 1, MSG_DONTWAIT) == -EAGAIN);
    TASK_ASSERT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    TASK_ASSERT(take_one(b, clock_now()) == 0); /* without an edge */
    close_all(b->clients, 2);
    b->listener = listener_free(b->listener);
}

static void without_descriptors_a_client_is_told_and_the_next_one_is_served(void **state)
{
    (void)state;
    struct bench b;
    run_deterministic(1, out_of_descriptors, &b);
}

struct cancelled {
    struct bench bench;
    int result;
};

static void accept_until_cancelled(void *arg)
{
    struct cancelled *c = arg;
    c->result = take_one(&c->bench, USEC_NEVER);
}

static void cancel_accept(void *arg)
{
    struct cancelled *c = arg;
    struct scope scope;
    scope_init(&scope);
    bench_open(&c->bench);
    TASK_ASSERT(scope_start(&scope, "acceptor", TASK_NORMAL, accept_until_cancelled, c, NULL) ==
                0);
    TASK_ASSERT(scope_wait(&scope, clock_now() + 1) == -ETIMEDOUT);
    scope_leave(&scope);
    c->bench.listener = listener_free(c->bench.listener);
    TASK_ASSERT(listener_free(NULL) == NULL);
}

static void an_accept_can_be_cancelled(void **state)
{
    (void)state;
    struct cancelled c = {0};
    run_deterministic(1, cancel_accept, &c);
    assert_int_equal(c.result, -ECANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_are_spread_over_all_sockets_of_a_group),
        cmocka_unit_test(who_connects_before_the_workers_are_there_has_the_options_too),
        cmocka_unit_test(a_second_process_is_refused_while_the_first_listens),
        cmocka_unit_test(of_two_that_are_bound_only_one_gets_to_listen),
        cmocka_unit_test(a_restart_is_not_hindered_by_finished_connections),
        cmocka_unit_test(both_families_can_have_one_port),
#ifdef FERRY_FAULTS
        cmocka_unit_test(a_group_is_made_whole_or_not_at_all),
#endif
        cmocka_unit_test(after_32_connections_others_have_their_turn),
        cmocka_unit_test(a_quiet_listener_serves_who_is_there_and_who_comes_later),
        cmocka_unit_test(without_descriptors_a_client_is_told_and_the_next_one_is_served),
        cmocka_unit_test(an_accept_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
