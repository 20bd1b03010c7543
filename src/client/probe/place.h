/* The server that is probed, and the one file that is made there.
 *
 * That file has a hidden name of its own beside nobody else's, and goes away whatever happens
 * to the probe: if the connection is lost, or was given up with what was under way, another one
 * is made to remove it. What cannot be removed is told.
 *
 * A plain object of its owner, used by one task at a time. */
#pragma once
#include "client/place/login.h"
#include "client/remote/endpoint.h"

#define PROBE_NAME ".ferry-probe-" /* and 16 digits */

struct probe_place {
    const struct location *location;
    struct login_settings login; /* without compression */
    struct endpoint *endpoint;   /* NULL: not connected */
    struct ftp_link *ftp;        /* the endpoint's; NULL: it is reached by ssh */
    usec_t login_us;             /* from nothing to logged in */
    char *directory;             /* what is written to */
    char *file;                  /* the place is this file; or NULL */
    char *temporary;             /* NULL: nothing is there */
    char why[LOGIN_WHY_MAX];
};

/* Borrows both. The settings have pool and scope. */
void probe_place_init(struct probe_place *, const struct location *,
                      const struct login_settings *);
/* Connects and logs in. place->why says what failed. */
PARKS MUST_CHECK int probe_place_open(struct probe_place *);
/* What it is: directory and file are known then. place->why. */
PARKS MUST_CHECK int probe_place_look(struct probe_place *);
/* Makes up the name; nothing is there yet. */
MUST_CHECK int probe_place_name(struct probe_place *);
/* Median of some small requests, each when the last was answered. */
PARKS MUST_CHECK int probe_place_round_trip(struct probe_place *, usec_t *ret_us);
/* Whether a directory can be unpacked there by tar(1). */
PARKS MUST_CHECK int probe_place_find_tar(struct probe_place *, bool *ret);
/* What the kernel says of the connection that carries the bytes of files: zeros while there is
 * none. */
void probe_place_info(const struct probe_place *, struct stream_info *ret);
/* Whether nothing can be asked of it any more, after a call with this result. */
bool probe_place_is_lost(const struct probe_place *, int result);
/* Removes what was made. 0, also if nothing was; else it is still there, and place->why says
 * why. Does not hear a cancel; takes PROBE_REMOVE_US at most. */
#define PROBE_REMOVE_US (15 * USEC_PER_S)
PARKS MUST_CHECK int probe_place_remove(struct probe_place *);
PARKS void probe_place_done(struct probe_place *);
