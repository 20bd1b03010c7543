/* The client's side of an ssh connection: connect, key exchange, host key, authentication;
 * then channels by ssh/connection.h. A task of its own reads (the session task); the caller
 * uses channels from any other task of the worker. */
#pragma once
#include "io/addr.h"
#include "ssh/connection.h"

struct ssh_client;
struct buf;
struct wire_writer;

/* Signs for a key whose secret is elsewhere (ssh/agent.h). */
struct ssh_signer {
    struct crypto_key *key; /* its public part */
    /* A signature's blob (ssh/wire/key.h). -FERRY_EREFUSED: not with this key; others are tried
     * then. Any other failure ends the login. */
    PARKS int (*sign)(void *arg, const struct crypto_key *, struct bytes algorithm,
                      struct bytes data, struct wire_writer *signature);
    void *arg;
};

struct ssh_client_settings {
    struct addr to;
    const struct addr *from; /* local address, or NULL */
    const char *user;
    struct bytes password; /* tried after the keys; empty: none */
    /* Asked, if not NULL, when neither did and the server takes passwords: one to try, which is
     * wiped then; again while it is wrong. false: there is none. `deadline` may be put off. */
    PARKS bool (*ask_password)(void *arg, unsigned tries, struct buf *ret);
    void *ask_arg;
    const struct ssh_signer *signers; /* tried in their order, before the keys */
    unsigned signer_count;
    struct crypto_key *const *keys; /* private, in the order in which they are tried */
    unsigned key_count;
    struct ssh_transport_settings transport; /* role, offer, check_host_key, pool, limits */
    usec_t deadline;                         /* for everything until the login */
    usec_t stall_us;
};

#define SSH_CLIENT_WHY_MAX 256

/* Connects and logs in; the settings are borrowed for as long as the client lives, what they
 * point to as signers, keys, user and password until this returns. The scope is for the task
 * that reads. -FERRY_EAUTH: the server takes none of these, or the host key was not taken;
 * ret_why has each failure in words. */
PARKS MUST_CHECK int ssh_client_connect(const struct ssh_client_settings *, struct scope *,
                                        char ret_why[SSH_CLIENT_WHY_MAX],
                                        struct ssh_client **ret);
/* The same over a stream that is connected, which it takes, also on failure; `to` and `from`
 * are not looked at. */
PARKS MUST_CHECK int ssh_client_start(const struct ssh_client_settings *, struct stream *,
                                      struct scope *, char ret_why[SSH_CLIENT_WHY_MAX],
                                      struct ssh_client **ret);
struct ssh_connection *ssh_client_connection(struct ssh_client *);
/* To ask it what was chosen, and why it failed. */
struct ssh_transport *ssh_client_transport(struct ssh_client *);
/* How the connection ended; 0: it has not. A channel's stream says no more than
 * -FERRY_ECLOSED. */
int ssh_client_result(const struct ssh_client *);
/* Says goodbye and frees; channels must be closed. Waits even if the caller is cancelled, up to
 * two seconds for the last words to go; not in a shield. NULL is fine. */
PARKS struct ssh_client *ssh_client_free(struct ssh_client *);
