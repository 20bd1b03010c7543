/* Keys of the ssh server in files: its own in the state directory, and those that let in. */
#pragma once
#include "auth/account.h"
#include "base/attr.h"
#include "server/settings.h"
#include "ssh/host_keys.h"

/* ssh_host_ed25519_key and ssh_host_rsa_key of the directory, and by its setting also
 * ssh_host_ecdsa_key, made if they are not there; whoever calls has the directory's lock.
 * Refused: one that others can read, that belongs to somebody else than root, us or the
 * directory's owner, or that is no key of its kind. *ret: to be given to ssh_host_keys_done().
 */
MUST_CHECK int ssh_host_keys_load(int state_dir_fd, const struct ssh_setting *,
                                  struct ssh_host_keys *ret, struct refusal *);

/* Adds the keys of an authorized_keys file to an account. A line that is refused is a warning
 * in the log and lets nobody in. Refused as a whole: a file that others can write, that is
 * longer than SSH_AUTHORIZED_FILE_MAX, or has more keys than an account can. */
MUST_CHECK int ssh_authorized_keys_read(const char *path, struct account *, struct refusal *);
