/* The FTP server role (RFC 959, 1123, 2389, 2428, 2577, 3659): one session per control
 * connection. The listener is the caller's; it hands over what it accepted. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "io/addr.h"
#include "session/session.h"
#include "task/task.h"

/* Settings of one listener, shared by its sessions on all workers; must outlive them. */
struct ftp_service {
    struct session_shared *shared;
    uint16_t passive_first, passive_last; /* tried at random; both 0: the kernel's choice */
    uint16_t passive_step;                /* from one to the next; 0 is 1 */
    bool passive_is_hint;                 /* if many are taken, the kernel chooses any */
    struct addr masquerade;               /* what 227 tells in place of our own; len 0: none */
    const char *banner;                   /* text behind 220; NULL: a default */
};

/* Takes fd, also on failure: non-blocking, accepted from tcp_listen_shared() or after
 * listener_for_dialogues(). Greets the peer; the session then runs as a task of the scope
 * whenever the peer has spoken. The scope must live as long as the worker; the session frees
 * itself. When a limit refuses it the peer is told 421. -FERRY_ELIMIT, -FERRY_EBANNED, -ENOMEM,
 * or why it could not be greeted. Waits at most a moment, for its one line to be written. */
PARKS MUST_CHECK int ftp_session_start(const struct ftp_service *, struct scope *sessions,
                                       int fd, const struct addr *peer,
                                       const struct addr *local);
