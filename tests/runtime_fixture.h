/* Runs one function as the main task of a runtime of its own. cmocka's asserts may not be used
 * inside a task (they longjmp off its stack): tasks note what they saw, the test function
 * asserts. Failures inside tasks abort with the line. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include "task/runtime.h"
#include "task/task.h"

#define TASK_ASSERT(what)                                                                      \
    do {                                                                                       \
        if (!(what)) {                                                                         \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                   \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

static inline void run_in_runtime(const struct runtime_settings *settings, task_fn *fn,
                                  void *arg)
{
    struct runtime *rt = NULL;
    TASK_ASSERT(runtime_new(settings, &rt) == 0);
    TASK_ASSERT(runtime_run(rt, fn, arg) == 0);
    (void)runtime_free(rt);
}

/* One worker, jobs inline, the fake clock. */
static inline void run_deterministic(uint64_t seed, task_fn *fn, void *arg)
{
    const struct runtime_settings settings = {.deterministic = true, .seed = seed};
    run_in_runtime(&settings, fn, arg);
}

static inline void run_threaded(unsigned workers, task_fn *fn, void *arg)
{
    const struct runtime_settings settings = {.workers = workers};
    run_in_runtime(&settings, fn, arg);
}
