/* One client program, from its start to its end, and what its process tree has cost.
 *
 * A command is a template: @WORD@ is replaced by what struct client_words has of it. Client
 * programs read no configuration of the user's: their home is a folder of the stage that holds
 * a .netrc and ssh's configuration for this run.
 *
 *     @HOST@ @PORT@        of the server            @DATA@ @NAME@   what is moved: path, last
 * part
 *     @SSH@                OpenSSH's options         @FERRY@         ferry
 *     @HOME@               the clients' home         @PASSWORD@      of the account
 *     @DATADIR@            the folder it lies in      @INTO@          where it goes, for
 * receivers
 *     @HOSTKEY@            its fingerprint
 */
#pragma once
#include "base/buf.h"
#include "base/clock.h"
#include "bench/study/share.h"
#include "bench/study/study.h"

#define CLIENT_MISUSED 2 /* what ferry ends with when it does not know an option */

struct client_words {
    char host[64], port[8];
    const char *data, *name, *datadir, *home, *password, *ferry, *into, *hostkey;
};

struct client_call {
    const char *command; /* template */
    bool is_shell;
    const struct client_words *words;
    const struct share *share; /* NULL: none */
    int signals;               /* a signalfd: a signal ends it */
    usec_t timeout_us;
    /* NULL: nothing. Called once, so long after the start. */
    void (*at_mark)(void *arg);
    void *mark_arg;
    usec_t mark_us;
};

/* -EINVAL: a word that is not known. */
MUST_CHECK int client_fill(const char *text, const struct client_words *, struct buf *ret);

/* A running one; `said` is the caller's. */
struct client {
    unsigned pid;
    int output;
    usec_t began;
};

MUST_CHECK int client_start(const struct client_call *, struct client *ret);
/* 0: it ended with 0; -ECANCELED: a signal came, -ETIMEDOUT: it took too long, and it was
 * killed; -EOPNOTSUPP: it ended with CLIENT_MISUSED; -FERRY_EREFUSED: otherwise. The last line
 * of what it wrote is appended to `said` then. server_s of the run is left as it is. */
MUST_CHECK int client_wait(struct client *, const struct client_call *, struct study_run *ret,
                           struct buf *said);
