/* TLS on a connected stream, the client's side: 1.2 (RFC 5246) and 1.3 (RFC 8446).
 *
 * The certificate is NOT verified: whoever can change packets can be the server. It keeps
 * listeners out and nobody else, which is enough to measure a server and for nothing else.
 *
 * A TLS stream is a stream as any other, with these differences: one task at a time uses it,
 * since reading may have to write; a record (16 KB) must come whole within the stall time;
 * stream_fd() is NULL, since the kernel knows no key; the end is told by close_notify, so a
 * connection that ends without one reads as -FERRY_ETRUNCATED (anyone on the path could have
 * cut it), and what is no TLS as -FERRY_EPROTO. stream_end() sends close_notify, stream_free()
 * does not: the peer can tell the whole from a part.
 *
 * OpenSSL never waits: it reads and writes through task/sys.h, and the task parks when it wants
 * more.
 */
#pragma once
#include "io/stream.h"

/* What connections have in common. Any number of them, of one worker. */
struct tls_context;

/* -ENOMEM, -FERRY_EPROTO: a TLS library that cannot be set up. */
MUST_CHECK int tls_context_new(struct tls_context **ret);
/* After its last stream. NULL is fine. Returns NULL. */
struct tls_context *tls_context_free(struct tls_context *);

/* Takes `lower`, a stream over a socket that holds nothing read ahead, on success and on
 * failure; its stall time is the new stream's. resume: a TLS stream to the same server whose
 * session is offered for this one, or NULL. -ETIMEDOUT (of the deadline), -FERRY_EPROTO: no
 * TLS, or none that we want; -FERRY_ECLOSED: the peer went away; -ECANCELED, -ENOMEM. */
PARKS MUST_CHECK int tls_connect(const struct tls_context *, struct stream *lower,
                                 const struct stream *resume, usec_t deadline,
                                 struct stream **ret);

/* The server took the session that was offered. */
bool tls_is_resumed(const struct stream *);
/* The socket beneath, for who ends the connection out of order (io/tcp_bulk.h). */
struct io_fd *tls_socket(const struct stream *);
