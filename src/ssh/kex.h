/* The messages of a key exchange, from the first KEXINIT to both NEWKEYS (RFC 4253 7). For
 * ssh/transport*.c. What an exchange holds is in ssh/kex_job.h. */
#pragma once
#include "ssh/transport.h"

/* Sends our KEXINIT and closes the gate. peer: the peer's message if it came first, else NULL.
 */
MUST_CHECK int ssh_kex_begin(struct ssh_transport *, const struct ssh_kexinit *peer);
/* The peer's KEXINIT, KEXDH_INIT or KEXDH_REPLY, NEWKEYS; the state table has let them pass. */
PARKS MUST_CHECK int ssh_kex_on_kexinit(struct ssh_transport *, struct bytes payload);
PARKS MUST_CHECK int ssh_kex_on_dh_init(struct ssh_transport *, struct bytes payload);
PARKS MUST_CHECK int ssh_kex_on_dh_reply(struct ssh_transport *, struct bytes payload);
MUST_CHECK int ssh_kex_on_newkeys(struct ssh_transport *, struct bytes payload);
