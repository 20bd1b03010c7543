/* Arguments of SITE's commands. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

/* "644 path", "0644 path": three or four octal digits, one space, a path that is not empty.
 * -EINVAL: 501. The mode may hold setuid, setgid and sticky: vfs/ does not set them. */
MUST_CHECK int ftp_chmod_parse(struct bytes argument, uint32_t *ret_mode,
                               struct bytes *ret_path);
