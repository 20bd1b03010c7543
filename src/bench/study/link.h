/* Links of a given rate, for programs that know nothing of them: two network name spaces that a
 * pair of virtual cards joins, with a token bucket (tc-tbf(8)) at each end. This thread, and
 * with it the servers that it starts, stays in the one; clients are started in the other and
 * reach the servers' loopback addresses through the pair.
 *
 * Nothing of it is seen in the host's name space, and all of it ends with this process.
 * Blocking.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"

/* Closer than this to the rate that was asked for, or it is no measurement. */
#define LINK_TOLERANCE 0.03

struct link {
    int servers, clients; /* the name spaces; -1: not made */
    uint64_t rate;        /* as set; 0: not yet */
};

/* Leaves the host's network for good; not if it fails. -EPERM: not root; -ENOENT: no ip(8) or
 * tc(8); -ECANCELED: one of them refused, and `said` holds why. link_close() in any case. */
MUST_CHECK int link_open(struct link *, struct buf *said);
void link_close(struct link *);

/* bytes_per_s of payload, both ways. As link_open(). */
MUST_CHECK int link_set_rate(struct link *, uint64_t bytes_per_s, struct buf *said);
/* What a plain TCP stream gets through, in bytes per second, and 0; -errno. */
MUST_CHECK int link_test(struct link *, double *ret);

/* From here on this thread starts programs as a client, or as a server. */
MUST_CHECK int link_enter(const struct link *, bool as_client);
