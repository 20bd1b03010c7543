/* The data connection: PASV, EPSV, PORT and EPRT prepare it, a transfer takes what was prepared
 * and makes it (RFC 959 3.2, RFC 2428).
 *
 * The other end is always the control connection's peer (RFC 2577): nothing else is accepted,
 * and nothing else is connected to. What was prepared serves one connection; preparing again
 * replaces it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "io/stream.h"

struct ftp_session;
struct listener;

/* {0}: nothing is prepared. Owned by the session, then by the transfer that took it. */
struct ftp_data {
    struct listener *listener; /* passive; NULL: not */
    usec_t expires_at;         /* of a listener that no transfer has taken */
    uint16_t active_port;      /* active; 0: not. The host is the control peer. */
};

void ftp_data_drop(struct ftp_data *);
bool ftp_data_is_prepared(const struct ftp_data *);

/* Waits for the peer or connects to it, within the connect deadline. For passive mode it looks
 * at one connection: one from elsewhere is closed and -EACCES returned. Uses up what was
 * prepared, also on failure. */
PARKS MUST_CHECK int ftp_data_connect(const struct ftp_session *, struct ftp_data *,
                                      struct stream **ret);
