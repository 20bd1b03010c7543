/* One command of the server's scp, in a channel of its own, for an endpoint: how many run at a
 * time, and what became of each.
 *
 * A failure of the dialogue is told apart from the loss of the connection: that is
 * -FERRY_ECLOSED or -FERRY_ESTALLED; a server without scp is -EOPNOTSUPP, one that says
 * something else than scp does is -FERRY_EREFUSED. */
#pragma once
#include "client/copy/condition.h"
#include "client/place/login.h"
#include "client/remote/scp.h"

#define SCP_AT_ONCE 4

struct scp_channels {
    struct ssh_link *link;
    unsigned open;
    unsigned most;   /* that the server has let us open; at first SCP_AT_ONCE */
    bool has_served; /* one has been open */
    struct copy_condition closed;
};

struct scp_call {
    struct scp_channels *channels;
    struct ssh_channel *channel;
    unsigned complaints;
    char why[SCP_CLIENT_WHY_MAX]; /* the first complaint, or ours */
    /* Each complaint, if it is not NULL; cannot park. */
    void (*heard)(void *arg, const char *text);
    void *arg;
};

void scp_channels_init(struct scp_channels *, struct ssh_link *);
/* Where the server lets us have less channels, waits for one of ours to close. */
PARKS MUST_CHECK int scp_call_open(struct scp_call *, struct scp_channels *,
                                   const struct scp_request *, bool puts);
struct stream *scp_call_stream(const struct scp_call *);
scp_complaint scp_call_complaint; /* arg: the call */
/* What the result of the engine's last function means here: SCP_NOT_ALL becomes what the first
 * complaint says. Closes. */
PARKS int scp_call_end(struct scp_call *, int result);
