/* A process as /proc has it: its files, its threads, and their children (proc(5)). Blocking:
 * not on a loop. */
#pragma once
#include "base/attr.h"
#include "base/buf.h"

#define PROC_PIDS_MAX (1024 * 1024) /* bytes of a list: 256 Ki processes */

struct proc {
    const char *root;   /* "/proc" */
    struct buf text;    /* of the file that was read last */
    struct buf threads; /* the names of one process's, each with its NUL */
};

void proc_init(struct proc *, const char *root);
void proc_done(struct proc *);

/* All below: -ENOENT: there is no such process (any more); -ENOMEM, -FERRY_ELIMIT; -errno. */

/* ROOT/PID/FILE; *ret lasts until something else is read. */
MUST_CHECK int proc_read(struct proc *, unsigned pid, const char *file, struct bytes *ret);

/* Appends the children that the thread has made, as unsigned. thread: "task/TID".
 * -FERRY_EPROTO: no list of numbers. */
MUST_CHECK int proc_list_children(struct proc *, unsigned pid, const char *thread,
                                  struct buf *ret_pids);

/* Calls fn for each of its threads; a failure of fn is the end. */
MUST_CHECK int proc_each_thread(struct proc *, unsigned pid,
                                int (*fn)(void *arg, unsigned pid, const char *thread),
                                void *arg);
