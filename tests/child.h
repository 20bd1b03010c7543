/* Runs a check in a child of its own, because what it does cannot be undone (privileges,
 * sandboxes). The child says what did not hold and ends; the test function asserts. */
#pragma once
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define CHILD_SKIPS 77

#define CHILD_ASSERT(what)                                                                     \
    do {                                                                                       \
        if (!(what)) {                                                                         \
            dprintf(STDERR_FILENO, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #what,        \
                    errno);                                                                    \
            _exit(1);                                                                          \
        }                                                                                      \
    } while (0)

/* fn returns 0 or CHILD_SKIPS. */
static inline void run_in_child(int (*fn)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(fn());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_SKIPS)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}
