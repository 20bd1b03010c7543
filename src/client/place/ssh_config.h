/* ssh's configuration of one host (ssh_config(5)), as far as ferry follows it. Of each setting
 * the first value that is found rules, as there.
 *
 * Host patterns with '!', Match all and Match host, and Include are understood. A Match with
 * another criterion applies to nobody here, and a keyword that is not known is passed over; a
 * note says so. Pure: files that are included are the caller's to read.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/bytes.h"

#define SSH_CONFIG_FILE_MAX  (256 * 1024)
#define SSH_CONFIG_DEPTH_MAX 16 /* files that include each other */
#define SSH_CONFIG_LINE_MAX  8192
#define SSH_CONFIG_FILES_MAX 8 /* of IdentityFile; of UserKnownHostsFile 4 */
#define SSH_CONFIG_NOTES_MAX 4096
#define SSH_CONFIG_WHY_MAX   256

enum ssh_config_strict {
    SSH_STRICT_UNSET, /* as ASK */
    SSH_STRICT_YES,
    SSH_STRICT_ASK,
    SSH_STRICT_ACCEPT_NEW /* "no" too: a changed key is never taken */
};

enum ssh_config_flag { SSH_FLAG_UNSET, SSH_FLAG_YES, SSH_FLAG_NO };

/* What the patterns are held against, and % and ~ stand for. Borrowed. */
struct ssh_config_who {
    const char *alias; /* the host as the user wrote it */
    const char *local_user, *home;
    const char *remote_user; /* of the URL; or NULL */
};

struct ssh_config {
    const struct ssh_config_who *who;
    char *host_name, *user, *ciphers; /* NULL: not set */
    uint16_t port;                    /* 0: not set */
    uint32_t connect_s;               /* ConnectTimeout; 0: not set */
    enum ssh_config_flag compression, identities_only, hash_known_hosts;
    enum ssh_config_strict strict;
    char *identities[SSH_CONFIG_FILES_MAX]; /* as written: see ssh_config_expand() */
    unsigned identity_count;
    char *known_hosts[4];
    unsigned known_hosts_count; /* "none" is a file of that name that is not there */
    bool has_proxy;             /* a ProxyJump or ProxyCommand, not "none" */
    bool has_seen_proxy;
    struct buf notes; /* lines of what was passed over */
};

void ssh_config_init(struct ssh_config *, const struct ssh_config_who *);
void ssh_config_done(struct ssh_config *);

/* Reads files of the pattern into the same configuration, at that depth. */
typedef int ssh_config_include(void *arg, struct ssh_config *, const char *pattern,
                               unsigned depth);

/* -EINVAL: ret_why says what is wrong in which line; -FERRY_ELIMIT, -ENOMEM, or what include()
 * said. name: of the file, for words. */
MUST_CHECK int ssh_config_read(struct ssh_config *, struct bytes text, const char *name,
                               unsigned depth, ssh_config_include *, void *arg,
                               char ret_why[SSH_CONFIG_WHY_MAX]);

/* "~" at the beginning, %d (home), %h (host's name), %n (alias), %u (local user), %r (remote
 * user), %p (port), %%. -EINVAL: another %. */
MUST_CHECK int ssh_config_expand(const struct ssh_config *, const char *text, char **ret);
