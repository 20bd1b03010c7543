#include <errno.h>

#include "bench/ftp/rows.h"

#define MANY         1000
#define PROBE_LOGINS 200
#define STOPPED_US   (500 * USEC_PER_MS)

/* -- memory -- */

static int read_memory(struct run *run, uint64_t *ret)
{
    bool is_known = false;
    int r = run_held_memory(run, ret, &is_known);
    if (r == 0 && !is_known)
        r = -EACCES;
    return r < 0 ? row_fail(run, "reading the server's memory", NULL, r) : 0;
}

static int hold_first(struct run *run, unsigned count)
{
    row_crowd_close(run);
    int r = row_crowd_open(run, count, run->bench->options->window);
    run->cell->slope_from = count;
    run->quiet_since = clock_now();
    return r;
}

static int hold_more(struct run *run, unsigned count)
{
    int r = run_wait_idle(run, run->quiet_since);
    if (r == 0)
        r = read_memory(run, &run->memory_first);
    if (r == 0)
        r = row_crowd_open(run, count, run->bench->options->window);
    run->cell->slope_to = count;
    return r;
}

static int hold_still(struct run *run)
{
    struct bench_cell *cell = run->cell;
    int r = read_memory(run, &cell->memory_bytes);
    if (r < 0)
        return r;
    cell->has_memory = cell->has_slope = true;
    cell->slope_bytes = ((double)cell->memory_bytes - (double)run->memory_first) /
                        (cell->slope_to - cell->slope_from);
    return 0;
}

/* The slope begins above the first sessions, so that what those cost once does not count. */
int row_prepare_memory(struct run *run)
{
    unsigned count = run_held(run);
    return hold_first(run, count < MANY ? count / 3 : count / 10);
}

int row_memory(struct run *run, struct sample *ret)
{
    unsigned count = run_held(run);
    *ret = (struct sample){.operations = count - run->cell->slope_from};
    return hold_more(run, count);
}

int row_conclude_memory(struct run *run)
{
    struct bench_cell *cell = run->cell;
    int r = hold_still(run);
    cell->samples[0] = (double)cell->memory_bytes / BENCH_MB_BYTES;
    return r;
}

/* -- as many as there can be -- */

/* Microseconds that a login takes, after which it leaves. */
static int time_logins(struct run *run, double *ret_us)
{
    struct ftp_client *c = &load_of(run)->lone;
    usec_t took = 0;
    for (unsigned i = 0; i < PROBE_LOGINS; i++) {
        usec_t began = clock_now();
        int r = load_login(load_of(run), c, NULL);
        took += clock_now() - began;
        if (r == 0)
            r = ftp_client_quit(c);
        if (r < 0)
            return row_fail(run, "login", c, r);
    }
    *ret_us = (double)took / PROBE_LOGINS;
    return 0;
}

/* How many times longer a login takes while so many sessions are there. */
int row_idle_100k(struct run *run, struct sample *ret)
{
    unsigned count = run_held(run);
    double alone = 0, beside = 0;
    row_crowd_close(run);
    int r = time_logins(run, &alone);
    if (r == 0)
        r = hold_first(run, count / 10);
    if (r == 0)
        r = hold_more(run, count);
    if (r == 0)
        r = run_wait_idle(run, clock_now());
    if (r == 0)
        r = hold_still(run);
    if (r == 0)
        r = time_logins(run, &beside);
    if (r < 0)
        return r;
    *ret = (struct sample){.value = beside / alone, .operations = count};
    snprintf(run->cell->note, sizeof(run->cell->note),
             "%u sessions; a login takes %.0f us, %.0f us without them", count, beside, alone);
    return 0;
}

/* -- readers that stopped -- */

static int act_stop_reading(void *arg, unsigned index)
{
    struct run *run = arg;
    struct stream *data;
    return ftp_client_transfer_begin(&load_of(run)->crowd[index], "RETR",
                                     bytes_str(load_of(run)->stem), &data);
}

int row_before_noop_stopped(struct run *run)
{
    unsigned count = run_clients(run);
    row_crowd_close(run);
    int r = row_prepare_idle(run);
    return r == 0 ? row_crowd_each(run, "download", act_stop_reading, count, count) : r;
}

int row_noop_stopped(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.operations = run_clients(run)};
    return task_sleep_until(clock_after(STOPPED_US));
}

/* They are in the middle of a reply: there is no other way to part. */
int row_after_noop_stopped(struct run *run)
{
    load_close(load_of(run));
    return 0;
}
