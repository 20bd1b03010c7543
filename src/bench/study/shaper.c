#include "bench/study/shaper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "bench/peers/peer_program.h"
#include "bench/ssh/relay.h"
#include "io/tcp.h"
#include "task/fd.h"
#include "task/runtime.h"
#include "task/sys.h"

#define ANSWER_MAX 128
#define ANSWER_MS  60000
#define MB         (1024.0 * 1024.0)

/* -- the side of the study -- */

void shaper_stop(struct shaper *s)
{
    int status;
    if (s->path.bytes_per_s == 0)
        return;
    sys_fd_close(&s->lifeline);
    (void)!sys_kill((pid_t)s->pid, SIGKILL);
    (void)!sys_waitpid((pid_t)s->pid, &status, 0);
    s->path.bytes_per_s = 0;
}

/* Its first line. */
static int read_answer(struct shaper *s, int fd)
{
    char line[ANSWER_MAX];
    size_t len = 0;
    struct pollfd end = {.fd = fd, .events = POLLIN};
    ssize_t n = 1;
    while (n > 0 && len < sizeof(line) && (len == 0 || line[len - 1] != '\n')) {
        int r = sys_poll(&end, 1, ANSWER_MS);
        n = r > 0 ? sys_read(fd, line + len, sizeof(line) - len) : r;
        len += n > 0 ? (size_t)n : 0;
    }
    if (n <= 0)
        return n < 0 ? (int)n : -ECHILD;
    struct bytes rest = bytes_of(line, len - 1);
    uint64_t rate = 0, trip_us = 0;
    int r = addr_parse(bytes_take_until(&rest, ' '), &s->addr);
    if (r == 0)
        r = text_u64(bytes_take_until(&rest, ' '), 10, UINT64_MAX, &rate);
    if (r == 0)
        r = text_u64(rest, 10, UINT32_MAX, &trip_us);
    s->measured = (double)rate;
    s->measured_trip_us = trip_us;
    return r;
}

static int start(struct shaper *s, int input, int output)
{
    char to[ADDR_TEXT_MAX], rate[24], trip[24];
    snprintf(rate, sizeof(rate), "%llu", (unsigned long long)s->path.bytes_per_s);
    snprintf(trip, sizeof(trip), "%llu", (unsigned long long)s->path.round_trip_us);
    const char *const argv[] = {"ferry", "bench", "run-relay", addr_format(&s->to, to),
                                rate,    trip,    NULL};
    const struct peer_program program = {
        .path = "/proc/self/exe",
        .argv = argv,
        .environment = environ,
        .input = input,
        .output = output,
    };
    return peer_program_start(&program, &s->pid);
}

int shaper_use(struct shaper *s, const struct addr *to, const struct shaper_path *path)
{
    if (s->path.bytes_per_s == path->bytes_per_s &&
        s->path.round_trip_us == path->round_trip_us && addr_same_host(&s->to, to) &&
        addr_port(&s->to) == addr_port(to))
        return 0;
    shaper_stop(s);
    int in[2], out[2];
    int r = sys_pipe(in);
    if (r < 0)
        return r;
    r = sys_pipe(out);
    if (r < 0) {
        sys_close(in[0]);
        sys_close(in[1]);
        return r;
    }
    *s = (struct shaper){.to = *to, .path = *path, .lifeline = in[1]};
    r = start(s, in[0], out[1]);
    sys_close(in[0]);
    sys_close(out[1]);
    if (r < 0) {
        sys_fd_close(&s->lifeline);
        s->path.bytes_per_s = 0;
    } else {
        r = read_answer(s, out[0]);
        if (r < 0)
            shaper_stop(s);
    }
    sys_close(out[0]);
    return r;
}

/* -- the process -- */

struct serving {
    const struct addr *to;
    struct relay_path path;
    int result;
};

/* Standard input says nothing: it ends. */
static int wait_for_end(void)
{
    struct io_fd *f;
    uint8_t byte;
    ssize_t n = -EAGAIN;
    int r = sys_set_nonblocking(STDIN_FILENO, true);
    if (r >= 0)
        r = io_fd_new(STDIN_FILENO, &f);
    if (r < 0)
        return r;
    while (r == 0 && n != 0) {
        unsigned edges = io_fd_edges(f, IO_READ);
        n = sys_read(io_fd_number(f), &byte, 1);
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_READ, edges);
            r = io_fd_wait(f, IO_READ, USEC_NEVER);
        } else if (n < 0) {
            r = (int)n;
        }
    }
    (void)io_fd_close(f);
    return r;
}

static void serve_main(void *arg)
{
    struct serving *s = arg;
    struct relay_quality quality;
    struct relay *relay = NULL;
    int r = relay_test_shaped(&s->path, &quality);
    if (r == 0)
        r = relay_new_shaped(s->to, &s->path, &relay);
    if (r == 0) {
        char text[ADDR_TEXT_MAX];
        printf("%s %.0f %llu\n", addr_format(relay_addr(relay), text), quality.mb_per_s * MB,
               (unsigned long long)quality.round_trip_us);
        fflush(stdout);
        r = wait_for_end();
    }
    (void)relay_free(relay);
    s->result = r;
}

static void worker_main(void *arg)
{
    struct scope scope;
    struct serving *s = arg;
    scope_init(&scope);
    int r = scope_start(&scope, "shaper", TASK_NORMAL, serve_main, s, NULL);
    if (r == 0)
        r = scope_wait(&scope, USEC_NEVER);
    if (r < 0)
        s->result = r;
    scope_leave(&scope);
}

int shaper_run(const struct addr *to, const struct shaper_path *path)
{
    const struct runtime_settings settings = {
        .workers = 1, .pool_threads = 1, .hash_threads = 1};
    struct serving s = {
        .to = to,
        .path = {.bytes_per_s = path->bytes_per_s, .round_trip_us = path->round_trip_us}};
    struct runtime *runtime = NULL;
    int r = runtime_signals_setup();
    if (r == 0)
        r = runtime_new(&settings, &runtime);
    if (r == 0)
        r = runtime_run(runtime, worker_main, &s);
    (void)runtime_free(runtime);
    return r < 0 ? r : s.result;
}
