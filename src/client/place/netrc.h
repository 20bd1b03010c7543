/* .netrc: names and passwords for FTP, as ftp(1) and curl read them. Pure. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define NETRC_FILE_MAX (256 * 1024)

struct netrc_entry {
    struct bytes login, password, account; /* into the file; empty: not given */
    bool is_default;                       /* of `default`, not of the machine */
    bool has_login, has_password;
};

/* The first entry of the machine, and of that login if one is given; else the default one's.
 * -ENOENT: there is none; -EINVAL: the file is none, *ret_line says where (from 1). */
MUST_CHECK int netrc_find(struct bytes file, struct bytes machine, struct bytes login,
                          struct netrc_entry *ret, unsigned *ret_line);
