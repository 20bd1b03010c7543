/* From settings to a running server, in the order that DESIGN 3.9 gives: open everything, give
 * up every right, then start the first thread; and back. */
#pragma once
#include "base/attr.h"
#include "server/settings.h"

/* Serves until it is told to stop. notify_socket: server/notify.h. 0, or -EINVAL and why: it
 * could not start. */
MUST_CHECK int launch(struct settings *, const char *notify_socket, struct refusal *);

/* What launch() would refuse of roots, user, log and keys, without a trace of it. Then the
 * process becomes for good what it would serve as, and warns in the log of what that one cannot
 * do. */
MUST_CHECK int launch_check(struct settings *, unsigned *ret_warnings, struct refusal *);
