/* What a command that talks to servers runs in: a runtime of one worker, its pool, and the
 * signals of a person at the keyboard. */
#pragma once
#include "base/attr.h"

/* Runs main_fn(arg) as the main task; its result is the exit code. The pool of files is
 * runtime_files_pool(runtime_self()).
 *
 * The first SIGINT, SIGTERM or SIGHUP cancels that task, whose waits then end with -ECANCELED:
 * it cleans up in a shield, tells what can be resumed, and returns; unless that is 0, the exit
 * code is 128 and the signal, as a shell has it. A second one ends the process at once. */
MUST_CHECK int client_run(PARKS int (*main_fn)(void *arg), void *arg);
/* The signal that cancelled it; 0: none has. */
int client_run_signal(void);
