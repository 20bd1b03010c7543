/* Where files are, as people write it:
 *
 *     PATH, ./a:b, -                     this machine; standard input or output
 *     [USER@]HOST:PATH                   ssh, as scp has it; PATH from the home directory on
 *     sftp://[USER@]HOST[:PORT]/PATH     ssh, by SFTP; scp:// likewise. /~/PATH: from the home
 *     ftp://[USER[:PASSWORD]@]HOST[:PORT]/PATH     PATH from the login directory on; //: from /
 *
 * A host may be an alias of $HOME/.ssh/config, or [IPv6]. URLs are percent-decoded. A word with
 * a '/' before its first ':' is a path. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

enum location_scheme {
    LOCATION_LOCAL,
    LOCATION_STANDARD, /* "-" */
    LOCATION_SSH,      /* HOST:PATH: the method is ours to choose */
    LOCATION_SFTP,
    LOCATION_SCP,
    LOCATION_FTP
};

#define LOCATION_HOST_MAX 255
#define LOCATION_WHY_MAX  256

struct location {
    enum location_scheme scheme;
    char *user;        /* NULL: not given */
    char *password;    /* NULL; of an FTP URL only, and the caller's to wipe from argv */
    char *host;        /* NULL: this machine */
    uint16_t port;     /* 0: the usual one, or ssh's configuration */
    char *path;        /* never NULL; "" of a remote one: where the login leads */
    bool is_directory; /* it ends with '/', and so must be one */
};

/* -EINVAL: ret_why says what is wrong, in words for the user ("rsync:// is not built yet");
 * -ENOMEM. */
MUST_CHECK int location_parse(const char *text, struct location *ret,
                              char ret_why[LOCATION_WHY_MAX]);
void location_done(struct location *); /* wipes the password; {0} is fine */
/* As a user would write it, without a password; for messages. */
void location_text(const struct location *, struct bytes path, size_t cap, char *ret);
