#include "bench/engine/run.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/machine/descriptors.h"
#include "bench/machine/time_wait.h"
#include "bench/machine/usage.h"

#define PORTS_HELD_MOST 6000 /* of some 28,000; a search among more takes long */
#define PORTS_LOOK_US   (1 * USEC_PER_S)
#define PORTS_WAIT_US   (70 * USEC_PER_S)

unsigned run_clients(const struct run *run)
{
    return run->kind->sessions != 0 ? run->kind->sessions : run->bench->options->clients;
}

unsigned run_held(struct run *run)
{
    unsigned wanted = run_clients(run), most = descriptors_sessions();
    if (most >= wanted || (run->kind->traits & ROW_THOUSANDS) == 0)
        return wanted;
    run->cell->held = most;
    return most;
}

int run_fail(struct run *run, const char *reason, int result)
{
    if (result != -ECANCELED && run->cell->error[0] == '\0')
        text_copy(run->cell->error, sizeof(run->cell->error), bytes_str(reason));
    return result;
}

int run_fail_at(struct run *run, const char *what, int result)
{
    char reason[BENCH_ERROR_MAX];
    snprintf(reason, sizeof(reason), "%s: %s", what, err_text(result));
    return run_fail(run, reason, result);
}

int run_wait_idle(const struct run *run, usec_t since)
{
    return task_sleep_until(since + run->bench->idle_wait_us);
}

int run_wait_ports(struct run *run)
{
    struct bench_cell *cell = run->cell;
    usec_t began = clock_now();
    unsigned held;
    int r = time_wait_count(run->bench->pool, &run->target->addr, &held);
    while (r == 0 && held > PORTS_HELD_MOST && clock_now() - began < PORTS_WAIT_US) {
        snprintf(cell->note, sizeof(cell->note),
                 "samples wait until ports of earlier ones are free again");
        r = task_sleep_until(clock_after(PORTS_LOOK_US));
        if (r == 0)
            r = time_wait_count(run->bench->pool, &run->target->addr, &held);
    }
    run->waited_us += clock_now() - began;
    return r;
}

int run_held_memory(struct run *run, uint64_t *ret_bytes, bool *ret_known)
{
    struct usage seen = {0};
    *ret_known = false;
    if (run->target->pid == 0)
        return 0;
    int r = usage_read(run->bench->pool, run->target->pid, true, &seen);
    if (r == 0) {
        *ret_known = seen.dirty_result == 0;
        *ret_bytes = seen.dirty_bytes;
    }
    return r;
}
