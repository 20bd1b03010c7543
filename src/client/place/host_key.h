/* Is this the server's key? known_hosts says; of a host that is not in it, its user is asked.
 */
#pragma once
#include "client/place/ssh_config.h"
#include "client/ssh_trust.h"

struct host_key {
    struct ssh_trust *trust;
    const char *host;
    uint16_t port;
    enum ssh_config_strict strict;
    bool may_ask, hashes;     /* hashes: HashKnownHosts */
    const char *file;         /* that a new key goes to; NULL: none */
    struct bytes blob;        /* while it is looked at */
    struct crypto_key *taken; /* the last key that was; referenced */
    bool is_unknown;          /* no file knew the host */
    bool is_refused;          /* and the user said no, or nobody could be asked */
};

/* Adds take_unknown() to the settings and makes the trust. */
MUST_CHECK int host_key_init(struct host_key *, struct ssh_trust_settings *);
void host_key_done(struct host_key *);
/* ssh_transport_settings.check_host_key; arg: the struct host_key. */
PARKS int host_key_check(void *host_key, const struct crypto_key *, struct bytes blob);
/* What a failed check means and what to do, as a sentence; "" if none failed. */
void host_key_why(const struct host_key *, size_t cap, char *ret);
