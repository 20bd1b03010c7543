/* What the commands on places have in common: each place in turn, patterns and all, with
 * failures told and counted. */
#pragma once
#include "client/remote_options.h"
#include "client/remotes.h"

struct places {
    const char *command;
    const struct remote_usage *usage;
    struct remote_options options;
    struct remotes remotes;
    int code; /* the exit code so far */

    /* the place whose turn it is */
    const struct location *location;
    struct endpoint *endpoint;
    struct stream *out; /* of cat: standard output */
};

/* For each place, and each path that it stands for. A failure it has told itself is 1. */
typedef PARKS int places_fn(struct places *, const char *path);

/* Runs a command: options, runtime, and main_fn(); an exit code. */
int places_run(int argc, char **argv, const struct remote_usage *,
               PARKS void (*main_fn)(struct places *));
PARKS void places_each(struct places *, places_fn *);
bool places_has(const struct places *, char letter);
/* "ferry ls: PLACE: words"; lost connections and logins are another exit code. */
void places_fail(struct places *, const char *path, int result);
/* Whether going on makes no sense. */
bool places_is_over(int result);
/* Connects to the place. false: it has been told. */
PARKS bool places_enter(struct places *, const struct location *);

/* To standard output: on a terminal, what would move the cursor is shown as \\ooo; elsewhere
 * its bytes are. */
void places_print_name(const char *name);
