/* The floor runs in a child; these talk to it through plain sockets. */
#include "bench/floor/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/fault.h"
#include "child.h"
#include "task/runtime.h"

#define LINE_MAX_HERE 256
#define PATIENCE_S    30 /* an answer that does not come is a failure, not a hang */
#define FAULTS        110

static char folder[64];
static char content[3 * 1024 * 1024 + 7], content_got[sizeof(content) + 1];

/* -- the child -- */

struct server {
    pid_t pid;
    int word; /* its end is the child's */
    struct addr at;
};

static void tell(void *arg, const struct addr *at)
{
    (void)!write(*(int *)arg, at, sizeof(*at));
}

struct how {
    const char *listen;
    long fault;                     /* the system call that fails; 0: none */
    rlim_t descriptors, file_bytes; /* 0: as they are */
    bool is_orphan;
};

static void limit_to(__rlimit_resource_t what, rlim_t most)
{
    struct rlimit limit = {most, most};
    if (most > 0 && setrlimit(what, &limit) < 0)
        _exit(2);
}

static void serve(const struct how *how, int word)
{
    struct floor_settings settings = {.folder = folder, .ready = tell, .arg = &word};
    if (addr_parse(bytes_str(how->listen), &settings.listen) < 0 || runtime_signals_setup() < 0)
        _exit(2);
    limit_to(RLIMIT_NOFILE, how->descriptors);
    limit_to(RLIMIT_FSIZE, how->file_bytes);
    if (how->fault > 0)
        fault_arm(FAULT_SYSCALL, how->fault);
    exit(floor_run(&settings) == 0 ? 0 : 1); /* not _exit(): leaks are looked for */
}

/* at.len 0: it failed before it listened. */
static struct server start(struct how how)
{
    struct server server = {.word = -1};
    int word[2];
    assert_int_equal(pipe(word), 0);
    fflush(NULL);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        close(word[0]);
        pid_t server_pid = how.is_orphan ? fork() : 0;
        if (server_pid != 0) {
            close(word[1]);
            pause(); /* until it is killed */
        }
        serve(&how, word[1]);
    }
    close(word[1]);
    server.word = word[0];
    if (read(word[0], &server.at, sizeof(server.at)) != sizeof(server.at))
        server.at.len = 0;
    return server;
}

static struct server start_plain(void)
{
    struct server server = start((struct how){.listen = "127.0.0.1:0"});
    assert_true(server.at.len > 0);
    return server;
}

/* Its exit status; a crash is none. */
static int stop(const struct server *server)
{
    int status = 0;
    kill(server->pid, SIGTERM);
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
    close(server->word);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* -- a client -- */

static int connect_to(const struct addr *at)
{
    int fd = socket(addr_family(at), SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct timeval patience = {.tv_sec = PATIENCE_S};
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
    assert_int_equal(connect(fd, &at->u.any, at->len), 0);
    return fd;
}

/* 0: it closed, or the connection broke. */
static unsigned reply(int fd, char line[LINE_MAX_HERE])
{
    size_t len = 0;
    do {
        ssize_t n = recv(fd, line + len, 1, 0);
        assert_false(n < 0 && errno == EAGAIN);
        if (n <= 0)
            return 0;
    } while (line[len++] != '\n' && len + 1 < LINE_MAX_HERE);
    line[len] = '\0';
    return (unsigned)strtoul(line, NULL, 10);
}

static void say(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static unsigned ask(int fd, const char *text)
{
    char line[LINE_MAX_HERE];
    say(fd, text);
    return reply(fd, line);
}

static unsigned next(int fd)
{
    char line[LINE_MAX_HERE];
    return reply(fd, line);
}

static int log_in(const struct server *server)
{
    int fd = connect_to(&server->at);
    assert_int_equal(next(fd), 220);
    assert_int_equal(ask(fd, "USER anybody\r\n"), 331);
    assert_int_equal(ask(fd, "PASS anything\r\n"), 230);
    return fd;
}

/* false: the session is over, or there is no port. */
static bool passive(int fd, const struct server *server, struct addr *ret)
{
    char line[LINE_MAX_HERE];
    unsigned p[6];
    bool is_v6 = addr_family(&server->at) == AF_INET6;
    *ret = server->at;
    say(fd, is_v6 ? "EPSV\r\n" : "PASV\r\n");
    if (reply(fd, line) != (is_v6 ? 229U : 227U))
        return false;
    if (is_v6) {
        assert_int_equal(sscanf(strchr(line, '('), "(|||%u|)", &p[5]), 1);
        p[4] = 0;
    } else {
        assert_int_equal(sscanf(strchr(line, '('), "(%u,%u,%u,%u,%u,%u)", &p[0], &p[1], &p[2],
                                &p[3], &p[4], &p[5]),
                         6);
        assert_int_equal(p[0], 127);
    }
    addr_set_port(ret, (uint16_t)(p[4] * 256 + p[5]));
    return true;
}

static int data_connection(int fd, const struct server *server)
{
    struct addr at;
    assert_true(passive(fd, server, &at));
    return connect_to(&at);
}

/* The last reply, or the first that is not 150. */
static unsigned upload(int fd, const struct server *server, const char *name, size_t len)
{
    struct addr at;
    char line[LINE_MAX_HERE];
    if (!passive(fd, server, &at))
        return 0;
    int data = connect_to(&at);
    snprintf(line, sizeof(line), "STOR %s\r\n", name);
    unsigned code = ask(fd, line);
    for (size_t done = 0; code == 150 && done < len;) {
        ssize_t n = send(data, content + done, len - done, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(data);
    return code == 150 ? next(fd) : code;
}

/* The same; what came must be what was sent, if the server says so. */
static unsigned download(int fd, const struct server *server, const char *name, size_t len)
{
    struct addr at;
    char line[LINE_MAX_HERE];
    if (!passive(fd, server, &at))
        return 0;
    int data = connect_to(&at);
    snprintf(line, sizeof(line), "RETR %s\r\n", name);
    unsigned code = ask(fd, line);
    size_t done = 0;
    ssize_t n = 1;
    while (code == 150 && n > 0) {
        n = recv(data, content_got + done, sizeof(content_got) - done, 0);
        assert_false(n < 0 && errno == EAGAIN);
        done += n > 0 ? (size_t)n : 0;
    }
    close(data);
    if (code != 150)
        return code;
    code = next(fd);
    if (code == 226) {
        assert_int_equal(done, len);
        assert_memory_equal(content_got, content, len);
    }
    return code;
}

/* -- the folder -- */

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/ferry-floor-XXXXXX");
    for (size_t i = 0; i < sizeof(content); i++)
        content[i] = (char)(i * 7 + i / 251);
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

/* -- tests -- */

static void a_dialogue_is_answered(void **state)
{
    (void)state;
    struct server server = start_plain();
    int fd = log_in(&server);
    assert_int_equal(ask(fd, "NOOP\r\n"), 200);
    assert_int_equal(ask(fd, "type i\n"), 200);
    assert_int_equal(ask(fd, "PWD\r\n"), 257);
    assert_int_equal(ask(fd, "SYST\r\n"), 215);
    assert_int_equal(ask(fd, "MLSD\r\n"), 502);
    assert_int_equal(ask(fd, "\r\n"), 502);
    assert_int_equal(ask(fd, "ABOR\r\n"), 225);
    assert_int_equal(ask(fd, "RETR x\r\n"), 425);
    assert_int_equal(ask(fd, "QUIT\r\n"), 221);
    assert_int_equal(next(fd), 0);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void files_of_any_size_come_back_as_they_were_sent(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 5, 64 * 1024 + 1, sizeof(content), 64 * 1024, 16 * 1024};
    struct server server = start_plain();
    int fd = log_in(&server);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct stat st;
        char line[LINE_MAX_HERE];
        assert_int_equal(upload(fd, &server, "a file", sizes[i]), 226);
        assert_int_equal(stat(path_of("a file"), &st), 0);
        assert_int_equal(st.st_size, sizes[i]);
        say(fd, "SIZE /a file\r\n");
        assert_int_equal(reply(fd, line), 213);
        assert_int_equal(strtoul(line + 4, NULL, 10), sizes[i]);
        assert_int_equal(download(fd, &server, "a file", sizes[i]), 226);
    }
    assert_int_equal(ask(fd, "DELE a file\r\n"), 250);
    assert_int_equal(ask(fd, "DELE a file\r\n"), 550);
    assert_int_equal(download(fd, &server, "a file", 0), 550);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void ipv6_serves_alike(void **state)
{
    (void)state;
    struct server server = start((struct how){.listen = "[::1]:0"});
    if (server.at.len == 0) {
        (void)stop(&server);
        skip();
    }
    int fds[8];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = log_in(&server);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        assert_int_equal(ask(fds[i], "PASV\r\n"), 425);
        assert_int_equal(upload(fds[i], &server, "a", 100000), 226);
        assert_int_equal(download(fds[i], &server, "a", 100000), 226);
    }
    assert_int_equal(stop(&server), 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void a_file_that_cannot_be_written_spoils_no_other(void **state)
{
    (void)state;
    struct server server =
        start((struct how){.listen = "127.0.0.1:0", .file_bytes = 1000 * 1000});
    assert_true(server.at.len > 0);
    int fd = log_in(&server);
    assert_int_equal(upload(fd, &server, "large", sizeof(content)), 452);
    assert_int_equal(upload(fd, &server, "small", 500000), 226);
    assert_int_equal(download(fd, &server, "small", 500000), 226);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void a_session_keeps_its_port(void **state)
{
    (void)state;
    struct server server = start_plain();
    int fd = log_in(&server);
    struct addr first, second;
    assert_true(passive(fd, &server, &first));
    assert_true(passive(fd, &server, &second));
    assert_int_equal(addr_port(&first), addr_port(&second));
    assert_int_not_equal(addr_port(&first), addr_port(&server.at));
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void no_name_leads_out_of_the_folder(void **state)
{
    (void)state;
    static const char *const names[] = {
        "../outside", "/../outside", "sub/../x", "sub/x", "..", ".", "", "/", "link", "sub"};
    char outside[128], line[LINE_MAX_HERE];
    assert_int_equal(mkdir(path_of("sub"), 0700), 0);
    assert_int_equal(symlink("/etc/passwd", path_of("link")), 0);
    snprintf(outside, sizeof(outside), "%s-outside", folder);
    assert_int_equal(close(open(outside, O_CREAT | O_WRONLY, 0600)), 0);
    struct server server = start_plain();
    int fd = log_in(&server);
    int data = data_connection(fd, &server);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(line, sizeof(line), "RETR %s\r\n", names[i]);
        assert_int_equal(ask(fd, line), 550);
        snprintf(line, sizeof(line), "STOR %s\r\n", names[i]);
        assert_int_equal(ask(fd, line) / 10, 55);
        snprintf(line, sizeof(line), "SIZE %s\r\n", names[i]);
        assert_int_equal(ask(fd, line), 550);
    }
    snprintf(line, sizeof(line), "DELE ../%s\r\n", strrchr(outside, '/') + 1);
    assert_int_equal(ask(fd, line), 550);
    assert_int_equal(unlink(outside), 0);
    assert_int_equal(close(open(path_of("a"), O_CREAT | O_WRONLY, 0600)), 0);
    assert_int_equal(send(fd, "DELE a\0b\r\n", 10, 0), 10);
    assert_int_equal(next(fd), 550);
    close(data);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void a_fifo_stops_nobody(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    struct server server = start_plain();
    int fd = log_in(&server);
    int data = data_connection(fd, &server);
    assert_int_equal(ask(fd, "RETR fifo\r\n"), 550);
    assert_int_equal(ask(fd, "STOR fifo\r\n"), 553);
    close(data);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void a_transfer_waits_for_its_connection(void **state)
{
    (void)state;
    struct server server = start_plain();
    int fd = log_in(&server);
    struct addr at;
    assert_true(passive(fd, &server, &at));
    say(fd, "STOR late\r\n");
    assert_int_equal(ask(fd, "NOOP\r\n"), 200); /* so it has begun */
    assert_int_equal(ask(fd, "RETR late\r\n"), 425);
    int data = connect_to(&at);
    assert_int_equal(next(fd), 150);
    close(data);
    assert_int_equal(next(fd), 226);

    say(fd, "STOR never\r\n");
    assert_int_equal(ask(fd, "ABOR\r\n"), 426);
    assert_int_equal(next(fd), 226);
    assert_int_equal(upload(fd, &server, "late", 10), 226);
    say(fd, "RETR late\r\n");
    assert_int_equal(ask(fd, "NOOP\r\n"), 200);
    data = connect_to(&at);
    assert_int_equal(next(fd), 150);
    assert_int_equal(next(fd), 226);
    close(data);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void a_transfer_can_be_aborted(void **state)
{
    (void)state;
    struct server server = start_plain();
    int file = open(path_of("big"), O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(file, 64 * 1024 * 1024), 0); /* more than sockets hold */
    close(file);
    int fd = log_in(&server);
    int data = data_connection(fd, &server);
    assert_int_equal(ask(fd, "RETR big\r\n"), 150);
    assert_int_equal(ask(fd, "RETR big\r\n"), 425);
    assert_int_equal(ask(fd, "ABOR\r\n"), 426);
    assert_int_equal(next(fd), 226);
    close(data);

    data = data_connection(fd, &server);
    assert_int_equal(ask(fd, "RETR big\r\n"), 150);
    close(data); /* the client goes away */
    assert_int_equal(next(fd), 426);

    data = data_connection(fd, &server);
    assert_int_equal(ask(fd, "RETR big\r\n"), 150);
    assert_int_equal(truncate(path_of("big"), 0), 0);
    while (recv(data, content_got, sizeof(content_got), 0) > 0)
        continue;
    assert_int_equal(next(fd), 426);
    close(data);
    assert_int_equal(upload(fd, &server, "small", 10), 226);
    assert_int_equal(download(fd, &server, "small", 10), 226);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void lines_come_in_any_pieces(void **state)
{
    (void)state;
    struct server server = start_plain();
    int fd = log_in(&server);
    for (const char *at = "NOOP\r\nPWD\r\n"; *at != '\0'; at++)
        assert_int_equal(send(fd, at, 1, 0), 1);
    assert_int_equal(next(fd), 200);
    assert_int_equal(next(fd), 257);
    say(fd, "NOOP\r\nPWD\r\nNO");
    assert_int_equal(next(fd), 200);
    assert_int_equal(next(fd), 257);
    assert_int_equal(ask(fd, "OP\r\n"), 200);
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void who_floods_it_is_dropped_alone(void **state)
{
    (void)state;
    struct server server = start_plain();
    int good = log_in(&server);
    int endless = log_in(&server);
    static char line[16 * 1024];
    memset(line, 'A', sizeof(line));
    (void)!send(endless, line, sizeof(line), MSG_NOSIGNAL);
    assert_int_equal(next(endless), 0);
    close(endless);

    int deaf = log_in(&server);
    unsigned sent = 0;
    while (sent < 1000000 && send(deaf, "NOOP\r\n", 6, MSG_NOSIGNAL) == 6)
        sent++;
    assert_in_range(sent, 1, 999999);
    close(deaf);
    assert_int_equal(ask(good, "NOOP\r\n"), 200);
    close(good);
    assert_int_equal(stop(&server), 0);
}

static void clients_wait_when_there_are_no_descriptors(void **state)
{
    (void)state;
    struct server server = start((struct how){.listen = "127.0.0.1:0", .descriptors = 24});
    assert_true(server.at.len > 0);
    int fds[60];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = connect_to(&server.at);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        assert_int_equal(next(fds[i]), 220);
        close(fds[i]);
    }
    int fd = log_in(&server); /* nor does a transfer keep one, if it failed or not */
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(upload(fd, &server, "a", 10), 226);
        assert_int_equal(ask(fd, "RETR fifo\r\n"), 550);
    }
    close(fd);
    assert_int_equal(stop(&server), 0);
}

static void a_signal_ends_it_in_the_middle_of_a_transfer(void **state)
{
    (void)state;
    struct server server = start_plain();
    int fd = log_in(&server);
    int data = data_connection(fd, &server);
    assert_int_equal(ask(fd, "STOR half\r\n"), 150);
    assert_int_equal(stop(&server), 0);
    assert_int_equal(next(fd), 0);
    close(data);
    close(fd);
}

static void it_ends_with_the_process_that_started_it(void **state)
{
    (void)state;
    struct server server = start((struct how){.listen = "127.0.0.1:0", .is_orphan = true});
    assert_true(server.at.len > 0);
    int fd = log_in(&server);
    kill(server.pid, SIGKILL);
    assert_int_equal(waitpid(server.pid, NULL, 0), server.pid);
    assert_int_equal(next(fd), 0);
    close(server.word);
    close(fd);
}

static void what_cannot_be_served_is_refused(void **state)
{
    (void)state;
    struct floor_settings settings = {.folder = folder, .ready = tell};
    assert_int_equal(addr_parse(BYTES_LIT("0.0.0.0:0"), &settings.listen), 0);
    assert_int_equal(floor_run(&settings), -EINVAL);
    assert_int_equal(addr_parse(BYTES_LIT("127.0.0.1:0"), &settings.listen), 0);
    settings.folder = path_of("not there");
    assert_int_equal(floor_run(&settings), -ENOENT);
    settings.folder = folder;
    struct server server = start_plain();
    settings.listen = server.at;
    assert_int_equal(floor_run(&settings), -EADDRINUSE);
    assert_int_equal(stop(&server), 0);
}

/* Whatever fails, the client hears of it or is disconnected, and the child neither crashes nor
 * leaks. */
static void any_system_call_may_fail(void **state)
{
    (void)state;
    unsigned unharmed = 0, not_started = 0;
    for (long n = 1; n <= FAULTS; n++) {
        struct server server = start((struct how){.listen = "127.0.0.1:0", .fault = n});
        bool is_well = false;
        if (server.at.len > 0) {
            int fd = connect_to(&server.at);
            is_well = next(fd) == 220 && ask(fd, "USER a\r\n") == 331 &&
                      ask(fd, "PASS b\r\n") == 230 && upload(fd, &server, "a", 100000) == 226 &&
                      download(fd, &server, "a", 100000) == 226 &&
                      ask(fd, "SIZE a\r\n") == 213 && ask(fd, "DELE a\r\n") == 250 &&
                      ask(fd, "QUIT\r\n") == 221;
            close(fd);
        } else {
            not_started++;
        }
        int status = stop(&server);
        assert_true(server.at.len > 0 ? status <= 1 : status == 1);
        unharmed += is_well ? 1 : 0;
    }
    assert_in_range(not_started, 10, 30);
    assert_in_range(unharmed, 1, FAULTS - 40); /* past the last call of all, and a few others */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_dialogue_is_answered),
        TEST(files_of_any_size_come_back_as_they_were_sent),
        TEST(ipv6_serves_alike),
        TEST(a_file_that_cannot_be_written_spoils_no_other),
        TEST(a_session_keeps_its_port),
        TEST(no_name_leads_out_of_the_folder),
        TEST(a_fifo_stops_nobody),
        TEST(a_transfer_waits_for_its_connection),
        TEST(a_transfer_can_be_aborted),
        TEST(lines_come_in_any_pieces),
        TEST(who_floods_it_is_dropped_alone),
        TEST(clients_wait_when_there_are_no_descriptors),
        TEST(a_signal_ends_it_in_the_middle_of_a_transfer),
        TEST(it_ends_with_the_process_that_started_it),
        TEST(what_cannot_be_served_is_refused),
        TEST(any_system_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
