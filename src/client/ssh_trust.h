/* Whom the ssh client trusts, and with what it logs in: host keys in known_hosts files, key
 * files, all where OpenSSH has them. Files are read when these are called; no task is needed
 * but for ssh_trust_check(). */
#pragma once
#include "crypto/key.h"
#include "ssh/wire/key.h"
#include "ssh/wire/known_hosts.h"

/* -- host keys -- */

struct ssh_trust;

#define SSH_TRUST_FILES_MAX 4
#define SSH_TRUST_WHY_MAX   512

struct ssh_trust_settings {
    const char *host; /* as the user named it */
    uint16_t port;
    /* NULL: ~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts. A file that is not there has no
     * keys. */
    const char *const *files;
    unsigned file_count;
    /* Asked of a host that no file knows, with SHA256:... of its key; true: trust it this time.
     * NULL: no. Never asked about a key that is another one than is known. */
    PARKS bool (*take_unknown)(void *arg, const char *host, const char *key_type,
                               const char *fingerprint);
    void *arg;
};

/* Reads the files. -FERRY_ELIMIT: one is longer than SSH_KNOWN_HOSTS_MAX; -errno of one that is
 * there and cannot be read; -ENOMEM. Copies host, borrows arg. */
MUST_CHECK int ssh_trust_new(const struct ssh_trust_settings *, struct ssh_trust **ret);
struct ssh_trust *ssh_trust_free(struct ssh_trust *); /* NULL is fine */
/* For ssh_transport_settings.check_host_key; arg: the struct ssh_trust. 0: known and not
 * revoked, or taken. -FERRY_EAUTH. */
PARKS int ssh_trust_check(void *trust, const struct crypto_key *, struct bytes blob);
/* Names of host key algorithms for an offer's only_host_keys: of the types that are known of
 * this host; NULL: none is. */
const char *ssh_trust_host_keys(const struct ssh_trust *);
/* Why the last check failed, for people; "" if it did not. */
const char *ssh_trust_why(const struct ssh_trust *);

/* -- keys -- */

#define SSH_KEY_FILES_MAX 8

struct ssh_keys {
    unsigned count;
    struct crypto_key *keys[SSH_KEY_FILES_MAX];
};

/* Asked for an encrypted file's passphrase, up to three times; false: leave it out. What *ret
 * gets is wiped. */
struct buf;
typedef bool ssh_passphrase_fn(void *arg, const char *path, struct buf *ret);

/* Adds the key of a file, which must be the user's and no other's to read. -FERRY_EAUTH:
 * encrypted, and no passphrase was right; -EPERM: others can read it, or it is another user's;
 * -FERRY_ELIMIT: too many keys, or no key file, or one that would take too long to open;
 * -ELIBACC: encrypted, and what opens it is not installed; -FERRY_EPROTO, -EPROTONOSUPPORT (see
 * ssh/wire/key_file.h), -errno. ask may be NULL, and is not called for nothing. An encrypted
 * openssh-key-v1 takes 0.1 s and more for each passphrase. */
MUST_CHECK int ssh_keys_add_file(struct ssh_keys *, const char *path, ssh_passphrase_fn *ask,
                                 void *arg);
/* ~/.ssh/id_ed25519, id_ecdsa, id_rsa, as far as they are there and can be used. -ENOMEM. */
MUST_CHECK int ssh_keys_add_usual(struct ssh_keys *, ssh_passphrase_fn *ask, void *arg);
/* Why adding a file failed and what to do, for people. */
const char *ssh_keys_why(int result);
void ssh_keys_done(struct ssh_keys *);
