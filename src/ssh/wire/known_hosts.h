/* Lines of known_hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT), plain and hashed. Pure. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define SSH_KNOWN_HOSTS_MAX (16 * 1024 * 1024) /* bytes of a file */
#define SSH_HOST_MAX        255                /* bytes of a host's name or address */
#define SSH_PORT            22

enum ssh_known {
    SSH_KNOWN_UNKNOWN,    /* no line is about this host */
    SSH_KNOWN_MATCH,      /* this key, and it is not revoked */
    SSH_KNOWN_OTHER,      /* another key of this type: somebody else, or a new key */
    SSH_KNOWN_OTHER_TYPE, /* keys of other types only */
    SSH_KNOWN_REVOKED
};

/* host: a name or address; port 22 is looked up as the name alone, others as "[name]:port".
 * Of all lines the worst counts: revoked, then match, then other. *ret_line: where, from 1.
 * A key is compared, not looked into: one that was cut is another key. Lines that cannot be
 * read are passed over, as @cert-authority ones. -FERRY_ELIMIT: a host longer than
 * SSH_HOST_MAX; -ENOMEM. */
MUST_CHECK int ssh_known_hosts_find(struct bytes file, struct bytes host, uint16_t port,
                                    struct bytes key_blob, enum ssh_known *ret,
                                    unsigned *ret_line);
/* Key types that the file has for this host, for the order of the offer: bits by
 * 1 << enum crypto_key_kind. */
unsigned ssh_known_hosts_types(struct bytes file, struct bytes host, uint16_t port);
/* A line for a new host. -EINVAL: a host whose name would be something else in a line, or no
 * key; -FERRY_ELIMIT, -ENOMEM. */
struct buf;
MUST_CHECK int ssh_known_hosts_line(struct bytes host, uint16_t port, struct bytes key_blob,
                                    struct buf *ret);
/* The same with the host's name hashed by SSH_SALT_BYTES of randomness. */
#define SSH_SALT_BYTES 20
MUST_CHECK int ssh_known_hosts_line_hashed(struct bytes host, uint16_t port,
                                           const uint8_t salt[SSH_SALT_BYTES],
                                           struct bytes key_blob, struct buf *ret);
