/* What we offer in KEXINIT (DESIGN 3.8). Made once at start, the same for all connections. */
#pragma once
#include "ssh/wire/kexinit.h"

struct ssh_offer_settings {
    bool nistp256; /* also ecdh-sha2-nistp256 and ECDSA host keys */
    /* Also, last, what old peers have and nobody should use: CBC, HMAC-SHA-1, group 14 (also
     * with SHA-1) and ssh-rsa. Without it SHA-1 and CBC cannot be had by name either. */
    bool legacy;
    /* One cipher, MAC or key exchange alone, for measuring and tests; NULL: all. Names between
     * commas, best first. */
    const char *only_kex, *only_host_keys, *only_ciphers, *only_macs;
};

struct ssh_offer; /* texts of the lists; ciphers in the order of crypto_speeds() */

/* -EINVAL: an only_ list with a name that is not known. -ENOMEM. */
MUST_CHECK int ssh_offer_new(enum ssh_role, const struct ssh_offer_settings *,
                             struct ssh_offer **ret);
struct ssh_offer *ssh_offer_free(struct ssh_offer *); /* NULL is fine */

/* Our lists for one KEXINIT. is_first: of the connection, with the markers of strict exchange
 * and EXT_INFO. peer: the message, if it has come already, of a client whose order of ciphers
 * may be passed over, else NULL: a server then offers AES-GCM alone to a client that has it,
 * because the client's order decides and stock OpenSSH puts the faster cipher last. Others may
 * have it below a line of their user's (PuTTY asks then). host_keys: names that we can sign
 * with (a server), or NULL. Borrowed from offer and host_keys. Cookie and compression are
 * left alone. */
void ssh_offer_lists(const struct ssh_offer *, bool is_first, const struct ssh_kexinit *peer,
                     const char *host_keys, struct ssh_kexinit *ret);
