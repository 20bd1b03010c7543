#include "tar/session.h"

#include "session/transfer.h"

static struct xfer_request begin(void *arg, uint64_t length_bytes,
                                 struct xfer_progress *progress)
{
    return session_transfer_begin(arg, "tar", length_bytes, progress);
}

static void end(void *arg, const struct xfer_progress *progress)
{
    session_transfer_end(arg, progress);
}

static void moved(void *arg, const char *operation, struct bytes path,
                  const struct xfer_result *result, int error)
{
    session_audit(arg, &(struct audit){
                           .operation = operation,
                           .path = path,
                           .bytes = result->file_bytes,
                           .wire_bytes = result->wire_bytes,
                           .seconds_us = result->seconds_us,
                           .result = error,
                       });
}

void tar_request_of_session(struct tar_request *request, struct session *session)
{
    static const struct tar_watch watch = {.begin = begin, .end = end, .moved = moved};
    request->owner = session;
    request->vfs = session->vfs;
    request->watch = &watch;
    request->watch_arg = session;
}
