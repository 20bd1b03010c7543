#include "bench/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/rows.h"
#include "task/fd.h"
#include "task/sys.h"

#define TICK_US      (200 * USEC_PER_MS)
#define IDLE_WAIT_US (2 * USEC_PER_S)

enum { LOAD_WORKER, PROBE_WORKER, WORKERS };

struct session {
    struct bench bench;
    struct scope work;  /* what a signal ends: the rows, then the removal of files */
    struct scope aside; /* what goes on until the end */
    int signal_fd;
    bool was_interrupted;
    int result;
    unsigned files_left;
    int removal_result;
};

static void rows_main(void *arg)
{
    struct session *s = arg;
    s->result = rows_run(&s->bench);
}

static void remove_main(void *arg)
{
    struct session *s = arg;
    s->removal_result = load_remove_files(&s->bench.load, &s->files_left);
}

/* The first signal ends the rows, the next one the removal of files. */
static void signals_main(void *arg)
{
    struct session *s = arg;
    struct io_fd *f;
    int fd = s->signal_fd;
    s->signal_fd = -1;
    int r = io_fd_new(fd, &f);
    if (r < 0)
        return;
    while (r == 0) {
        struct signalfd_siginfo info;
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_read(io_fd_number(f), &info, sizeof(info));
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_READ, edges);
            r = io_fd_wait(f, IO_READ, USEC_NEVER);
        } else if (n < 0) {
            r = (int)n;
        } else {
            s->was_interrupted = true;
            scope_cancel(&s->work);
        }
    }
    (void)io_fd_close(f);
}

static void tick_main(void *arg)
{
    const struct bench *b = &((struct session *)arg)->bench;
    while (task_sleep_until(clock_now() + TICK_US) == 0)
        b->watcher->tick(b->watcher->arg, b->label);
}

static int start(struct scope *scope, const char *name, task_fn *fn, struct session *s)
{
    return scope_start(scope, name, TASK_NORMAL, fn, s, NULL);
}

/* Runs one thing that a signal may end. */
static int run_work(struct session *s, const char *name, task_fn *fn)
{
    int r = start(&s->work, name, fn, s);
    return r < 0 ? r : scope_wait(&s->work, USEC_NEVER);
}

static void load_main(struct session *s)
{
    scope_init(&s->work);
    scope_init(&s->aside);
    int r = start(&s->aside, "signals", signals_main, s);
    if (r == 0 && s->bench.watcher->tick != NULL)
        r = start(&s->aside, "tick", tick_main, s);
    if (r == 0)
        r = run_work(s, "rows", rows_main);
    if (r < 0)
        s->result = r;
    load_close(&s->bench.load);
    s->bench.label = "removing files";
    r = run_work(s, "remove files", remove_main);
    if (r < 0)
        s->removal_result = r;
    scope_leave(&s->work);
    scope_leave(&s->aside);
    probe_over(&s->bench.probe);
}

static void worker_main(void *arg)
{
    struct session *s = arg;
    if (worker_index(worker_self()) == LOAD_WORKER)
        load_main(s);
    else
        probe_main(&s->bench.probe);
}

static void say_how_it_ended(struct session *s)
{
    struct bench_results *results = s->bench.results;
    results->stored_bytes = s->bench.load.stored_bytes;
    results->retrieved_bytes = s->bench.load.retrieved_bytes;
    results->is_complete = s->result == 0;
    bool is_said = results->error[0] != '\0' ||
                   (results->count > 0 && results->rows[results->count - 1].error[0] != '\0');
    if (s->was_interrupted)
        snprintf(results->error, sizeof(results->error), "interrupted");
    else if (s->result < 0 && !is_said)
        snprintf(results->error, sizeof(results->error), "%s", err_text(s->result));
    if (s->files_left > 0)
        snprintf(results->notice, sizeof(results->notice),
                 "%u file%s named %s* may be left on the server: %s", s->files_left,
                 s->files_left == 1 ? "" : "s", s->bench.load.stem,
                 err_text(s->removal_result));
}

static int open_signals(int *ret_fd)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    int fd = sys_signalfd(&signals);
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

static int run_session(struct session *s, const struct addr *server)
{
    struct bench *b = &s->bench;
    const struct bench_options *o = b->options;
    const struct runtime_settings settings = {
        .workers = WORKERS, .pool_threads = 1, .hash_threads = 1};
    struct runtime *runtime = NULL;
    b->probe.settings = &b->load.settings;
    b->probe.server = &b->load.server;
    b->probe.user = bytes_str(o->server.user);
    b->probe.password = bytes_str(o->server.password);
    int r = load_init(&b->load, o, server);
    if (r == 0)
        r = probe_init(&b->probe);
    if (r == 0)
        r = open_signals(&s->signal_fd);
    if (r == 0)
        r = runtime_new(&settings, &runtime);
    if (r == 0) {
        b->pool = runtime_files_pool(runtime);
        b->probe.commander = runtime_worker(runtime, LOAD_WORKER);
        b->probe.worker = runtime_worker(runtime, PROBE_WORKER);
        r = runtime_run(runtime, worker_main, s);
    }
    if (r == 0)
        say_how_it_ended(s);
    (void)runtime_free(runtime);
    sys_close(s->signal_fd);
    probe_done(&b->probe);
    load_done(&b->load);
    return r;
}

int bench_run(const struct bench_options *options, const struct addr *server,
              const struct bench_watcher *watcher, struct bench_results *ret)
{
    struct session *s = mem_new(sizeof(*s));
    struct bench_results *results = mem_new(sizeof(*results));
    int r = -ENOMEM;
    if (s != NULL && results != NULL) {
        *s = (struct session){
            .bench = {.options = options,
                      .watcher = watcher,
                      .results = results,
                      .idle_wait_us = IDLE_WAIT_US},
            .signal_fd = -1,
        };
        results->began_at_us = clock_wall_us();
        r = run_session(s, server);
    }
    if (r == 0)
        *ret = *results;
    mem_free(s);
    mem_free(results);
    return r;
}
