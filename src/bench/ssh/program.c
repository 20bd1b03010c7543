#include "bench/ssh/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/machine/aside.h"
#include "bench/machine/proc.h"
#include "bench/machine/usage.h"
#include "bench/peers/peer_program.h"
#include "bench/ssh/stage_keys.h"
#include "task/sys.h"

#define SAID_MAX     (1024 * 1024)
#define READ_AT_ONCE 4096
#define WORD_MAX     (STAGE_SSH_PATH_MAX + 64)
#define WORDS_MAX    16384

static char *const environment[] = {
    (char[]){"PATH=/usr/bin:/bin"},
    (char[]){"LC_ALL=C.UTF-8"},
    (char[]){"HOME=/nonexistent"},
    NULL,
};

void ssh_program_init(struct ssh_program *p)
{
    *p = (struct ssh_program){.pid = 0};
    buf_init(&p->said, SAID_MAX);
}

/* -- the command line -- */

/* Words one after the other, each with its NUL; a pointer to each when all are there. */
struct words {
    struct buf text;
    unsigned count;
    int result;
};

static void add(struct words *w, const char *word)
{
    if (w->result == 0 && w->count == SSH_PROGRAM_ARGS_MAX)
        w->result = -FERRY_ELIMIT;
    if (w->result == 0)
        w->result = buf_append(&w->text, word, strlen(word) + 1);
    w->count++;
}

static void add_option(struct words *w, const char *key, const char *value)
{
    char word[WORD_MAX];
    snprintf(word, sizeof(word), "-o%s=%s", key, value);
    add(w, word);
}

static void add_options(struct words *w, const struct ssh_program_call *call)
{
    char path[STAGE_SSH_PATH_MAX], port[8];
    static const char *const fixed[][2] = {
        {"GlobalKnownHostsFile", "/dev/null"},
        {"StrictHostKeyChecking", "yes"},
        {"UpdateHostKeys", "no"},
        {"IdentitiesOnly", "yes"},
        {"IdentityAgent", "none"},
        {"PreferredAuthentications", "publickey"},
        {"BatchMode", "yes"},
        {"ControlMaster", "no"},
        {"ControlPath", "none"},
        {"Compression", "no"},
        {"ForwardX11", "no"},
        {"LogLevel", "ERROR"},
    };
    add(w, "-F/dev/null");
    for (unsigned i = 0; i < ARRAY_LEN(fixed); i++)
        add_option(w, fixed[i][0], fixed[i][1]);
    add_option(w, "UserKnownHostsFile", stage_ssh_path(call->stage, "known_hosts", path));
    add_option(w, "IdentityFile", stage_ssh_path(call->stage, "client_key", path));
    snprintf(port, sizeof(port), "%u", addr_port(call->server));
    add_option(w, "Port", port);
    add_option(w, "Ciphers", call->detail->cipher);
    if (call->detail->mac != NULL)
        add_option(w, "MACs", call->detail->mac);
}

/* scp alone has a path behind the server's name. */
static void add_server(struct words *w, const struct ssh_program_call *call, const char *path)
{
    char word[WORD_MAX], host[ADDR_TEXT_MAX];
    snprintf(word, sizeof(word), STAGE_USER "@%s%s%s", addr_format_host(call->server, host),
             path[0] != '\0' ? ":" : "", path);
    add(w, word);
}

static int make_words(const struct ssh_program_call *call, struct words *w,
                      const char *argv[SSH_PROGRAM_ARGS_MAX + 1])
{
    add(w, call->path);
    add_options(w, call);
    for (unsigned i = 0; i < ARRAY_LEN(call->args) && call->args[i] != NULL; i++)
        if (call->args[i][0] == '@')
            add_server(w, call, call->args[i] + 1);
        else
            add(w, call->args[i]);
    if (w->result < 0)
        return w->result;
    const char *at = (const char *)w->text.data;
    for (unsigned i = 0; i < w->count; i++) {
        argv[i] = at;
        at += strlen(at) + 1;
    }
    argv[w->count] = NULL;
    return 0;
}

/* -- its life -- */

static int take_end(int *fd, struct io_fd **ret)
{
    int taken = *fd;
    *fd = -1;
    int r = sys_set_nonblocking(taken, true);
    if (r >= 0)
        return io_fd_new(taken, ret);
    sys_close(taken);
    return r;
}

static int start(struct ssh_program *p, const struct ssh_program_call *call,
                 const char *const argv[])
{
    int in[2] = {-1, -1}, out[2];
    int r = sys_pipe(out);
    if (r < 0)
        return r;
    if (call->is_spoken_to)
        r = sys_pipe(in);
    const struct peer_program program = {
        .path = call->path,
        .argv = argv,
        .environment = environment,
        .input = in[0],
        .output = out[1],
        .input_path = call->input,
        .discards = call->discards,
    };
    if (r == 0)
        r = peer_program_start(&program, &p->pid);
    sys_close(in[0]);
    sys_close(out[1]);
    if (r == 0)
        r = take_end(&out[0], &p->output);
    if (r == 0 && call->is_spoken_to)
        r = take_end(&in[1], &p->input);
    sys_close(out[0]);
    sys_close(in[1]);
    return r;
}

int ssh_program_start(struct ssh_program *p, const struct ssh_program_call *call)
{
    const char *argv[SSH_PROGRAM_ARGS_MAX + 1];
    struct words words = {.count = 0};
    buf_init(&words.text, WORDS_MAX);
    buf_clear(&p->said);
    int r = make_words(call, &words, argv);
    if (r == 0)
        r = start(p, call, argv);
    buf_done(&words.text);
    return r;
}

static int wait_blocking(void *arg)
{
    int status, r = sys_waitpid((pid_t) * (const unsigned *)arg, &status, 0);
    if (r < 0)
        return r;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -FERRY_EREFUSED;
}

/* Of a program that has ended, or was killed. */
static int bury(struct ssh_program *p, struct pool *pool)
{
    int r = p->pid != 0 ? aside_run(pool, wait_blocking, &p->pid) : 0;
    p->input = io_fd_close(p->input);
    p->output = io_fd_close(p->output);
    p->pid = 0;
    return r;
}

void ssh_program_stop(struct ssh_program *p, struct pool *pool)
{
    if (p->pid != 0)
        (void)!sys_kill(-(pid_t)p->pid, SIGKILL);
    (void)!bury(p, pool);
    buf_done(&p->said);
}

/* -- what is said -- */

/* 0: all that is asked for has been written; -EAGAIN is waited out. */
static int say(struct ssh_program *p, struct bytes text, usec_t deadline)
{
    while (text.len > 0) {
        unsigned edges = io_fd_edges(p->input, IO_WRITE);
        ssize_t n = sys_write(io_fd_number(p->input), text.data, text.len);
        if (n == -EAGAIN) {
            io_fd_not_ready(p->input, IO_WRITE, edges);
            n = io_fd_wait(p->input, IO_WRITE, deadline);
        }
        if (n < 0)
            return n == -EPIPE ? -FERRY_ECLOSED : (int)n;
        text = bytes_skip(text, (size_t)n);
    }
    return 0;
}

/* 1: something has come; 0: it has ended. */
static int hear(struct ssh_program *p, usec_t deadline)
{
    int r = buf_reserve(&p->said, READ_AT_ONCE);
    if (r < 0)
        return r;
    for (;;) {
        unsigned edges = io_fd_edges(p->output, IO_READ);
        ssize_t n = sys_read(io_fd_number(p->output), p->said.data + p->said.len, READ_AT_ONCE);
        if (n > 0)
            buf_added(&p->said, (size_t)n);
        if (n != -EAGAIN)
            return n > 0 ? 1 : (int)n;
        io_fd_not_ready(p->output, IO_READ, edges);
        r = io_fd_wait(p->output, IO_READ, deadline);
        if (r < 0)
            return r;
    }
}

/* Drops all lines up to one that begins so, and it. */
static bool take_answer(struct buf *said, const char *answer)
{
    struct bytes rest = buf_bytes(said);
    size_t end;
    while (bytes_find(rest, '\n', &end)) {
        bool is_it = bytes_start_with(rest, bytes_str(answer));
        rest = bytes_skip(rest, end + 1);
        if (is_it) {
            buf_consume(said, said->len - rest.len);
            return true;
        }
    }
    return false;
}

int ssh_program_ask(struct ssh_program *p, const char *text, const char *answer,
                    usec_t deadline)
{
    buf_clear(&p->said);
    int r = say(p, bytes_str(text), deadline);
    while (r >= 0 && !take_answer(&p->said, answer)) {
        r = hear(p, deadline);
        if (r == 0)
            return -FERRY_ECLOSED;
    }
    return r < 0 ? r : 0;
}

int ssh_program_wait(struct ssh_program *p, struct pool *pool, usec_t deadline,
                     struct ssh_program_cpu *ret)
{
    int r;
    p->input = io_fd_close(p->input);
    while ((r = hear(p, deadline)) > 0)
        continue;
    int known = r == 0 ? ssh_program_cost(p, pool, ret) : r;
    if (r < 0)
        (void)!sys_kill(-(pid_t)p->pid, SIGKILL);
    int ended = bury(p, pool);
    return r < 0 ? r : ended < 0 ? ended : known;
}

/* -- what it costs -- */

struct cost {
    unsigned pid;
    struct ssh_program_cpu cpu;
};

/* The children that it has waited for count as others, too. */
static int cost_blocking(void *arg)
{
    struct cost *c = arg;
    struct usage all;
    struct proc proc;
    struct bytes stat;
    uint64_t own, children;
    proc_init(&proc, "/proc");
    int r = proc_read(&proc, c->pid, "stat", &stat);
    if (r == 0)
        r = usage_parse_stat(stat, &own, &children);
    proc_done(&proc);
    if (r == 0)
        r = usage_read_tree("/proc", c->pid, false, &all);
    if (r < 0)
        return r;
    c->cpu.own_us = own * (USEC_PER_S / (usec_t)sysconf(_SC_CLK_TCK));
    c->cpu.others_us = all.cpu_us > c->cpu.own_us ? all.cpu_us - c->cpu.own_us : 0;
    return 0;
}

int ssh_program_cost(const struct ssh_program *p, struct pool *pool,
                     struct ssh_program_cpu *ret)
{
    struct cost cost = {.pid = p->pid};
    int r = aside_run(pool, cost_blocking, &cost);
    if (r == 0)
        *ret = cost.cpu;
    return r;
}

void ssh_program_explain(const struct ssh_program *p, const char *what, int result, size_t cap,
                         char *dst)
{
    char last[160];
    text_copy_printable(last, sizeof(last), peer_program_last_words(buf_bytes(&p->said)));
    bool is_said = (result == -FERRY_EREFUSED || result == -FERRY_ECLOSED) && last[0] != '\0';
    snprintf(dst, cap, "%s: %s", what, is_said ? last : err_text(result));
}
