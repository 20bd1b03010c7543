/* SIGINT, SIGTERM and SIGHUP: each ends what is under way, and clearing up may follow. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "task/task.h"

struct interrupt {
    bool has_come;
    struct scope *work; /* each signal cancels what is in it then */
    int fd;             /* -1: none, or a task has it */
};

/* Before the runtime runs, with all signals blocked. -errno; interrupt_done() in any case. */
MUST_CHECK int interrupt_init(struct interrupt *, struct scope *work);
/* Starts the task that waits for them, in a scope that is left at the end of all. */
MUST_CHECK int interrupt_start(struct interrupt *, struct scope *);
void interrupt_done(struct interrupt *);
