/* The listening sockets of all workers, bound in the one thread of the start. */
#pragma once
#include "base/attr.h"
#include "server/settings.h"

struct listeners {
    unsigned count, workers;
    int *fds; /* [listener][worker]; -1 once a worker has taken its own */
};

/* Binds each listener of the settings for that many workers and writes the port it got into
 * them. All or none. */
MUST_CHECK int listeners_open(struct settings *, unsigned workers, struct listeners *ret,
                              struct refusal *);
int listeners_take(struct listeners *, unsigned listener, unsigned worker); /* the caller's */
void listeners_close(struct listeners *); /* those not taken; {0} is fine */
