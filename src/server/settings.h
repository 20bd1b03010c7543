/* What an operator can set: defaults, the checks that need no file, and what follows from them.
 *
 * The command line (options.h) and the configuration file (config.h) both write into one
 * struct settings, the command line last; settings_finish() then completes it. After that it is
 * constant, but for the ports that binding resolves. Whoever refuses a value says why in a
 * struct refusal, in words for the operator, and returns -EINVAL.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/secret.h"
#include "io/addr.h"
#include "session/session.h"
#include "vfs/vfs.h"

#define SETTINGS_LISTENERS_MAX  32
#define SETTINGS_ACCOUNTS_MAX   1000
#define SETTINGS_PASSWORD_CHARS 20 /* base32: 100 bits */
/* DIR mode: how many may be connected and not yet logged in. */
#define SETTINGS_DIR_UNAUTHENTICATED 1000
#define SETTINGS_SSH_REKEY_US        (3600 * USEC_PER_S) /* RFC 4253 9 */
#define SETTINGS_DIR_LISTENER        "ftp://127.0.0.1:2121"
#define SETTINGS_DIR_LISTENER_SSH    "ssh://127.0.0.1:2222"

struct refusal {
    char text[512];
};

/* Returns -EINVAL, so that a check reads `return refuse(...)`. */
int refuse(struct refusal *, const char *format, ...) PRINTF_LIKE(2, 3);

struct listener_setting {
    const char *scheme;                   /* static text */
    struct addr addr;                     /* port 0 until it is bound: any free one */
    uint16_t passive_first, passive_last; /* 0, 0: the kernel chooses */
    struct addr masquerade;               /* shown in PASV replies; len 0: none */
};

/* Of all ssh listeners together. */
struct ssh_setting {
    bool nistp256;        /* also ecdh-sha2-nistp256, and a host key of ECDSA */
    bool legacy;          /* see struct ssh_offer_settings */
    int compression;      /* see struct ssh_transport_settings */
    uint64_t rekey_bytes; /* in one direction; 0: as far as the cipher goes */
    usec_t rekey_us;      /* 0: however long */
};

#define SETTING_UNSET UINT64_MAX /* of a number: the default holds */

struct account_setting {
    char *name;
    struct secret password; /* in clear, until it is hashed at start; len 0: see hash */
    char *hash;             /* crypt(3) */
    char *authorized_keys;  /* path, or NULL */
    char *root;             /* NULL: the default; %u is the name */
    unsigned root_index;    /* set by roots_open() */
    unsigned rights;        /* 0: the default */
    uint64_t quota_bytes, quota_files, rate_bytes_per_s;
    bool anonymous; /* any password will do */
    bool generated; /* the password was made here and is shown in the banner */
};

struct settings {
    char *dir; /* DIR: the root of every account that names no other; NULL: there is none */
    char *state_dir;
    char *user; /* what the process becomes; NULL: see server/privileges.h */

    struct listener_setting listeners[SETTINGS_LISTENERS_MAX];
    unsigned listener_count;
    struct ssh_setting ssh;

    struct account_setting *accounts; /* SETTINGS_ACCOUNTS_MAX places */
    unsigned account_count;
    char *authorized_keys; /* path: keys of every account but anonymous; NULL: none */
    bool anonymous;        /* also the account "anonymous", read only */
    bool read_only;        /* takes every right to change something from every account */

    char *default_root;
    unsigned default_rights;
    uint64_t default_quota_bytes, default_quota_files, default_rate_bytes_per_s; /* 0: none */

    struct vfs_policy vfs;
    enum vroot_links links; /* of every root: what a link that leads out is */
    struct session_limits limits;
    unsigned ban_failures; /* of a host within a minute; 0: nobody is banned */
    struct session_timeouts timeouts;
    usec_t remember_us; /* a right password; 0: each login is hashed */
    enum log_format log_format;
    char *transfers;  /* file of audit records; NULL: they go to the log */
    unsigned workers; /* 0: one per core, at most WORKERS_MAX */
};

MUST_CHECK int settings_init(struct settings *);
void settings_done(struct settings *); /* wipes passwords; {0} is fine */

/* DIR: the root, and the limits of a server that one person runs for himself. Before a
 * configuration file is read, which may set others. */
MUST_CHECK int settings_serve_dir(struct settings *, const char *dir, struct refusal *);

/* "ftp://ADDRESS:PORT"; a scheme that is not built yet is refused by its name. */
MUST_CHECK int settings_add_listener(struct settings *, const char *url, struct refusal *);
/* For a section of the file: the scheme, as above, and ADDRESS:PORT. *ret stays valid. */
MUST_CHECK int settings_add_address(struct settings *, struct bytes scheme, const char *address,
                                    struct refusal *, struct listener_setting **ret);
bool settings_is_scheme_built(struct bytes scheme);
bool settings_listener_is_ssh(const struct listener_setting *);

/* A new account with nothing set but its name. Refused: a name twice, one with a slash, a colon
 * or a control character, one that starts with a dot, too many. */
MUST_CHECK int settings_add_account(struct settings *, struct bytes name, struct refusal *,
                                    struct account_setting **ret);
MUST_CHECK int settings_set_password(struct account_setting *, struct bytes, struct refusal *);
MUST_CHECK int settings_generate_password(struct account_setting *, struct refusal *);
/* The first line of a file. */
MUST_CHECK int settings_read_password(struct account_setting *, const char *path,
                                      struct refusal *);

/* After the last value: what must be there is, every account has its root, rights and numbers.
 * default_state_dir is taken if none is set. */
MUST_CHECK int settings_finish(struct settings *, const char *default_state_dir,
                               struct refusal *);

void settings_forget_passwords(struct settings *); /* wipes those in clear */

/* Replaces *place by a copy of text. -ENOMEM. */
MUST_CHECK int settings_set_text(char **place, const char *text);
