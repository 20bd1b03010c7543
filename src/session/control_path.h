/* Where a running ferryd can be asked: its state directory and the control socket in it. What
 * both programs must agree on; each asks the system itself. */
#pragma once
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/attr.h"

#define CONTROL_SOCKET_NAME "control.sock"
#define CONTROL_REQUEST_MAX 256  /* bytes of a request line; brackets nest on a stack */
#define CONTROL_REPLY_MAX   4096 /* bytes of a reply line */

/* root: /var/lib/ferryd; else $XDG_STATE_HOME/ferryd, else $HOME/.local/state/ferryd. The
 * variables' values may be NULL; a relative one does not count (XDG base directories 0.8).
 * *ret is the caller's to mem_free(). -ENOENT: neither is set. -ENOMEM. */
MUST_CHECK int control_state_dir(bool is_root, const char *xdg_state_home, const char *home,
                                 char **ret);

/* The socket's address through the descriptor of the state directory, so that its path may be
 * longer than sun_path. Needs /proc. */
socklen_t control_socket_addr(int state_fd, struct sockaddr_un *ret);
