/* Attributes from inside. */
#pragma once
#include <sys/stat.h>

#include "base/attr.h"
#include "vfs/vfs.h"

/* For futimens(2). */
void attr_times(const struct vattr *, struct timespec ret[2]);
/* Mode and times of an open file or directory, which is of the mode told. Special bits are
 * never set; on a directory, where an administrator may have set them, they stay. */
MUST_CHECK int attr_apply(int fd, mode_t is, const struct vattr *);
