#include "bench/machine/aside.h"

#include <errno.h>

#include "base/mem.h"

struct aside {
    struct job job;
    int (*fn)(void *);
    void *arg;
    int result;
};

static void run_job(struct job *job)
{
    struct aside *a = LIST_ENTRY(job, struct aside, job);
    a->result = a->fn(a->arg);
}

static void free_job(struct job *job)
{
    mem_free(LIST_ENTRY(job, struct aside, job));
}

int aside_run(struct pool *pool, int (*fn)(void *arg), void *arg)
{
    struct aside *a = mem_new(sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    a->job = (struct job){.run = run_job, .free = free_job};
    a->fn = fn;
    a->arg = arg;
    task_shield_begin(USEC_NEVER); /* the job uses what is the caller's */
    int r = job_run(pool, &a->job, NULL, USEC_NEVER);
    task_shield_end();
    if (r < 0)
        return r;
    r = a->result;
    free_job(&a->job);
    return r;
}
