/* The small files in which people keep what a login needs. */
#pragma once
#include <sys/stat.h>

#include "base/attr.h"
#include "base/buf.h"

/* All of it, at most ret's cap. Unless forbidden is 0, the file must be ours or root's, and of
 * its mode no bit of these may be set: -EPERM. -FERRY_ELIMIT, -FERRY_ENOTREG, -errno. */
MUST_CHECK int place_file_read(const char *path, mode_t forbidden, struct buf *ret);
/* Adds text at the end, in a line of its own; makes file (0600) and folder (0700) if they are
 * not there. */
MUST_CHECK int place_file_append(const char *path, struct bytes text);
/* HOME with a name in it, "/.ssh/config"; NULL: there is none, or no memory. */
char *place_at_home(const char *name) MUST_CHECK;
