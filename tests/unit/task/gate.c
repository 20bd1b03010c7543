/* What the runtime is for: an echo server with ten thousand clients. `gate serve doze|awake` is
 * the server, run as a process of its own so that its memory can be read off; without arguments
 * it is the test. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "receive.h"
#include "runtime_fixture.h"
#include "task/fd.h"
#include "task/sanitizer.h"
#include "task/sys.h"

#ifdef FERRY_TSAN
#define CLIENTS 500 /* TSan knows a few thousand fibres at most */
#else
#define CLIENTS 10000
#endif

/* -- the server -- */

static struct scope sessions;
static struct list all_sessions;
static bool stays_awake, stops;

struct echo {
    struct list node;
    struct io_fd *fd;
};

static void answer(struct echo *e, const char *data, size_t len)
{
    if (data[0] == 'S') { /* how many are awake and how many doze */
        struct worker_stats stats;
        char text[64];
        worker_stats(worker_self(), &stats);
        int n = snprintf(text, sizeof(text), "%u %u\n", stats.tasks, stats.dozing);
        TASK_ASSERT(sys_send(io_fd_number(e->fd), text, (size_t)n, 0) == n);
        return;
    }
    TASK_ASSERT(sys_send(io_fd_number(e->fd), data, len, 0) == (ssize_t)len);
}

static void wait_on(void *arg)
{
    (void)arg;
}

static void echo_run(void *arg)
{
    struct echo *e = arg;
    char data[64];
    for (;;) {
        usec_t deadline = stays_awake ? USEC_NEVER : clock_after(100 * USEC_PER_MS);
        ssize_t n = stops ? 0 : receive(e->fd, data, sizeof(data), deadline);
        if (n == -ETIMEDOUT) {
            io_fd_doze(e->fd, &sessions, "echo", echo_run, wait_on, e, USEC_NEVER);
            return;
        }
        if (n <= 0)
            break;
        answer(e, data, (size_t)n);
    }
    (void)io_fd_close(e->fd);
    list_remove(&e->node);
    mem_free(e);
}

static void accept_all(void *arg)
{
    struct io_fd *listener = arg;
    for (;;) {
        unsigned edges = io_fd_edges(listener, IO_READ);
        int fd = sys_accept(io_fd_number(listener), NULL, NULL);
        if (fd >= 0) {
            struct echo *e = mem_new(sizeof(*e));
            TASK_ASSERT(e && io_fd_new(fd, &e->fd) == 0);
            list_append(&all_sessions, &e->node);
            TASK_ASSERT(scope_start(&sessions, "echo", TASK_NORMAL, echo_run, e, NULL) == 0);
            continue;
        }
        TASK_ASSERT(fd == -EAGAIN);
        io_fd_not_ready(listener, IO_READ, edges);
        if (io_fd_wait(listener, IO_READ, USEC_NEVER) < 0)
            return;
    }
}

static void serve_main(void *arg)
{
    (void)arg;
    struct sockaddr_in addr = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    int fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    TASK_ASSERT(fd >= 0 && sys_bind(fd, (struct sockaddr *)&addr, len) == 0);
    TASK_ASSERT(sys_listen(fd, 1024) == 0);
    TASK_ASSERT(sys_getsockname(fd, (struct sockaddr *)&addr, &len) == 0);
    printf("%u\n", ntohs(addr.sin_port));
    (void)fflush(stdout);

    struct io_fd *listener, *input;
    TASK_ASSERT(io_fd_new(fd, &listener) == 0);
    TASK_ASSERT(io_fd_new(STDIN_FILENO, &input) == 0);
    struct scope accepts;
    scope_init(&accepts);
    scope_init(&sessions);
    list_init(&all_sessions);
    TASK_ASSERT(scope_start(&accepts, "accept", TASK_NORMAL, accept_all, listener, NULL) == 0);

    char c; /* the end of standard input ends the server */
    for (;;) {
        unsigned edges = io_fd_edges(input, IO_READ);
        if (sys_read(STDIN_FILENO, &c, 1) != -EAGAIN)
            break;
        io_fd_not_ready(input, IO_READ, edges);
        TASK_ASSERT(io_fd_wait(input, IO_READ, USEC_NEVER) == 0);
    }
    stops = true;
    scope_leave(&accepts);
    LIST_EACH(node, &all_sessions)
    io_fd_wake(LIST_ENTRY(node, struct echo, node)->fd);
    scope_cancel(&sessions);
    TASK_ASSERT(scope_wait(&sessions, USEC_NEVER) == 0);
    scope_leave(&sessions);
    TASK_ASSERT(list_empty(&all_sessions));
    (void)io_fd_close(listener);
    (void)io_fd_close(input);
}

static int serve(const char *how)
{
    stays_awake = strcmp(how, "awake") == 0;
    (void)fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    run_threaded(1, serve_main, NULL);
    return 0;
}

/* -- the test -- */

static const char *self_path;
static int clients[CLIENTS];

struct server {
    pid_t pid;
    int input;
    struct sockaddr_in addr;
};

static struct server server_start(const char *how)
{
    int in[2], out[2];
    struct server s = {
        .addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    assert_int_equal(posix_spawn_file_actions_init(&files), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&files, in[0], 0), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&files, out[1], 1), 0);
    static char program[4096];
    char word[] = "serve", kind[16];
    (void)snprintf(program, sizeof(program), "%s", self_path);
    (void)snprintf(kind, sizeof(kind), "%s", how);
    char *argv[] = {program, word, kind, NULL};
    assert_int_equal(posix_spawn(&s.pid, program, &files, NULL, argv, environ), 0);
    (void)posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
    s.input = in[1];
    char text[16] = "";
    assert_true(read(out[0], text, sizeof(text) - 1) > 0);
    close(out[0]);
    s.addr.sin_port = htons((uint16_t)strtoul(text, NULL, 10));
    return s;
}

static void ping(int fd)
{
    char data[8] = "";
    assert_int_equal(send(fd, "ping", 4, MSG_NOSIGNAL), 4);
    assert_int_equal(recv(fd, data, 4, MSG_WAITALL), 4);
    assert_memory_equal(data, "ping", 4);
}

static int connect_to(const struct server *s)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&s->addr, sizeof(s->addr)), 0);
    return fd;
}

static void ask_stats(int fd, unsigned *ret_tasks, unsigned *ret_dozing)
{
    char text[64] = "";
    assert_int_equal(send(fd, "S", 1, MSG_NOSIGNAL), 1);
    assert_true(recv(fd, text, sizeof(text) - 1, 0) > 0);
    assert_int_equal(sscanf(text, "%u %u", ret_tasks, ret_dozing), 2); // NOLINT(cert-err34-c)
}

static unsigned long private_dirty_kb(pid_t pid)
{
    char path[64], line[256];
    unsigned long kb = 0, total = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "Private_Dirty: %lu kB", &kb) == 1) // NOLINT(cert-err34-c)
            total += kb;
    }
    (void)fclose(f);
    return total;
}

static void server_stop(struct server *s)
{
    int status = -1;
    close(s->input);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    assert_int_equal(status, 0); /* no leak, no assertion */
}

static void ten_thousand(const char *how, unsigned long limit_kb)
{
    struct server s = server_start(how);
    int asker = connect_to(&s);
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(&s);
        ping(clients[i]);
    }
    unsigned tasks = 0, dozing = 0;
    bool dozes = strcmp(how, "doze") == 0;
    for (unsigned tries = 0; tries < 200; tries++) {
        ask_stats(asker, &tasks, &dozing);
        if (dozes ? dozing >= CLIENTS : tasks > CLIENTS)
            break;
        (void)usleep(50000); /* for the server's own clock; bounded */
    }
    assert_true(dozes ? dozing >= CLIENTS : tasks > CLIENTS);
    unsigned long kb = private_dirty_kb(s.pid);
    print_message("%u clients, %s: %lu KB private, %.0f bytes each\n", CLIENTS, how, kb,
                  (double)kb * 1024 / CLIENTS);
#if !defined(FERRY_ASAN) && !defined(FERRY_TSAN)
    assert_true(kb < limit_kb);
#endif
    (void)limit_kb;
    for (unsigned i = 0; i < CLIENTS; i++)
        ping(clients[i]); /* each wakes, or is there */
    for (unsigned i = 0; i < CLIENTS / 2; i++)
        close(clients[i]); /* half go by themselves, half are sent away */
    server_stop(&s);
    for (unsigned i = CLIENTS / 2; i < CLIENTS; i++)
        close(clients[i]);
    close(asker);
}

static void ten_thousand_dozing_clients_stay_under_15_mb(void **state)
{
    (void)state;
    ten_thousand("doze", 15UL * 1024);
}

static void ten_thousand_awake_tasks_stay_under_80_mb(void **state)
{
    (void)state;
    ten_thousand("awake", 80UL * 1024);
}

/* -- the debugger -- */

static unsigned count_in_output(const char *command, const char *needle)
{
    unsigned count = 0;
    char line[1024];
    FILE *f = popen(command, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        count += strstr(line, needle) != NULL;
    (void)pclose(f);
    return count;
}

static void the_debugger_lists_every_parked_task_of_a_process_and_of_a_core(void **state)
{
    (void)state;

    enum { FEW = 20 };
#if defined(FERRY_ASAN) || defined(FERRY_TSAN)
    skip(); /* the core would have terabytes of shadow memory */
#endif

    if (system("gdb --version >/dev/null 2>&1") != 0) {
        print_message("skipped: gdb is not installed\n");
        skip();
    }
    struct server s = server_start("awake");
    for (unsigned i = 0; i < FEW; i++) {
        clients[i] = connect_to(&s);
        ping(clients[i]);
    }
    static const char script[] = "-x tools/gdb/tasks.py -ex 'ferry-tasks echo'";
    static char command[3 * 4096], core[64];
    (void)snprintf(core, sizeof(core), "/tmp/ferry-gate-%d.core", s.pid);
    (void)snprintf(command, sizeof(command), "gdb -batch -p %d %s -ex 'gcore %s' 2>/dev/null",
                   s.pid, script, core);
    assert_int_equal(count_in_output(command, "echo_run ("), FEW);
    (void)snprintf(command, sizeof(command), "gdb -batch %s %s %s 2>/dev/null", self_path, core,
                   script);
    assert_int_equal(count_in_output(command, "task echo  worker 0  parked (read)"), FEW);
    assert_int_equal(count_in_output(command, "echo_run ("), FEW);
    (void)unlink(core);
    for (unsigned i = 0; i < FEW; i++)
        close(clients[i]);
    server_stop(&s);
}

int main(int argc, char **argv)
{
    struct rlimit files;
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2]);
    if (files.rlim_cur < CLIENTS + 100) {
        print_message("skipped: %lu descriptors are too few\n", (unsigned long)files.rlim_cur);
        return 77;
    }
    self_path = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_dozing_clients_stay_under_15_mb),
        cmocka_unit_test(ten_thousand_awake_tasks_stay_under_80_mb),
        cmocka_unit_test(the_debugger_lists_every_parked_task_of_a_process_and_of_a_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
