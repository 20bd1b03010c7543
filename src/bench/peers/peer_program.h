/* Starts programs: without a shell, with no signal blocked or ignored, and in a process group
 * of their own, so that Ctrl-C is for us, who then stop them. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"

/* All is the caller's. */
struct peer_program {
    const char *path;
    const char *const *argv; /* ends with NULL, as the next */
    char *const *environment;
    const char *folder;     /* NULL: ours */
    int input;              /* its standard input; -1: nothing to read */
    const char *input_path; /* a file in its place; NULL: none */
    int output;             /* its standard output and error */
    bool discards;          /* standard output is thrown away: `output` is of errors alone */
};

/* Its process is our child. -ENOENT: there is no such program; -errno. */
MUST_CHECK int peer_program_start(const struct peer_program *, unsigned *ret_pid);

/* Runs one of the system to its end, what it says in memory, with a deadline. Blocking.
 * Standard output and error are appended to `output`; beyond its cap they are thrown away.
 * argv[0] is a path; argv ends with NULL. 0: it ended with 0; -ECANCELED: with anything else;
 * -ETIMEDOUT: it was killed, with all that it started; -ENOENT: there is no such program. */
MUST_CHECK int peer_program_run(const char *const argv[], const char *folder, usec_t timeout_us,
                                struct buf *output);

/* The line of it that says why it failed, most often: the last one that is not blank. */
struct bytes peer_program_last_words(struct bytes output);
