/* What one file holds, between this machine and the engine of SFTP or of scp: a file or a
 * function of the request at one side, pieces of chunks at the other, paced and counted. */
#pragma once
#include "client/remote/endpoint.h"
#include "client/remote/meter.h"
#include "sftp/client.h"

struct contents_get {
    const struct endpoint_get *get;
    struct sftp_local local;
    struct meter meter;
};

void contents_get_init(struct contents_get *, const struct endpoint_get *);
/* As sftp_sink; *ret_len: of the pieces. */
PARKS MUST_CHECK int contents_take(struct contents_get *, uint64_t offset, struct chunk *,
                                   const struct iovec *pieces, unsigned count,
                                   uint64_t *ret_len);

struct contents_put {
    const struct endpoint_put *put;
    struct sftp_local local;
    struct meter meter;
    struct iovec cut[ROOM_PIECES_MAX];
};

void contents_put_init(struct contents_put *, const struct endpoint_put *);
/* An sftp_source, and an scp_client_fill: of a contents_put. As much as the pace allows. */
PARKS MUST_CHECK ssize_t contents_fill(void *arg, uint64_t offset, struct chunk *,
                                       const struct iovec *pieces, unsigned count);
