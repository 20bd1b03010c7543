#include "bench/engine/crowd.h"
#include "bench/ftp/rows.h"
#include "bench/machine/usage.h"

/* -- sessions -- */

unsigned row_crowd_size(const struct run *run)
{
    return run->kind->sessions != 0 ? run->kind->sessions : run->bench->options->clients;
}

int row_crowd_each(struct run *run, const char *what, int (*act)(void *, unsigned),
                   unsigned count, unsigned width)
{
    struct crowd crowd = {.act = act, .arg = run, .count = count, .width = width};
    int r = crowd_run(&crowd);
    if (r == 0)
        return 0;
    char text[96];
    snprintf(text, sizeof(text), "%s %u of %u", what, crowd.failed + 1, count);
    bool has_session = crowd.failed < run->load->crowd_count;
    return run_fail(run, text, has_session ? &run->load->crowd[crowd.failed] : NULL, r);
}

static int act_open(void *arg, unsigned index)
{
    struct run *run = arg;
    struct ftp_client *c = &run->load->crowd[index];
    int r = ftp_client_is_open(c) ? 0 : load_login(run->load, c, NULL);
    return r == 0 ? ftp_client_type(c, 'I') : r;
}

int row_crowd_open(struct run *run, unsigned count, unsigned width)
{
    int r = load_reserve(run->load, count);
    if (r < 0)
        return run_fail(run, "sessions", NULL, r);
    return row_crowd_each(run, "login", act_open, count, width);
}

void row_crowd_close(struct run *run)
{
    unsigned failed;
    bool is_open = run->load->crowd_count > 0 && ftp_client_is_open(&run->load->crowd[0]);
    if (is_open)
        (void)!load_quit(run->load, &failed);
    load_close(run->load);
}

/* -- time and memory -- */

double row_seconds_since(usec_t began)
{
    return (double)(clock_now() - began) / (double)USEC_PER_S;
}

int row_wait_idle(const struct bench *b, usec_t since)
{
    return task_sleep_until(since + b->idle_wait_us);
}

int row_held_memory(struct run *run, uint64_t *ret_bytes, bool *ret_known)
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
