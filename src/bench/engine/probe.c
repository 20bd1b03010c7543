#include "bench/engine/probe.h"

#include <errno.h>

#include "base/mem.h"

#define INTERVAL_US (5 * USEC_PER_MS)

/* -- what it measures -- */

int latencies_init(struct latencies *l)
{
    l->count = 0;
    l->us = mem_raw(LATENCIES_MAX * sizeof(*l->us));
    return l->us != NULL ? 0 : -ENOMEM;
}

void latencies_done(struct latencies *l)
{
    mem_free(l->us);
    *l = (struct latencies){0};
}

struct bench_latency latencies_of(struct latencies *l, unsigned first)
{
    double *us = l->us + first;
    unsigned count = l->count - first;
    statistics_sort(us, count);
    return (struct bench_latency){
        .count = count,
        .p50_us = statistics_percentile(us, count, 50),
        .p95_us = statistics_percentile(us, count, 95),
        .p99_us = statistics_percentile(us, count, 99),
    };
}

/* -- messages -- */

static void post(struct probe *p, struct worker *to, struct probe_message *m,
                 void (*fn)(struct worker_message *))
{
    *m = (struct probe_message){.message = {.fn = fn}, .probe = p};
    worker_post(to, &m->message);
}

static struct probe *probe_of(struct worker_message *m)
{
    return LIST_ENTRY(m, struct probe_message, message)->probe;
}

static void on_begun(struct worker_message *m)
{
    struct probe *p = probe_of(m);
    p->has_begun = true;
    event_set(&p->answered);
}

static void on_stopped(struct worker_message *m)
{
    struct probe *p = probe_of(m);
    p->has_stopped = true;
    event_set(&p->answered);
}

/* -- on the probe's worker -- */

static int ask_on(struct probe *p)
{
    for (;;) {
        usec_t sent = clock_now();
        int r = p->talk->ask(p->arg);
        struct latencies *l = p->latencies;
        /* One that is not answered when the row ends has waited so long at least: left out, a
         * server that answers nobody would seem the quickest. */
        if ((r == 0 || r == -ECANCELED) && l->count < LATENCIES_MAX)
            l->us[l->count++] = (double)(clock_now() - sent);
        if (r < 0)
            return r;
        r = task_sleep_until(sent + INTERVAL_US);
        if (r < 0)
            return r;
    }
}

static void probe_task(void *arg)
{
    struct probe *p = arg;
    int r = p->talk->open(p->arg, p->target);
    post(p, p->commander, &p->begun, on_begun);
    if (r == 0)
        r = ask_on(p);
    p->talk->close(p->arg);
    p->result = r == -ECANCELED ? 0 : r;
}

static void begin(struct probe *p)
{
    scope_init(&p->scope);
    p->result = scope_start(&p->scope, "probe", TASK_NORMAL, probe_task, p, NULL);
    p->is_running = p->result == 0;
    if (!p->is_running)
        post(p, p->commander, &p->begun, on_begun);
}

static void end(struct probe *p)
{
    if (p->is_running)
        scope_leave(&p->scope);
    p->is_running = false;
}

void probe_main(struct probe *p)
{
    while (p->order != PROBE_OVER) {
        (void)!event_wait(&p->ordered, USEC_NEVER);
        event_clear(&p->ordered);
        if (p->order == PROBE_START) {
            begin(p);
            continue;
        }
        end(p);
        if (p->order == PROBE_STOP)
            post(p, p->commander, &p->stopped, on_stopped);
    }
}

static void give(struct probe *p, enum probe_order order)
{
    p->order = order;
    event_set(&p->ordered);
}

static void on_start(struct worker_message *m)
{
    give(probe_of(m), PROBE_START);
}

/* Stop may overtake a start that was not looked at yet: then there is nothing to end. */
static void on_stop(struct worker_message *m)
{
    give(probe_of(m), PROBE_STOP);
}

static void on_over(struct worker_message *m)
{
    give(probe_of(m), PROBE_OVER);
}

/* -- on the commander's worker -- */

void probe_init(struct probe *p)
{
    event_init(&p->answered);
    event_init(&p->ordered);
}

static int wait_for(struct probe *p, const bool *what)
{
    while (!*what) {
        event_clear(&p->answered);
        int r = event_wait(&p->answered, USEC_NEVER);
        if (r < 0)
            return r;
    }
    return 0;
}

int probe_start(struct probe *p)
{
    p->has_begun = p->has_stopped = false;
    post(p, p->worker, &p->start, on_start);
    return wait_for(p, &p->has_begun);
}

int probe_stop(struct probe *p)
{
    post(p, p->worker, &p->stop, on_stop);
    task_shield_begin(USEC_NEVER); /* a cancelled task leaves its wait at once */
    (void)!wait_for(p, &p->has_stopped);
    task_shield_end();
    return p->result;
}

void probe_over(struct probe *p)
{
    post(p, p->worker, &p->over, on_over);
}
