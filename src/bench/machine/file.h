/* Whole files: settings, logs, what another run wrote, /proc. Paths are ours and absolute; no
 * peer names one. Blocking: not on a loop. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/buf.h"

/* Appends to the buffer, whose cap bounds it. 0, -FERRY_ELIMIT: it is longer; -errno. */
MUST_CHECK int file_read(const char *path, struct buf *);
/* A whole new file in place of any other, whatever the umask says. */
MUST_CHECK int file_write(const char *path, mode_t mode, struct bytes);
/* Or a folder. */
bool file_exists(const char *path);
