/* Folders of the benchmark's own: made, listed, removed whole. Paths are ours and absolute; no
 * peer names one. Blocking: not on a loop. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/buf.h"

/* One level, which must not be there yet (-EEXIST); the umask is not applied. */
MUST_CHECK int folder_make(const char *path, mode_t mode);
/* Also what leads to it; one that is there is fine. */
MUST_CHECK int folder_make_all(const char *path, mode_t mode);
/* With all that is beneath, links themselves and not where they lead; what cannot be removed
 * stays. */
void folder_remove(const char *path);

/* Appends the names in it, each with its NUL, in no order. */
MUST_CHECK int folder_list(const char *path, struct buf *ret);
