#include <errno.h>

#include "base/err.h"
#include "bench/engine/crowd.h"
#include "bench/ssh/rows.h"

#define SETTLE_US (500 * USEC_PER_MS)

/* -- the crowd -- */

static int each(struct run *run, const char *what, int (*act)(void *, unsigned), unsigned count,
                unsigned width)
{
    struct crowd crowd = {.act = act, .arg = run, .count = count, .width = width};
    int r = crowd_run(&crowd);
    if (r == 0)
        return 0;
    char text[96];
    snprintf(text, sizeof(text), "%s %u of %u", what, crowd.failed + 1, count);
    return ssh_row_fail(run, text, r);
}

static int act_login(void *arg, unsigned index)
{
    struct run *run = arg;
    struct ssh_load *load = ssh_load_of(run);
    return ssh_session_open(load, load->crowd[index], ssh_detail_of(run));
}

static int act_open(void *arg, unsigned index)
{
    struct run *run = arg;
    struct ssh_load *load = ssh_load_of(run);
    int r = act_login(run, index);
    return r == 0 ? ssh_session_open_sftp(load, load->crowd[index]) : r;
}

static int reserve(struct run *run, unsigned count)
{
    int r = ssh_load_reserve(ssh_load_of(run), count);
    return r < 0 ? ssh_row_fail(run, "sessions", r) : 0;
}

void ssh_row_leave_crowd(struct run *run)
{
    ssh_load_close_crowd(ssh_load_of(run));
}

/* -- logins -- */

/* Whoever needs a process for each session gets the time to bury those of the last sample. */
static int settle(const struct run *run)
{
    const struct recipe *recipe = run->target->recipe;
    if (recipe->is_event_driven)
        return 0;
    return task_sleep_until(clock_after(SETTLE_US));
}

int ssh_row_before_login(struct run *run)
{
    ssh_row_leave_crowd(run);
    int r = reserve(run, run_clients(run));
    return r == 0 ? settle(run) : r;
}

static int login(struct run *run, unsigned width, struct sample *ret)
{
    unsigned count = run_clients(run);
    usec_t began = clock_now();
    int r = each(run, "login", act_login, count, width);
    *ret = (struct sample){.value = ssh_row_seconds_since(began), .operations = count};
    return r;
}

int ssh_row_login(struct run *run, struct sample *ret)
{
    return login(run, 1, ret);
}

int ssh_row_login_window(struct run *run, struct sample *ret)
{
    return login(run, run->bench->options->window, ret);
}

/* -- memory -- */

static int read_memory(struct run *run, uint64_t *ret)
{
    bool is_known = false;
    int r = run_held_memory(run, ret, &is_known);
    if (r == 0 && !is_known)
        r = -EACCES;
    return r < 0 ? run_fail_at(run, "reading the server's memory", r) : 0;
}

static int hold(struct run *run, unsigned count)
{
    int r = reserve(run, count);
    return r == 0 ? each(run, "session of sftp", act_open, count, run->bench->options->window)
                  : r;
}

/* The slope begins above the first sessions, so that what those cost once does not count. */
int ssh_row_prepare_memory(struct run *run)
{
    unsigned count = run_clients(run) / 3;
    ssh_row_leave_crowd(run);
    int r = hold(run, count);
    run->cell->slope_from = count;
    run->quiet_since = clock_now();
    return r;
}

int ssh_row_memory(struct run *run, struct sample *ret)
{
    unsigned count = run_clients(run);
    *ret = (struct sample){.operations = count - run->cell->slope_from};
    int r = run_wait_idle(run, run->quiet_since);
    if (r == 0)
        r = read_memory(run, &run->memory_first);
    run->cell->slope_to = count;
    return r == 0 ? hold(run, count) : r;
}

int ssh_row_conclude_memory(struct run *run)
{
    struct bench_cell *cell = run->cell;
    int r = read_memory(run, &cell->memory_bytes);
    if (r < 0)
        return r;
    cell->has_memory = cell->has_slope = true;
    cell->slope_bytes = ((double)cell->memory_bytes - (double)run->memory_first) /
                        (cell->slope_to - cell->slope_from);
    cell->samples[0] = (double)cell->memory_bytes / BENCH_MB_BYTES;
    return 0;
}
