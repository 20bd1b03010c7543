/* A client of ssh-agent (draft-miller-ssh-agent): keys that sign and never leave it. One
 * request at a time. */
#pragma once
#include "ssh/client.h"

#define SSH_AGENT_KEYS_MAX    64
#define SSH_AGENT_MESSAGE_MAX (256 * 1024)

struct ssh_agent;

/* Connects to the socket of that path (SSH_AUTH_SOCK) and asks for its keys; of kinds that are
 * not known here, and beyond SSH_AGENT_KEYS_MAX, none are told. stall_us: of an answer, which
 * may wait for a person. -errno: it is not there; -FERRY_EPROTO: it is none. */
PARKS MUST_CHECK int ssh_agent_connect(const char *path, usec_t stall_us,
                                       struct ssh_agent **ret);
/* The same over a stream that is connected, which it takes, also on failure. */
PARKS MUST_CHECK int ssh_agent_start(struct stream *, struct ssh_agent **ret);
/* One for each key, in the agent's order; valid as long as the agent. */
const struct ssh_signer *ssh_agent_signers(const struct ssh_agent *, unsigned *ret_count);
struct ssh_agent *ssh_agent_free(struct ssh_agent *); /* NULL is fine */
