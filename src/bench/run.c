#include "bench/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/engine.h"
#include "bench/servers.h"
#include "io/tls.h"
#include "task/fd.h"
#include "task/sys.h"

#define TICK_US            (200 * USEC_PER_MS)
#define IDLE_WAIT_US       (2 * USEC_PER_S)
#define IDLE_WAIT_QUICK_US (1500 * USEC_PER_MS)

#define POOL_THREADS 2 /* one looks at memory while the other starts a server */

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
    s->result = engine_run(&s->bench);
}

/* Of a server that goes on; the folder of our own ones is removed whole. */
static void remove_main(void *arg)
{
    struct session *s = arg;
    if (s->bench.stage == NULL)
        s->removal_result = load_remove_files(&s->bench.targets[0].load, &s->files_left);
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
    s->bench.label = "stopping";
    servers_stop(&s->bench);
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
    struct bench *b = &s->bench;
    struct bench_results *results = b->results;
    bool is_said = results->error[0] != '\0';
    for (unsigned i = 0; i < b->target_count; i++) {
        results->stored_bytes += b->targets[i].load.stored_bytes;
        results->retrieved_bytes += b->targets[i].load.retrieved_bytes;
    }
    if (results->count > 0 && b->stage == NULL)
        is_said |= results->rows[results->count - 1].cells[0].error[0] != '\0';
    results->is_complete = s->result == 0;
    results->took_us = (usec_t)(clock_wall_us() - results->began_at_us);
    if (s->was_interrupted)
        snprintf(results->error, sizeof(results->error), "interrupted");
    else if (s->result < 0 && !is_said)
        snprintf(results->error, sizeof(results->error), "%s", err_text(s->result));
    if (s->files_left > 0)
        snprintf(results->notice, sizeof(results->notice),
                 "%u file%s named %s* may be left on the server: %s", s->files_left,
                 s->files_left == 1 ? "" : "s", b->targets[0].load.stem,
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

static uint64_t longest_file(const struct bench *b)
{
    const struct load_settings *s = &b->targets[0].load_settings;
    return s->file_bytes > s->stream_bytes ? s->file_bytes : s->stream_bytes;
}

static int run_session(struct session *s, const struct addr *server)
{
    struct bench *b = &s->bench;
    const struct runtime_settings settings = {
        .workers = WORKERS, .pool_threads = POOL_THREADS, .hash_threads = 1};
    struct runtime *runtime = NULL;
    b->source.file = -1;
    probe_init(&b->probe);
    int r = server != NULL ? servers_use(b, server) : servers_choose(b);
    if (r == 0)
        r = load_source_init(&b->source, longest_file(b));
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
    load_source_done(&b->source);
    b->tls = tls_context_free(b->tls);
    return r;
}

static int run_staged(struct session *s)
{
    struct stage *stage = mem_new(sizeof(*stage));
    if (stage == NULL)
        return -ENOMEM;
    int r = stage_open(stage, s->bench.options->disk);
    s->bench.stage = stage;
    if (r == 0)
        r = run_session(s, NULL);
    stage_close(stage);
    mem_free(stage);
    return r;
}

int bench_run(const struct bench_options *options, const struct addr *server,
              const struct bench_watcher *watcher, struct bench_results *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->began_at_us = clock_wall_us();
    ret->rows = mem_new(BENCH_ROWS_MAX * sizeof(*ret->rows));
    struct session *s = mem_new(sizeof(*s));
    int r = -ENOMEM;
    if (s != NULL && ret->rows != NULL) {
        s->signal_fd = -1;
        s->bench.options = options;
        s->bench.watcher = watcher;
        s->bench.results = ret;
        s->bench.idle_wait_us = options->quick ? IDLE_WAIT_QUICK_US : IDLE_WAIT_US;
        r = server != NULL ? run_session(s, server) : run_staged(s);
    }
    mem_free(s);
    return r;
}

void bench_results_done(struct bench_results *results)
{
    for (unsigned i = 0; i < results->server_count; i++)
        mem_free(results->servers[i].settings);
    mem_free(results->rows);
    results->rows = NULL;
}
