#include "bench/meter.h"

#include "bench/measure.h"
#include "task/sys.h"

#define WATCH_FIRST_US (20 * USEC_PER_MS)
#define WATCH_EVERY_US (250 * USEC_PER_MS)
#define WATCH_SHARE    50 /* reading takes at most one part of so many */

/* -- the peak of memory -- */

static int look(struct meter *m)
{
    struct measure seen;
    int r = measure_run(m->pool, m->pid, true, &seen);
    if (r < 0 || seen.dirty_result < 0)
        return r;
    m->has_peak = true;
    if (seen.dirty_bytes > m->peak_bytes)
        m->peak_bytes = seen.dirty_bytes;
    return 0;
}

static void watch_main(void *arg)
{
    struct meter *m = arg;
    int r = task_sleep_until(clock_now() + WATCH_FIRST_US);
    while (r == 0) {
        usec_t began = clock_now();
        r = look(m);
        usec_t now = clock_now();
        usec_t pause = (now - began) * WATCH_SHARE;
        if (r == 0)
            r = task_sleep_until(now + (pause > WATCH_EVERY_US ? pause : WATCH_EVERY_US));
    }
}

/* -- from beginning to end -- */

int meter_begin(struct meter *m)
{
    int r = 0;
    scope_init(&m->watch);
    if (m->probe != NULL) {
        m->is_probing = true;
        r = probe_start(m->probe);
    }
    if (r == 0 && m->pid != 0) {
        struct measure before;
        r = measure_run(m->pool, m->pid, false, &before);
        if (r == 0)
            m->server_cpu_us = before.cpu_us;
    }
    if (r == 0 && m->pid != 0 && m->watches_memory)
        r = scope_start(&m->watch, "watch memory", TASK_NORMAL, watch_main, m, NULL);
    m->own_cpu_us = sys_own_cpu_us();
    m->began_at = clock_now();
    return r;
}

void meter_pause(struct meter *m)
{
    m->paused_at = clock_now();
    m->paused_cpu_us = sys_own_cpu_us();
}

void meter_resume(struct meter *m)
{
    m->began_at += clock_now() - m->paused_at;
    m->own_cpu_us += sys_own_cpu_us() - m->paused_cpu_us;
}

static int end_server(struct meter *m, struct bench_row *row)
{
    struct measure after;
    int r = measure_run(m->pool, m->pid, false, &after);
    if (r < 0)
        return r;
    row->has_server_cpu = true;
    /* Less than before: a process ended whose time nobody has kept. */
    row->server_cpu_us = after.cpu_us > m->server_cpu_us ? after.cpu_us - m->server_cpu_us : 0;
    if (!m->watches_memory)
        return 0;
    if (!m->has_peak) /* it was over before the first look */
        r = look(m);
    row->has_memory = m->has_peak;
    row->memory_bytes = m->peak_bytes;
    return r;
}

int meter_end(struct meter *m, struct bench_row *row)
{
    row->wall_us = clock_now() - m->began_at;
    row->client_cpu_us = sys_own_cpu_us() - m->own_cpu_us;
    scope_leave(&m->watch);
    int r = m->pid != 0 ? end_server(m, row) : 0;
    if (m->is_probing)
        m->probe_result = probe_stop(m->probe, &row->noop);
    return r;
}
