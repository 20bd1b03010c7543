/* A server's session from inside: for ssh/server.c and ssh/auth.c. */
#pragma once
#include "ssh/server.h"

struct ssh_session {
    struct session base; /* first */
    const struct ssh_server *server;
    struct scope *sessions; /* where its task is started */
    struct scope children;  /* services, and who flushes the queue */
    struct event wake;      /* kicked, sending failed, something to settle */
    struct ssh_transport *transport;
    struct pool_share *host_share;     /* of the pool: for key exchanges and signatures */
    struct ssh_connection *connection; /* from the login on */
    struct ssh_connection_settings channels;
    uint8_t refusals, questions; /* of the login */
    uint8_t pings;               /* since the peer was heard */
    usec_t quiet_at;             /* when it was heard, or pinged */
};

/* The next message that is for the session. -ETIMEDOUT: none before the deadline; or why the
 * session ends. */
PARKS MUST_CHECK int ssh_session_next(struct ssh_session *, usec_t deadline,
                                      struct ssh_packet *ret);

/* Serves SERVICE_REQUEST and authentication until the client is logged in (RFC 4252). */
PARKS MUST_CHECK int ssh_auth_serve(struct ssh_session *);
