/* The server's side of an ssh connection: a session from accept to end.
 *
 * ssh_session_start() greets nobody yet: the connection waits, without a stack, for the
 * client's ident, which comes at once. Then its task reads from top to bottom: idents and key
 * exchange, authentication, then channels, until the client goes; a session that waits for
 * nothing but its client dozes. Accounts, limits, bans and the audit record are those of
 * session/.
 */
#pragma once
#include "session/session.h"
#include "ssh/connection.h"

/* One listener's; constant while workers run. */
struct ssh_server {
    struct session_shared *shared;
    struct auth *auth;
    struct ssh_transport_settings transport; /* role, offer, host keys, pool, rekey limits */
    const struct ssh_service *services;      /* `arg` of open() is the struct session */
    const char *banner;                      /* before authentication, or NULL */
    bool keys_only;                          /* no passwords */
};

/* Takes fd. As ftp_session_start(). */
MUST_CHECK int ssh_session_start(const struct ssh_server *, struct scope *sessions, int fd,
                                 const struct addr *peer, const struct addr *local);
