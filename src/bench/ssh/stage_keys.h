/* Keys and files of a run that all ssh servers and clients share, in the folder ssh/ of the
 * stage; nothing of them outlives it. Blocking: not on a loop.
 *
 *     state/               0700: ssh_host_ed25519_key, and what else ferryd keeps
 *     client_key           lets in, to each account
 *     authorized_keys      as OpenSSH and ferryd read it
 *     authorized_keys.ssh2 the same key as ProFTPD reads it (RFC 4716)
 *     known_hosts          the host key, of whatever host
 *     local/               files of our own side
 */
#pragma once
#include "base/buf.h"
#include "bench/peers/stage.h"
#include "crypto/key.h"

#define STAGE_SSH_PATH_MAX (STAGE_PATH_MAX + 64)

/* BASE/ssh/NAME. Returns dst. */
const char *stage_ssh_path(const struct stage *, const char *name,
                           char dst[STAGE_SSH_PATH_MAX]);

/* Makes all of it. */
MUST_CHECK int stage_ssh_make(const struct stage *);

struct stage_keys {
    struct crypto_key *host;   /* public */
    struct crypto_key *client; /* private */
};

/* What was made, in memory. stage_keys_done() in any case. */
MUST_CHECK int stage_keys_read(const struct stage *, struct stage_keys *ret);
void stage_keys_done(struct stage_keys *);

/* The public key in RFC 4716's form, from its line of authorized_keys. -EINVAL: it is none. */
MUST_CHECK int stage_keys_rfc4716(struct bytes line, struct buf *ret);
