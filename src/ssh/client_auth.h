/* Authentication, the client's side (RFC 4252): keys in their order, then the password. For
 * ssh/client.c. */
#pragma once
#include "ssh/client.h"

/* From SERVICE_REQUEST to the login. -FERRY_EAUTH: the server takes none of what there is. */
PARKS MUST_CHECK int ssh_client_authenticate(struct ssh_transport *, struct stream *lower,
                                             const struct ssh_client_settings *);
