/* A server's host keys, and which of them signs with which algorithm. Signing itself is part of
 * the job of a key exchange (ssh/kex_job.h). */
#pragma once
#include "crypto/key.h"

#define SSH_HOST_KEYS_MAX 4

/* Shared by all workers; constant after the start. */
struct ssh_host_keys {
    bool legacy; /* SHA-1 is taken: RSA signs with it too, and logins may be signed with it;
                    set before the first key is added */
    unsigned count;
    struct crypto_key *keys[SSH_HOST_KEYS_MAX]; /* one of a kind */
    /* algorithms that they sign with, best first, between commas */
    char names[128];
};

/* Takes a reference. -EEXIST: one of this kind is there. */
MUST_CHECK int ssh_host_keys_add(struct ssh_host_keys *, struct crypto_key *);
void ssh_host_keys_done(struct ssh_host_keys *);
/* The key that signs with this algorithm, borrowed, or NULL. */
struct crypto_key *ssh_host_keys_find(const struct ssh_host_keys *, struct bytes algorithm);
