/* A server that the benchmark starts and stops: ferryd, the floor or a peer, by its recipe.
 *
 * It runs as a process tree of its own, in a mount name space with an /etc, /run and /var/log
 * of its own, so that nothing on the host is read or changed. peer_stop() ends all of the tree;
 * so does the end of this process, however it ends.
 *
 * Blocking (up to PEER_READY_US): not on a loop.
 */
#pragma once
#include <stddef.h>

#include "bench/peers/peer_place.h"
#include "bench/peers/recipe.h"
#include "bench/peers/stage.h"
#include "io/addr.h"

#define PEER_ERROR_MAX 256
#define PEER_READY_US  (20 * USEC_PER_S)

struct peer {
    const struct recipe_list *list;
    const struct recipe *recipe; /* of the list */
    enum recipe_variant variant;
    unsigned pid;    /* the root of its tree; 0: it does not run */
    unsigned keeper; /* our child, which started the tree and ends it; 0: none */
    int lifeline;    /* a pipe to it: when this end is closed, the tree ends */
    struct addr addr;
    char version[PEER_VERSION_MAX]; /* "3.0.3-13+b2", of the package; ferry's own */
    char error[PEER_ERROR_MAX];     /* why it does not run: the last words of its log */
};

/* Returns when it greets on its port. -ENOENT: not installed; -ETIMEDOUT, or how the start
 * failed, with the reason in peer->error. peer_stop() in any case. */
MUST_CHECK int peer_start(struct peer *, const struct stage *, const struct recipe_list *,
                          const struct recipe *, enum recipe_variant);
void peer_stop(struct peer *);

/* Its settings as it got them, for the record. Returns the length, at most cap - 1. */
size_t peer_settings_text(const struct peer *, const struct stage *, char *dst, size_t cap);
