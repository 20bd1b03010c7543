/* The control socket: what `ferry who` and `ferry kick` talk to.
 *
 * One JSON object a line. A connection carries one request, {"op": "who"}, {"op": "stats"} or
 * {"op": "kick", "id": N}; the answer is any number of objects and a last one with "end": true,
 * and "error" if the request failed. The socket lies in the state directory (0600), and a peer
 * that is neither root nor our own user is closed without a word.
 */
#pragma once
#include "base/attr.h"
#include "server/privileges.h"
#include "server/server.h"

/* Makes the socket, in place of one that a dead server left (the lock says that it is dead). */
MUST_CHECK int control_listen(int state_fd, const struct identity *, int *ret_fd,
                              struct refusal *);
void control_remove(int state_fd); /* its name, at the end */

/* The task that accepts (arg: struct server *), on worker 0. Takes server->control_fd. */
PARKS void control_main(void *arg);
/* After the workers have ended: questions that no worker answered any more. */
void control_done(struct server *);
