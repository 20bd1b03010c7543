#include "session/transfer.h"

struct xfer_request session_transfer_begin(struct session *s, const char *doing,
                                           uint64_t length_bytes,
                                           struct xfer_progress *progress)
{
    s->doing = doing;
    s->progress = progress;
    return (struct xfer_request){
        .length = length_bytes,
        .buckets = {s->account->rate_bucket},
        .stall_us = session_timeouts(s->shared)->stall_us,
        .progress = progress,
    };
}

void session_transfer_end(struct session *s, const struct xfer_progress *progress)
{
    if (s->progress != progress)
        return;
    s->doing = "idle";
    s->progress = NULL;
}
