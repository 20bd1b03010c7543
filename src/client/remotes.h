/* The endpoints of one command: one for this machine and one for each server and login, made
 * when they are first asked for. */
#pragma once
#include "client/place/login.h"
#include "client/remote/endpoint.h"

#define REMOTES_MAX     16
#define REMOTES_WHY_MAX LOGIN_WHY_MAX

struct remotes {
    struct login_settings login; /* pool and scope are filled in by remotes_init() */
    struct scope scope;
    unsigned count;

    struct remote_at {
        enum location_scheme scheme;
        char *user, *host;
        uint16_t port;
        struct endpoint *endpoint;
    } at[REMOTES_MAX];
};

/* By the main task. */
void remotes_init(struct remotes *, const struct login_settings *);
PARKS void remotes_done(struct remotes *);
/* scp:// and HOST:PATH go by SFTP. ret_why: a sentence. */
PARKS MUST_CHECK int remotes_get(struct remotes *, const struct location *,
                                 char ret_why[REMOTES_WHY_MAX], struct endpoint **ret);

/* The endpoint's path of a place: what is of this machine becomes absolute, and what of a
 * server is empty becomes ".". Freed by the caller; NULL: no memory. */
char *remotes_path(const struct location *) MUST_CHECK;

/* A path of this machine from the root on. NULL: no memory, or nobody knows where we are. */
char *remotes_absolute(const char *path) MUST_CHECK;

/* What failed, as people read it: the server's words if there are any. */
const char *remotes_words(const struct endpoint *, int result);

/* -- names -- */

typedef PARKS int remotes_path_fn(void *arg, const char *path);

/* Calls fn for a path, or, of a server, if there is nothing of that very name, for all that
 * match it as a pattern (base/glob.h; a hidden name only if its component begins with a dot),
 * in order. -ENOENT: nothing does. */
PARKS MUST_CHECK int remotes_expand(struct endpoint *, const char *path, remotes_path_fn *,
                                    void *arg);
/* "DIRECTORY/NAME"; NULL: no memory. */
char *remotes_join(const char *directory, struct bytes name) MUST_CHECK;
