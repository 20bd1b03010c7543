/* From a host's name to a connection. */
#pragma once
#include "io/addr.h"
#include "task/fd.h"
#include "task/pool.h"

#define RESOLVE_MAX 16 /* addresses that are tried */

struct resolved {
    unsigned count;
    struct addr at[RESOLVE_MAX]; /* IPv6 and IPv4 in turn, each in the resolver's order */
};

/* In the pool, since it waits for other machines. -ENOENT: there is no such host, or none can
 * be asked; ret_why has it in words (static text). -ETIMEDOUT, -ECANCELED, -EBUSY, -ENOMEM. */
PARKS MUST_CHECK int resolve(struct pool *, const char *host, uint16_t port, usec_t deadline,
                             struct resolved *ret, const char **ret_why);
/* To the first that answers; each has its share of the time that is left. The last one's
 * failure. */
PARKS MUST_CHECK int resolved_connect(const struct resolved *, usec_t deadline,
                                      struct io_fd **ret);
/* When the next of so many tries is to be over. */
usec_t resolved_share(usec_t deadline, unsigned tries_left);
