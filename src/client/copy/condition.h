/* A condition that several tasks of one worker wait for: each is woken, and looks again. (An
 * event is for one waiter that clears it.) */
#pragma once
#include "task/task.h"

struct copy_condition {
    struct list waiters;
};

void copy_condition_init(struct copy_condition *);
/* Parks until the next copy_condition_tell(). 0, -ETIMEDOUT, -ECANCELED. */
PARKS MUST_CHECK int copy_condition_wait(struct copy_condition *, usec_t deadline);
void copy_condition_tell(struct copy_condition *);
