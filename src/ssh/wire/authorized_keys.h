/* Lines of authorized_keys (sshd(8), AUTHORIZED_KEYS FILE FORMAT). Pure: time and address are
 * arguments.
 *
 * Options that are known: from, restrict, expiry-time, command, and those that allow or forbid
 * what ferry never does (no-/port-forwarding, no-/agent-forwarding, no-/X11-forwarding,
 * no-/pty, no-/user-rc), which are taken and change nothing. Any other refuses its key: an
 * option that is not understood may be the one that keeps somebody out.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "ssh/wire/base64.h"

#define SSH_AUTHORIZED_LINE_MAX 8192
#define SSH_AUTHORIZED_FILE_MAX (1024 * 1024)

struct ssh_authorized {
    struct bytes blob_text; /* base64, as it stands there */
    struct bytes type, comment;
    struct bytes from;    /* pattern list, or empty */
    struct bytes command; /* forced command with its escapes, or empty */
    bool has_command;
    int64_t expires_s; /* since 1970; INT64_MAX: never. Without "Z" a time is UTC here */
};

enum ssh_authorized_result {
    SSH_AUTHORIZED_EMPTY, /* blank or comment */
    SSH_AUTHORIZED_KEY,
    SSH_AUTHORIZED_REFUSED /* *ret_why: a static text for the log */
};

enum ssh_authorized_result ssh_authorized_parse(struct bytes line, struct ssh_authorized *ret,
                                                const char **ret_why);

/* Whether a pattern list of from="..." takes an address in text ("192.0.2.1", "2001:db8::1"):
 * wildcards * and ?, CIDR blocks, "!" in front excludes whatever else matches (ssh_config(5),
 * PATTERNS). Host names never match: no name is looked up. */
bool ssh_from_matches(struct bytes list, const char *address);
struct buf;
/* The command with the escapes of its quotes taken off. */
MUST_CHECK int ssh_authorized_command(const struct ssh_authorized *, struct buf *ret);
