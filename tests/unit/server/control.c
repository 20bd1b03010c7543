/* The control socket and the ends of a server, without any session: worker_main() runs with no
 * listener, and a plain thread plays the peer and the signals. */
#include "server/control.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "session/control_path.h"

#define WORKERS 2

static char dir[64];
static int dir_fd, signals[2];
static struct server server;
static struct settings settings;
static struct refusal why;
static pthread_t peer;
static char answer[8192];

static int setup(void **state)
{
    (void)state;
    const struct identity who = {.changes = false};
    const struct runtime_settings threads = {.workers = WORKERS, .measure_stacks = true};
    strcpy(dir, "/tmp/ferry-control-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(&server, 0, sizeof(server));
    server.settings = &settings;
    server.notify_fd = -1;
    list_init(&server.asks);
    worker_parts_init(&server);
    if (pipe2(signals, O_CLOEXEC | O_NONBLOCK) < 0 ||
        runtime_new(&threads, &server.runtime) < 0)
        return -1;
    server.signal_fd = signals[0];
    return control_listen(dir_fd, &who, &server.control_fd, &why);
}

static int teardown(void **state)
{
    (void)state;
    control_done(&server);
    server.runtime = runtime_free(server.runtime);
    control_remove(dir_fd);
    close(signals[1]);
    close(dir_fd);
    return rmdir(dir);
}

static void send_signal(uint32_t number)
{
    const struct signalfd_siginfo info = {.ssi_signo = number};
    if (write(signals[1], &info, sizeof(info)) != sizeof(info))
        abort();
}

static int dial(void)
{
    struct sockaddr_un addr;
    socklen_t len = control_socket_addr(dir_fd, &addr);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&addr, len) < 0)
        abort();
    return fd;
}

/* Everything until the server closes. */
static void hear(int fd)
{
    size_t have = 0;
    ssize_t n;
    while ((n = read(fd, answer + have, sizeof(answer) - 1 - have)) > 0)
        have += (size_t)n;
    answer[have] = '\0';
    close(fd);
}

static void ask_line(const char *line)
{
    int fd = dial();
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        abort();
    hear(fd);
}

/* Runs the server until play() has ended and SIGTERM has come. */
static void serve(void *(*play)(void *))
{
    assert_int_equal(pthread_create(&peer, NULL, play, NULL), 0);
    assert_int_equal(runtime_run(server.runtime, worker_main, &server), 0);
    assert_int_equal(pthread_join(peer, NULL), 0);
}

static void *ask_who(void *arg)
{
    ask_line("{\"op\": \"who\"}\n");
    send_signal(SIGTERM);
    return arg;
}

static void who_without_sessions_is_an_end_alone(void **state)
{
    (void)state;
    serve(ask_who);
    assert_string_equal(answer, "{\"end\":true}\n");
}

static void *ask_stats(void *arg)
{
    ask_line("{\"op\": \"stats\"}\n");
    send_signal(SIGTERM);
    return arg;
}

static void stats_come_from_every_worker(void **state)
{
    (void)state;
    serve(ask_stats);
    assert_non_null(strstr(answer, "{\"worker\":0,\"sessions\":0,"));
    assert_non_null(strstr(answer, "{\"worker\":1,\"sessions\":0,"));
    assert_non_null(strstr(answer, "{\"end\":true}\n"));
}

static const struct {
    const char *line, *says;
} refused[] = {
    {"{\"op\": \"kick\", \"id\": 7}\n", "no such session"},
    {"{\"op\": \"kick\"}\n", "the number of a session"},
    {"{\"op\": \"kick\", \"id\": -1}\n", "the number of a session"},
    {"{\"op\": \"dance\"}\n", "unknown operation"},
    {"{\"op\": 7}\n", "not a request"},
    {"[]\n", "not a request"},
    {"{\"op\": {\"op\": [[7]]}}\n", "not a request"},
    {"who\n", "not a request"},
    {"\n", "not a request"},
};

static const char *bad; /* the first that was answered wrongly */

static void *ask_badly(void *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        ask_line(refused[i].line);
        if (strstr(answer, "\"end\":true") == NULL || strstr(answer, refused[i].says) == NULL)
            bad = refused[i].line;
    }
    char line[CONTROL_REQUEST_MAX];
    memset(line, 'x', sizeof(line));
    int fd = dial();
    if (write(fd, line, sizeof(line)) < 0)
        abort();
    hear(fd);
    if (strstr(answer, "\"error\"") == NULL)
        bad = "a line that is too long";
    fd = dial();
    shutdown(fd, SHUT_WR); /* ends without a line */
    hear(fd);
    send_signal(SIGTERM);
    return arg;
}

static void what_is_no_request_is_told_so(void **state)
{
    (void)state;
    bad = NULL;
    serve(ask_badly);
    assert_null(bad);
}

/* As deep as a line can be: the parser of JSON calls itself for each level. */
static void *ask_deeply(void *arg)
{
    char line[CONTROL_REQUEST_MAX];
    memset(line, '[', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    int fd = dial();
    if (write(fd, line, sizeof(line)) < 0)
        abort();
    hear(fd);
    bad = strstr(answer, "not a request") == NULL ? "a nested request" : NULL;
    ask_line("{\"op\": \"stats\"}\n");
    send_signal(SIGTERM);
    return arg;
}

static void no_task_uses_half_of_its_stack(void **state)
{
    (void)state;
    serve(ask_deeply);
    assert_null(bad);
    const struct stack_depth *depths;
    unsigned count = runtime_stack_depths(server.runtime, &depths);
    bool has_client = false;
    for (unsigned i = 0; i < count; i++) {
        print_message("%s: %zu of %zu bytes\n", depths[i].task_name, depths[i].bytes,
                      depths[i].of_bytes);
        assert_true(depths[i].bytes <= depths[i].of_bytes / 2);
        has_client |= strcmp(depths[i].task_name, "control_client") == 0;
    }
    assert_true(has_client);
}

static void *dial_often(void *arg)
{
    int fds[32];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = dial();
    hear(fds[ARRAY_LEN(fds) - 1]); /* closed at once, without a word */
    bad = answer[0] != '\0' ? "one client too many" : NULL;
    for (size_t i = 0; i + 1 < ARRAY_LEN(fds); i++)
        close(fds[i]);
    send_signal(SIGTERM);
    return arg;
}

static void clients_beyond_the_bound_are_closed(void **state)
{
    (void)state;
    serve(dial_often);
    assert_null(bad);
}

static void *hang_and_stop(void *arg)
{
    int fd = dial();
    send_signal(SIGINT);
    hear(fd); /* the server ends although we say nothing */
    return arg;
}

static void a_silent_client_does_not_hold_the_end(void **state)
{
    (void)state;
    serve(hang_and_stop);
}

static void the_socket_is_its_owner_s_alone(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(fstatat(dir_fd, CONTROL_SOCKET_NAME, &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0600);
    close(signals[0]);
    close(server.control_fd);
}

static void a_socket_that_a_dead_server_left_is_replaced(void **state)
{
    (void)state;
    const struct identity who = {.changes = false};
    int fd = -1;
    assert_int_equal(control_listen(dir_fd, &who, &fd, &why), 0);
    close(fd);
    close(signals[0]);
    close(server.control_fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(who_without_sessions_is_an_end_alone),
        TEST(stats_come_from_every_worker),
        TEST(what_is_no_request_is_told_so),
        TEST(no_task_uses_half_of_its_stack),
        TEST(clients_beyond_the_bound_are_closed),
        TEST(a_silent_client_does_not_hold_the_end),
        TEST(the_socket_is_its_owner_s_alone),
        TEST(a_socket_that_a_dead_server_left_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
