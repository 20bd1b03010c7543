#include "bench/engine/run.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/machine/usage.h"

unsigned run_clients(const struct run *run)
{
    return run->kind->sessions != 0 ? run->kind->sessions : run->bench->options->clients;
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
