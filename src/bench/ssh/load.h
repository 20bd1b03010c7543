/* The load on one server: sessions of ferry's own client side, a client of OpenSSH, and what
 * they move.
 *
 * A load belongs to the worker that runs its tasks. Each login comes from a loopback address of
 * its own, so that ports of closed connections do not run out.
 */
#pragma once
#include "bench/ssh/program.h"
#include "bench/ssh/relay.h"
#include "bench/ssh/stage_keys.h"
#include "sftp/client.h"
#include "ssh/client.h"

/* What all loads share; outlives them. */
struct ssh_load_shared {
    const struct stage *stage;
    struct pool *const *pool; /* the benchmark's, which is made later */
    struct stage_keys keys;
    usec_t timeout_us;
};

/* Does not move while it is open. */
struct ssh_session {
    struct ssh_client *client;   /* NULL: not open */
    struct ssh_channel *channel; /* of sftp; NULL: none */
    struct sftp_client *sftp;    /* on it; NULL: none */
    struct ssh_offer *offer;
    struct ssh_client_settings settings; /* the client's as long as it lives */
};

struct ssh_load {
    const struct ssh_load_shared *shared;
    const struct addr *server; /* where it listens now */
    const char *user;
    unsigned logins;
    struct scope readers;         /* the session tasks */
    char why[SSH_CLIENT_WHY_MAX]; /* of the last failure */

    struct ssh_session lone;
    struct ssh_session **crowd; /* crowd_count of them */
    unsigned crowd_count;
    struct ssh_program program; /* that runs between samples, or in one */
    struct relay *relay;        /* on the way to the server; NULL: none */

    uint8_t *block; /* NOISE_BLOCK_BYTES that ferry's own client sends; NULL: not yet */

    uint64_t stored_bytes, retrieved_bytes;
};

void ssh_load_init(struct ssh_load *, const struct ssh_load_shared *, const struct addr *server,
                   const char *user);
/* Ends all sessions, the program and the relay; they can be opened again. */
PARKS void ssh_load_close(struct ssh_load *);

/* -- sessions -- */

/* Connects and logs in by the key, from the next address. A session that is open stays. */
PARKS MUST_CHECK int ssh_session_open(struct ssh_load *, struct ssh_session *,
                                      const struct ssh_row_detail *);
/* And a channel on which sftp has greeted (SSH_FXP_INIT and VERSION). */
PARKS MUST_CHECK int ssh_session_open_sftp(struct ssh_load *, struct ssh_session *);
/* A channel of sftp, and a client that moves files on it. */
PARKS MUST_CHECK int ssh_session_open_files(struct ssh_load *, struct ssh_session *);
/* One question of sftp and its answer: the real path of ".". */
PARKS MUST_CHECK int ssh_session_ask(struct ssh_load *, struct ssh_session *);
/* Runs a command, throws away what it writes and counts it. -FERRY_EREFUSED: it ended with
 * another status than 0. */
PARKS MUST_CHECK int ssh_session_run(struct ssh_load *, struct ssh_session *,
                                     const char *command, uint64_t *ret_bytes);
PARKS void ssh_session_close(struct ssh_session *);

/* Room for so many sessions of the crowd; what is open stays. -ENOMEM. */
MUST_CHECK int ssh_load_reserve(struct ssh_load *, unsigned count);
PARKS void ssh_load_close_crowd(struct ssh_load *);

/* "what: " and why. dst is printable. */
void ssh_load_explain(const struct ssh_load *, const char *what, int result, size_t cap,
                      char *dst);
