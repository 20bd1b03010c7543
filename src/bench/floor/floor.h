/* The least that a server can do and still move files for an FTP client: beside its numbers a
 * benchmark shows what a perfect server would reach on this machine.
 *
 * One thread with a bare loop, no accounts, no time limits, and answers that are constants: any
 * name and password log in. Files lie in one folder and have no path; a client can read,
 * replace and remove them. It knows USER, PASS, TYPE, PASV, EPSV, RETR, STOR, DELE, SIZE, NOOP,
 * ABOR, PWD, SYST and QUIT, and answers 502 to the rest. A session makes its port at the first
 * PASV and keeps it, so a transfer costs an accept and no more; whoever connects to that port
 * first has the data. So: for measuring, on loopback, in a folder that nobody needs.
 *
 * Bounds: FTP_LINE_MAX of a line, and as many sessions as the process may have descriptors (one
 * each, two after PASV, four in a transfer); beyond that clients wait to be accepted.
 */
#pragma once
#include "base/attr.h"
#include "io/addr.h"

struct floor_settings {
    const char *folder;
    struct addr listen;                              /* of loopback; port 0: any */
    void (*ready)(void *arg, const struct addr *at); /* it listens, on this port; or NULL */
    void *arg;
};

/* Serves until SIGTERM or SIGINT comes, or the process that started this one has ended. It
 * needs no runtime, but a thread in which all signals are blocked (runtime_signals_setup()). 0,
 * or -errno of what failed; -EINVAL: no address of loopback. */
MUST_CHECK int floor_run(const struct floor_settings *);
