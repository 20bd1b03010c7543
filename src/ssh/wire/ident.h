/* The first line of each side (RFC 4253 4.2): "SSH-2.0-softwareversion comments" CR LF. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define SSH_IDENT_MAX        255  /* bytes with CR LF */
#define SSH_IDENT_BEFORE_MAX 8192 /* of lines that a server may send before it */

struct ssh_ident {
    char text[SSH_IDENT_MAX + 1]; /* without CR LF: what the exchange hash takes; terminated */
    size_t len;
};

enum ssh_ident_found { SSH_IDENT_MORE, SSH_IDENT_FOUND, SSH_IDENT_OTHER };

/* The first line of data. SSH_IDENT_MORE: no whole line yet. SSH_IDENT_FOUND: *ret is filled
 * in. SSH_IDENT_OTHER: a line that is none, which only servers may send. *ret_used: its bytes,
 * with the line end, in the latter two. A bare LF ends a line too; a NUL or a byte outside
 * printable ASCII is in no ident. -FERRY_EPROTO: longer than SSH_IDENT_MAX, a forbidden byte in
 * an ident, or a version that is neither "2.0" nor "1.99". */
MUST_CHECK int ssh_ident_parse(struct bytes data, size_t *ret_used, struct ssh_ident *ret);

/* What a peer's software is known to do in its own way. */
enum ssh_quirk {
    SSH_QUIRK_GCM_LAST = 1 /* OpenSSH: takes AES-GCM as gladly as what it puts before it */
};

unsigned ssh_ident_quirks(const struct ssh_ident *);
