/* The server of the SSH file transfer protocol, version 3 (draft-ietf-secsh-filexfer-02, with
 * OpenSSH's extensions of PROTOCOL): over any stream, an ssh channel or standard input.
 *
 * Requests are answered in order. Reads of a handle that follow each other and are here already
 * are one read of the file, and writes one write; ahead of what is asked, the kernel reads.
 * What a client asks for costs memory when it is answered, not when it is asked: requests that
 * are not answered yet stay in the stream, and answers are bounded by the stream's room.
 */
#pragma once
#include "io/stream.h"
#include "session/session.h"

#define SFTP_DOZES 1

struct sftp_settings {
    bool read_only;               /* -R */
    const char *allowed, *denied; /* -P denies, -p allows: names between commas; or NULL */
    struct bytes start;           /* directory of relative paths; empty: "/" */
    bool log_requests;
};

struct sftp_server;

/* Borrows all. session: whose vfs, shares and audit record it uses. -ENOMEM. */
MUST_CHECK int sftp_server_new(struct session *, struct stream *, const struct sftp_settings *,
                               struct sftp_server **ret);
/* Serves until the stream ends (0), SFTP_DOZES when nothing is half done and nothing has come,
 * or how it failed. May be called again after SFTP_DOZES. */
PARKS MUST_CHECK int sftp_server_run(struct sftp_server *);
/* Handles that are still open are closed, and uploads in them broken, by the pool. NULL is
 * fine. */
struct sftp_server *sftp_server_free(struct sftp_server *);
/* For -Q requests: the n-th request's name, or NULL. */
const char *sftp_request_name(unsigned n);
