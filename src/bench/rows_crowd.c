#include <errno.h>

#include "base/mem.h"
#include "bench/crowd.h"
#include "bench/measure.h"
#include "bench/rows.h"

/* -- sessions -- */

unsigned crowd_size(const struct run *run)
{
    return run->kind->sessions != 0 ? run->kind->sessions : run->bench->options->clients;
}

int crowd_each(struct run *run, const char *what, int (*act)(void *, unsigned), unsigned count,
               unsigned width)
{
    struct crowd crowd = {.act = act, .arg = run, .end = count, .width = width};
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

int crowd_open(struct run *run, unsigned count, unsigned width)
{
    int r = load_reserve(run->load, count);
    if (r < 0)
        return run_fail(run, "sessions", NULL, r);
    return crowd_each(run, "login", act_open, count, width);
}

void crowd_close(struct run *run)
{
    unsigned failed;
    bool is_open = run->load->crowd_count > 0 && ftp_client_is_open(&run->load->crowd[0]);
    if (is_open)
        (void)!load_quit(run->load, &failed);
    load_close(run->load);
}

/* -- memory -- */

int idle_wait(const struct bench *b, usec_t since)
{
    return task_sleep_until(since + b->idle_wait_us);
}

int held_memory(struct bench *b, const struct target *t, uint64_t *ret_bytes, bool *ret_known)
{
    struct measure seen = {0};
    *ret_known = false;
    if (t->pid == 0)
        return 0;
    int r = measure_run(b->pool, t->pid, true, &seen);
    if (r == 0) {
        *ret_known = seen.dirty_result == 0;
        *ret_bytes = seen.dirty_bytes;
    }
    return r;
}

/* -- what blocks -- */

struct aside {
    struct job job;
    int (*fn)(void *);
    void *arg;
    int result;
};

static void aside_run(struct job *job)
{
    struct aside *a = LIST_ENTRY(job, struct aside, job);
    a->result = a->fn(a->arg);
}

static void aside_free(struct job *job)
{
    mem_free(LIST_ENTRY(job, struct aside, job));
}

int aside(struct pool *pool, int (*fn)(void *arg), void *arg)
{
    struct aside *a = mem_new(sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    a->job = (struct job){.run = aside_run, .free = aside_free};
    a->fn = fn;
    a->arg = arg;
    task_shield_begin(USEC_NEVER); /* the job uses what is the caller's */
    int r = job_run(pool, &a->job, NULL, USEC_NEVER);
    task_shield_end();
    if (r < 0)
        return r;
    r = a->result;
    aside_free(&a->job);
    return r;
}
