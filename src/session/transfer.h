/* One file's bytes on their way, as a session of several channels shows them. */
#pragma once
#include "session/session.h"

/* What xfer is asked for, with the account's rate and the session's stall time; until the end
 * the session shows `doing` (static text) and the progress to who asks. */
struct xfer_request session_transfer_begin(struct session *, const char *doing,
                                           uint64_t length_bytes, struct xfer_progress *);
/* What another channel has begun since stays shown. */
void session_transfer_end(struct session *, const struct xfer_progress *);
