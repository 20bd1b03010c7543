/* A pipe of the running thread, by which bytes go from a socket into a file.
 *
 * splice(2) from the socket puts the packets' own pages into the pipe, and splice from there
 * copies them into the file's: once, where recv() and pwrite() copy twice (docs/adr/0022).
 */
#pragma once
#include "base/attr.h"

#define PIPE_BYTES (1024 * 1024) /* what it holds at most; the kernel's bound for users */

struct thread_pipe {
    int in, out; /* read from, written to */
};

/* Made at the first call in a thread, and closed with it. Empty. -errno: there is none. */
MUST_CHECK int pipe_of_thread(struct thread_pipe **ret);
/* Closes it, with what is left in it, which belongs to nobody else; the next call makes a new
 * one. */
void pipe_discard(void);
