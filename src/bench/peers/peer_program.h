/* Runs a program of the system to its end: no shell, what it says in memory, a deadline.
 * Blocking. */
#pragma once
#include <spawn.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"

/* Standard output and error are appended to `output`; beyond its cap they are thrown away.
 * argv[0] is a path; argv ends with NULL. 0: it ended with 0; -ECANCELED: with anything else;
 * -ETIMEDOUT: it was killed, with all that it started; -ENOENT: there is no such program. */
MUST_CHECK int peer_program_run(const char *const argv[], const char *folder, usec_t timeout_us,
                                struct buf *output);

/* The line of it that says why it failed, most often: the last one that is not blank. */
struct bytes peer_program_last_words(struct bytes output);

/* How all that is started here starts: no signal blocked or ignored, and in a process group of
 * its own, so that Ctrl-C is for us, who then stop it. */
void peer_program_set_apart(posix_spawnattr_t *);
