/* Whole files into memory: what another run wrote, and /proc. Blocking. */
#pragma once
#include "base/buf.h"

/* Appends to the buffer, whose cap bounds it. 0, -FERRY_ELIMIT: it is longer; -errno. */
MUST_CHECK int file_read(const char *path, struct buf *);
