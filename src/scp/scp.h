/* scp's server side: what `scp -t` (receive) and `scp -f` (send) do on a remote host, over any
 * stream. The client is OpenSSH's `scp -O`, PuTTY's pscp, WinSCP and many devices; the lines
 * are scp/wire/line.h.
 *
 * A file that cannot be had or stored is a complaint to the peer, and the dialogue goes on with
 * the next, as with OpenSSH's; the result is then 1. An upload lies under a temporary name
 * until the peer has said that it was whole (DESIGN 2): one that breaks leaves what stood
 * there. Directories are sent without following links in them; each file leaves an audit
 * record.
 */
#pragma once
#include "session/session.h"

struct scp_options {
    bool is_recursive;    /* -r */
    bool keeps_times;     /* -p: times and modes */
    bool needs_directory; /* -d: what is received must go into a directory */
};

/* Both return the exit status, 0 or 1, or how the stream failed. */

PARKS MUST_CHECK int scp_receive(struct session *, struct stream *, const struct scp_options *,
                                 const char *target);
/* names: paths, each with a NUL behind it. */
PARKS MUST_CHECK int scp_send(struct session *, struct stream *, const struct scp_options *,
                              struct bytes names);
