/* Single reads and writes at an offset, for protocols whose peer names each (SFTP). The same
 * movers as a whole transfer's, on the loop where the file never waits, else in the pool. */
#pragma once
#include "io/chunk.h"
#include "vfs/vfs.h"
#include "xfer/xfer.h"

/* Into the pieces, which are memory of the chunk, as much as there is: bytes read, 0 at the end
 * of the file. The job, if it is left behind, keeps file and chunk alive, and has a list of
 * pieces of its own. -ECANCELED, -ENOMEM, -ETIMEDOUT (the file did not answer for stall_us),
 * -errno of the file. */
PARKS MUST_CHECK ssize_t xfer_read_at(struct vfile *, uint64_t offset, struct chunk *,
                                      const struct iovec *pieces, unsigned count,
                                      usec_t stall_us);
/* All of the pieces, or a failure. */
PARKS MUST_CHECK int xfer_write_at(struct vfile *, uint64_t offset, struct chunk *,
                                   const struct iovec *pieces, unsigned count, usec_t stall_us);
