/* Which message may come when: one table of role x phase x message (RFC 4253 7.1, 10; RFC 4252
 * 5, 6; RFC 4254; strict key exchange of draft-miller-sshm-strict-kex), consulted before any
 * handler. Pure.
 */
#pragma once
#include <stdbool.h>

#include "ssh/wire/message.h"

/* Of the side that looks; messages are the peer's. */
enum ssh_phase {
    SSH_PHASE_KEXINIT, /* the first: nothing but KEXINIT if the exchange is strict */
    SSH_PHASE_KEX,     /* the first: INIT of the client, REPLY of the server */
    SSH_PHASE_NEWKEYS, /* the first */
    SSH_PHASE_SERVICE, /* "ssh-userauth" is to be asked for */
    SSH_PHASE_AUTH,
    SSH_PHASE_RUNNING,     /* channels; also when our KEXINIT is out and the peer's is not in */
    SSH_PHASE_RUNNING_KEX, /* the peer's KEXINIT came */
    SSH_PHASE_RUNNING_NEWKEYS, /* and its INIT or REPLY */
    SSH_PHASE_ENDED,           /* after DISCONNECT */
    SSH_PHASE_COUNT
};

enum ssh_verdict {
    SSH_ACCEPT,
    SSH_IGNORE,        /* IGNORE, DEBUG: without effect */
    SSH_UNIMPLEMENTED, /* answered with UNIMPLEMENTED (RFC 4253 11.4) */
    SSH_REFUSE         /* the connection ends */
};

/* strict: both sides offered it; it only matters in the first three phases, and makes whatever
 * is not expected there end the connection. */
enum ssh_verdict ssh_state_verdict(enum ssh_role own, enum ssh_phase, bool strict,
                                   uint8_t message);
/* "authentication"; for logs. */
const char *ssh_phase_name(enum ssh_phase);
