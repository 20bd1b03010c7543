/* What both directions have in common, and the task they run in. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "tar/internal.h"

static _Thread_local struct tar *running; /* on this worker */

struct run {
    struct tar *tar;
    PARKS int (*work)(struct tar *);
    int result;
};

static void run_task(void *arg)
{
    struct run *run = arg;
    run->result = run->work(run->tar);
}

static PARKS int run_large(struct run *run)
{
    struct scope scope;
    scope_init(&scope);
    int r = scope_start(&scope, "tar", TASK_LARGE, run_task, run, NULL);
    if (r == 0)
        r = scope_wait(&scope, USEC_NEVER);
    scope_leave(&scope); /* who was cancelled cancels it */
    return r < 0 ? r : run->result;
}

static bool may_run(const void *owner)
{
    unsigned all = 0, its = 0;
    for (const struct tar *t = running; t != NULL; t = t->next) {
        all++;
        its += owner != NULL && t->request->owner == owner;
    }
    return all < TAR_AT_ONCE && its < TAR_PER_SESSION;
}

static PARKS int run_counted(struct run *run)
{
    run->tar->next = running;
    running = run->tar;
    int r = run_large(run);
    struct tar **link = &running;
    while (*link != run->tar)
        link = &(*link)->next;
    *link = run->tar->next;
    return r;
}

int tar_run(const struct tar_request *request, PARKS int (*work)(struct tar *))
{
    struct tar *t = mem_new(sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->request = request;
    struct run run = {t, work, 0};
    int r = may_run(request->owner) ? 0 : tar_complain(t, "-", -EBUSY);
    if (r == 0 && !t->has_failed)
        r = run_counted(&run);
    if (r == 0)
        r = t->has_failed;
    mem_free(t);
    return r;
}

int tar_failure(const struct tar *t)
{
    if (t->error < 0)
        return t->error;
    return t->archive != NULL && archive_errno(t->archive) == ENOMEM ? -ENOMEM : -EBADMSG;
}

int tar_complain(struct tar *t, const char *path, int error)
{
    if (xfer_lost_peer(error))
        return error;
    t->has_failed = true;
    int r = t->request->complain(t->request->arg, path, error);
    return r < 0 ? r : 0;
}
