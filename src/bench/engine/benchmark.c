#include "bench/engine/benchmark.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/engine/engine.h"
#include "bench/engine/interrupt.h"
#include "bench/engine/servers.h"

#define TICK_US            (200 * USEC_PER_MS)
#define IDLE_WAIT_US       (2 * USEC_PER_S)
#define IDLE_WAIT_QUICK_US (1500 * USEC_PER_MS)

#define POOL_THREADS 2 /* one looks at memory while the other starts a server */

enum { LOAD_WORKER, PROBE_WORKER, WORKERS };

struct benchmark {
    struct bench bench;
    struct scope work;  /* the rows, then the removal: a signal ends the one it meets */
    struct scope aside; /* what goes on until the end */
    struct interrupt interrupt;
    int result;
};

static void rows_main(void *arg)
{
    struct benchmark *m = arg;
    m->result = engine_run(&m->bench);
}

/* Of a server that goes on; the folder of our own ones is removed whole. */
static void remove_main(void *arg)
{
    struct benchmark *m = arg;
    if (m->bench.stage == NULL)
        m->bench.suite->clean_up(&m->bench);
}

static void tick_main(void *arg)
{
    const struct bench *b = &((struct benchmark *)arg)->bench;
    while (task_sleep_until(clock_now() + TICK_US) == 0)
        b->watcher->tick(b->watcher->arg, b->label);
}

static int start(struct scope *scope, const char *name, task_fn *fn, struct benchmark *m)
{
    return scope_start(scope, name, TASK_NORMAL, fn, m, NULL);
}

/* Runs one thing that a signal may end. */
static int run_work(struct benchmark *m, const char *name, task_fn *fn)
{
    int r = start(&m->work, name, fn, m);
    return r < 0 ? r : scope_wait(&m->work, USEC_NEVER);
}

static void load_main(struct benchmark *m)
{
    scope_init(&m->work);
    scope_init(&m->aside);
    int r = interrupt_start(&m->interrupt, &m->aside);
    if (r == 0 && m->bench.watcher->tick != NULL)
        r = start(&m->aside, "tick", tick_main, m);
    if (r == 0)
        r = run_work(m, "rows", rows_main);
    if (r < 0)
        m->result = r;
    m->bench.label = "stopping";
    servers_stop(&m->bench);
    (void)!run_work(m, "remove files", remove_main);
    scope_leave(&m->work);
    scope_leave(&m->aside);
    probe_over(&m->bench.probe);
}

static void worker_main(void *arg)
{
    struct benchmark *m = arg;
    if (worker_index(worker_self()) == LOAD_WORKER)
        load_main(m);
    else
        probe_main(&m->bench.probe);
}

static void say_how_it_ended(struct benchmark *m)
{
    struct bench *b = &m->bench;
    struct bench_results *results = b->results;
    bool is_said = results->error[0] != '\0';
    if (results->count > 0 && b->stage == NULL)
        is_said |= results->rows[results->count - 1].cells[0].error[0] != '\0';
    results->is_complete = m->result == 0;
    results->took_us = (usec_t)(clock_wall_us() - results->began_at_us);
    if (m->interrupt.has_come)
        snprintf(results->error, sizeof(results->error), "interrupted");
    else if (m->result < 0 && !is_said)
        snprintf(results->error, sizeof(results->error), "%s", err_text(m->result));
}

static int run_benchmark(struct benchmark *m, const struct addr *server)
{
    struct bench *b = &m->bench;
    const struct runtime_settings settings = {
        .workers = WORKERS, .pool_threads = POOL_THREADS, .hash_threads = 1};
    struct runtime *runtime = NULL;
    int r = 0;
    probe_init(&b->probe);
    if (server != NULL)
        servers_use(b, server);
    else
        r = servers_choose(b);
    if (r == 0)
        r = b->suite->open(b);
    if (r == 0)
        r = interrupt_init(&m->interrupt, &m->work);
    if (r == 0)
        r = runtime_new(&settings, &runtime);
    if (r == 0) {
        b->pool = runtime_files_pool(runtime);
        b->probe.commander = runtime_worker(runtime, LOAD_WORKER);
        b->probe.worker = runtime_worker(runtime, PROBE_WORKER);
        b->probe.talk = b->suite->probe;
        b->probe.arg = b;
        r = runtime_run(runtime, worker_main, m);
    }
    if (r == 0)
        say_how_it_ended(m);
    (void)runtime_free(runtime);
    interrupt_done(&m->interrupt);
    b->suite->close(b);
    return r;
}

static int run_staged(struct benchmark *m)
{
    struct stage *stage = mem_new(sizeof(*stage));
    if (stage == NULL)
        return -ENOMEM;
    const char *disk = m->bench.options->disk;
    struct bench_results *results = m->bench.results;
    bool is_of_disk;
    int r = stage_open(stage, disk, &is_of_disk);
    if (is_of_disk)
        snprintf(results->error, sizeof(results->error), "--disk %.160s: %s",
                 disk != NULL ? disk : "(its default)", err_text(r));
    m->bench.stage = stage;
    const struct recipe_list *recipes = m->bench.suite->recipes;
    if (r == 0 && recipes->furnish != NULL)
        r = recipes->furnish(stage);
    if (r == 0)
        r = run_benchmark(m, NULL);
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
    struct benchmark *m = mem_new(sizeof(*m));
    int r = -ENOMEM;
    if (m != NULL && ret->rows != NULL) {
        m->interrupt.fd = -1;
        m->bench.options = options;
        m->bench.suite = options->suite;
        m->bench.watcher = watcher;
        m->bench.results = ret;
        m->bench.idle_wait_us = options->quick ? IDLE_WAIT_QUICK_US : IDLE_WAIT_US;
        r = server != NULL ? run_benchmark(m, server) : run_staged(m);
    }
    mem_free(m);
    return r;
}

void bench_results_done(struct bench_results *results)
{
    for (unsigned i = 0; i < results->server_count; i++)
        for (unsigned v = 0; v < RECIPE_VARIANTS; v++)
            mem_free(results->servers[i].settings[v]);
    mem_free(results->rows);
    results->rows = NULL;
}
