#include "task/runtime.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/limits.h"
#include "base/mem.h"
#include "task/internal.h"
#include "task/pool.h"

/* Enough that half of them, which one root may take, keep two cores and a disk busy. */
#define FILES_THREADS 16
#define CODECS_NICER  10

struct runtime *runtime_for_debugger;

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

static unsigned clamp_workers(const struct runtime_settings *s)
{
    unsigned n = s->deterministic ? 1 : s->workers ? s->workers : cores();
    return n > WORKERS_MAX ? WORKERS_MAX : n;
}

int runtime_new(const struct runtime_settings *settings, struct runtime **ret)
{
    struct runtime *rt = mem_new(sizeof(*rt));
    if (!rt)
        return -ENOMEM;
    rt->settings = *settings;
    (void)pthread_mutex_init(&rt->start_lock, NULL);
    (void)pthread_mutex_init(&rt->depth_lock, NULL);
    unsigned files = settings->pool_threads ? settings->pool_threads : FILES_THREADS;
    unsigned hashes = settings->hash_threads ? settings->hash_threads : cores();
    int r = pool_new(settings->deterministic ? 0 : files, POOL_QUEUE_MAX, &rt->files);
    if (r == 0)
        r = pool_new(settings->deterministic ? 0 : hashes, HASH_QUEUE_MAX, &rt->hashes);
    if (r == 0)
        r = pool_new(settings->deterministic ? 0 : cores(), POOL_QUEUE_MAX, &rt->codecs);
    if (r == 0)
        pool_be_nicer(rt->codecs, CODECS_NICER);
    for (unsigned i = 0; r == 0 && i < clamp_workers(settings); i++) {
        r = worker_new(rt, i, &rt->workers[i]);
        rt->worker_count += r == 0;
    }
    if (r < 0) {
        (void)runtime_free(rt);
        return r;
    }
    if (settings->deterministic) {
        rt->fake_now =
            1000 * USEC_PER_S; /* not 0: that a deadline lies in the past must be possible */
        clock_set_fake(&rt->fake_now);
    }
    runtime_for_debugger = rt;
    *ret = rt;
    return 0;
}

struct runtime *runtime_free(struct runtime *rt)
{
    if (!rt)
        return NULL;
    (void)pool_free(rt->files);
    (void)pool_free(rt->hashes);
    (void)pool_free(rt->codecs);
    for (unsigned i = 0; i < rt->worker_count; i++)
        (void)worker_free(rt->workers[i]);
    if (rt->settings.deterministic)
        clock_set_fake(NULL);
    if (runtime_for_debugger == rt)
        runtime_for_debugger = NULL;
    (void)pthread_mutex_destroy(&rt->start_lock);
    (void)pthread_mutex_destroy(&rt->depth_lock);
    mem_free(rt);
    return NULL;
}

/* -- running -- */

static void main_ended(struct runtime *rt)
{
    if (atomic_fetch_sub(&rt->mains_running, 1) == 1) {
        for (unsigned i = 0; i < rt->worker_count; i++)
            worker_poke(rt->workers[i]);
    }
}

static void main_entry(void *arg)
{
    struct runtime *rt = arg;
    rt->main_task(rt->main_arg);
    main_ended(rt);
}

static void serve(struct worker *w)
{
    worker_current = w;
    context_init_thread(&w->loop_context);
    char *alternate = NULL;
    if (crash_thread_setup(&alternate) < 0)
        alternate = NULL; /* a crash is then reported without the task's name */
    struct scope mains;
    scope_init(&mains);
    int r = scope_start(&mains, "main", TASK_NORMAL, main_entry, w->runtime, NULL);
    if (r < 0) {
        atomic_store(&w->runtime->start_failure, r);
        main_ended(w->runtime);
    }
    worker_loop(w);
    stack_pool_done(&w->stacks); /* on its own thread: sanitizers keep books by thread */
    crash_thread_done(alternate);
    worker_current = NULL;
}

static void *worker_thread(void *arg)
{
    struct worker *w = arg;
    (void)pthread_mutex_lock(&w->runtime->start_lock);
    bool all_started = w->runtime->all_started;
    (void)pthread_mutex_unlock(&w->runtime->start_lock);
    if (all_started)
        serve(w);
    return NULL;
}

/* All workers or none: listening sockets are opened for each, and what the kernel gives to one
 * that does not exist would wait for ever. They begin when the last has its thread. Returns how
 * many have one, worker 0 with the caller's among them. */
static unsigned start_workers(struct runtime *rt)
{
    unsigned started = 1;
    (void)pthread_mutex_lock(&rt->start_lock);
    for (; started < rt->worker_count; started++) {
        struct worker *w = rt->workers[started];
        if (fault_hits(FAULT_SYSCALL) ||
            pthread_create(&w->thread, NULL, worker_thread, w) != 0)
            break;
    }
    rt->all_started = started == rt->worker_count;
    (void)pthread_mutex_unlock(&rt->start_lock);
    return started;
}

int runtime_run(struct runtime *rt, task_fn *main_task, void *arg)
{
    rt->main_task = main_task;
    rt->main_arg = arg;
    int r = pool_start(rt->files);
    if (r == 0)
        r = pool_start(rt->hashes);
    if (r == 0)
        r = pool_start(rt->codecs);
    if (r < 0)
        return r;
    atomic_store(&rt->mains_running, rt->worker_count);
    unsigned started = start_workers(rt);
    if (rt->all_started)
        serve(rt->workers[0]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(rt->workers[i]->thread, NULL);
    return rt->all_started ? atomic_load(&rt->start_failure) : -EAGAIN;
}

/* -- who is where -- */

unsigned runtime_workers(const struct runtime *rt)
{
    return rt->worker_count;
}

struct pool *runtime_files_pool(struct runtime *rt)
{
    return rt->files;
}

struct pool *runtime_hash_pool(struct runtime *rt)
{
    return rt->hashes;
}

struct pool *runtime_codec_pool(struct runtime *rt)
{
    return rt->codecs;
}

struct runtime *runtime_self(void)
{
    return worker_current ? worker_current->runtime : NULL;
}

struct worker *worker_self(void)
{
    return worker_current;
}

unsigned worker_index(const struct worker *w)
{
    return w->index;
}

struct worker *runtime_worker(struct runtime *rt, unsigned index)
{
    return rt->workers[index];
}

void runtime_on_lag(struct runtime *rt, void (*fn)(const char *task_name, usec_t us))
{
    rt->on_lag = fn;
}

/* -- stack depths -- */

void runtime_note_depth(struct runtime *rt, const char *task_name, size_t bytes, size_t size)
{
    (void)pthread_mutex_lock(&rt->depth_lock);
    for (unsigned i = 0; i < ARRAY_LEN(rt->depths); i++) {
        struct stack_depth *d = &rt->depths[i];
        if (d->task_name && strcmp(d->task_name, task_name) != 0)
            continue;
        d->task_name = task_name;
        if (bytes > d->bytes) {
            d->bytes = bytes;
            d->of_bytes = size;
        }
        break;
    }
    (void)pthread_mutex_unlock(&rt->depth_lock);
}

unsigned runtime_stack_depths(struct runtime *rt, const struct stack_depth **ret)
{
    unsigned count = 0;
    while (count < ARRAY_LEN(rt->depths) && rt->depths[count].task_name)
        count++;
    *ret = rt->depths;
    return count;
}
