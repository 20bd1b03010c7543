/* What a pattern stands for, as a shell would say: names in the tree, found by listing. */
#pragma once
#include "base/buf.h"
#include "vfs/vfs.h"

/* Appends the names, sorted by their bytes, each with a NUL behind it; none is none. pattern: a
 * path, relative to cwd, as of glob_match() in each component; a leading dot is matched by
 * a dot alone. -FERRY_ELIMIT: too many, or too much work; -ECANCELED, -ENOMEM, -EBUSY. */
PARKS MUST_CHECK int expand_pattern(struct vfs *, struct bytes cwd, struct bytes pattern,
                                    struct buf *ret);
