/* One side of a copy: an endpoint that is opened again when its connection is lost.
 *
 * Tasks use it between copy_end_enter() and copy_end_leave(), as many at a time as the endpoint
 * takes. When one leaves with a loss, the others' calls fail as well; the next to enter waits
 * until all have left, and opens it again, after a pause that doubles. So often as the settings
 * say without a byte in between; then the end is given up, and whoever enters fails as it did.
 */
#pragma once
#include "client/copy/condition.h"
#include "client/remote/endpoint.h"

#define COPY_WHY_MAX 512

/* Connects. ret_why: a sentence for people, if it fails. */
typedef PARKS int copy_open_fn(void *arg, char ret_why[COPY_WHY_MAX], struct endpoint **ret);

struct copy_end_settings {
    copy_open_fn *open;
    void *arg;
    unsigned retries;
    usec_t pause_us; /* before the first; 0: COPY_PAUSE_US */
    /* Told before each pause; may be NULL. Cannot park. */
    void (*retrying)(void *arg, unsigned attempt, usec_t pause_us, const char *why);
};

#define COPY_PAUSE_US     USEC_PER_S
#define COPY_PAUSE_MAX_US (30 * USEC_PER_S)

struct copy_end {
    struct copy_end_settings settings;
    struct endpoint *endpoint; /* NULL: not open */
    unsigned users, attempts;
    bool is_lost, is_opening;
    bool was_open; /* once, whatever became of it */
    int failed;    /* given up, with this */
    struct copy_condition changed;
    char why[COPY_WHY_MAX];
};

/* Not yet open: the first to enter does it, at once and once. */
void copy_end_init(struct copy_end *, const struct copy_end_settings *);
PARKS void copy_end_done(struct copy_end *);

/* *ret is good until copy_end_leave(). A failure is the last of connecting, in words in
 * end->why; -ECANCELED. */
PARKS MUST_CHECK int copy_end_enter(struct copy_end *, struct endpoint **ret);
/* result: of the last call to the endpoint. */
void copy_end_leave(struct copy_end *, int result);
/* A byte, or a name, has moved: the count of attempts begins anew. */
void copy_end_moved(struct copy_end *);

/* The connection is gone, and what failed can be tried on another one. */
bool copy_is_loss(int result);
