/* Between the files of an endpoint by SFTP. */
#pragma once
#include "client/remote/endpoint.h"
#include "sftp/client.h"

/* Over a stream that speaks SFTP already, which it borrows; without an ssh link, so without
 * sha256(). */
PARKS MUST_CHECK int endpoint_sftp_over(struct stream *, bool is_ferry, struct endpoint **ret);

/* As endpoint_sftp_new(), but the link is the caller's on failure. */
PARKS MUST_CHECK int endpoint_sftp_try(struct ssh_link *, struct endpoint **ret);
/* A server that speaks ssh and has no SFTP, from the failure of the above: the link is good for
 * other requests. */
bool sftp_is_missing(const struct ssh_link *, int result);

/* By the server's sha256sum, in a channel of its own. size_bytes: what the file has. why: the
 * server's words. -EOPNOTSUPP: it cannot. */
PARKS MUST_CHECK int sftp_ask_sha256(struct ssh_link *, struct bytes path, uint64_t bytes,
                                     uint64_t size_bytes, size_t why_max, char *why,
                                     uint8_t ret[32]);
/* The line of sha256sum, "DIGEST  NAME" or "\DIGEST  NAME". Pure. -FERRY_EPROTO. */
MUST_CHECK int sftp_sha256_line(struct bytes line, uint8_t ret[32]);
/* The word in quotes, for a POSIX shell. -EINVAL: it has a NUL. */
struct buf;
MUST_CHECK int sftp_quote_word(struct bytes word, struct buf *ret);
