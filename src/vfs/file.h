/* An open file from inside: made empty before the open, so that nothing can fail after it. */
#pragma once
#include "vfs/job.h"

/* NULL: no memory. One reference. */
struct vfile *vfile_new(struct vroot *, struct pool *, const struct pool_shares *);
void vfile_opened(struct vfile *, int fd, const struct stat *, bool for_reading); /* takes fd */
/* As vfile_unref(), by who knows that a close takes no time here. */
void vfile_unref_here(struct vfile *);
