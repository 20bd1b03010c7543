#include "bench/engine/meter.h"

#include "bench/machine/usage.h"
#include "task/sys.h"

#define WATCH_FIRST_US (20 * USEC_PER_MS)
#define WATCH_EVERY_US (250 * USEC_PER_MS)
#define WATCH_SHARE    50 /* reading takes at most one part of so many */

/* -- the peak of memory -- */

static int look(struct meter *m)
{
    struct usage seen;
    int r = usage_read(m->pool, m->pid, true, &seen);
    if (r < 0 || seen.dirty_result < 0)
        return r;
    if (!m->has_memory)
        m->memory_before = seen.dirty_bytes;
    m->has_memory = true;
    if (seen.dirty_bytes > m->memory_peak)
        m->memory_peak = seen.dirty_bytes;
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
    if (r == 0 && m->pid != 0 && m->watches_memory)
        r = look(m);
    if (r == 0 && m->pid != 0) {
        struct usage before;
        r = usage_read(m->pool, m->root_pid, false, &before);
        if (r == 0)
            m->server_cpu_before = before.cpu_us;
    }
    if (r == 0 && m->pid != 0 && m->watches_memory)
        r = scope_start(&m->watch, "watch memory", TASK_NORMAL, watch_main, m, NULL);
    m->own_cpu_before = sys_own_cpu_us();
    m->began_at = clock_now();
    return r;
}

static int end_server(struct meter *m)
{
    struct usage after;
    int r = usage_read(m->pool, m->root_pid, false, &after);
    if (r < 0)
        return r;
    /* Less than before: a process ended whose time nobody has kept. */
    if (after.cpu_us > m->server_cpu_before)
        m->server_cpu_us = after.cpu_us - m->server_cpu_before;
    return m->watches_memory ? look(m) : 0;
}

int meter_end(struct meter *m)
{
    m->wall_us = clock_now() - m->began_at;
    m->own_cpu_us = sys_own_cpu_us() - m->own_cpu_before;
    scope_leave(&m->watch);
    int r = m->pid != 0 ? end_server(m) : 0;
    if (m->is_probing)
        m->probe_result = probe_stop(m->probe);
    return r;
}
