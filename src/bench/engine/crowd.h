/* The same thing done by many sessions, some or all of them at once. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "task/task.h"

struct crowd {
    int (*act)(void *arg, unsigned index); /* runs as a task; may park */
    void *arg;
    unsigned count; /* of indices, from 0 on */
    unsigned width; /* how many act at once */

    unsigned failed; /* the index of the first failure; meaningful after one */

    /* its own */
    unsigned next;
    int result;
    struct scope scope;
};

/* 0 when each index was acted for; else the first failure, after which the others are cancelled
 * and joined. -ECANCELED. */
PARKS MUST_CHECK int crowd_run(struct crowd *);
