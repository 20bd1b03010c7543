/* Virtual paths: absolute, normalised, within a root that only the kernel's resolution
 * enforces.
 *
 * Only vpath_parse() makes one. It joins cwd and the peer's bytes, folds "//", "." and ".."
 * lexically
 * (".." above the root stays at the root), and refuses NUL (-FERRY_EBADNAME), components over
 * NAME_LEN_MAX and paths over PATH_LEN_MAX (-ENAMETOOLONG), and our own temporary names
 * (-ENOENT, as if they were not there). Bytes are not interpreted otherwise: no charset. Pure.
 */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes.h"

struct vpath {
    char *text; /* heap; starts with '/', no '/' at its end unless it is the root;
                   NUL-terminated */
    size_t len;
};

MUST_CHECK int vpath_parse(struct bytes cwd, struct bytes text, struct vpath *ret);
MUST_CHECK int vpath_copy(const struct vpath *, struct vpath *ret);
void vpath_done(struct vpath *); /* {0} is fine */

bool vpath_is_root(const struct vpath *);
struct bytes vpath_bytes(const struct vpath *);
struct bytes vpath_name(const struct vpath *);   /* last component; empty for the root */
struct bytes vpath_parent(const struct vpath *); /* "/" at the top */
const char *
vpath_relative(const struct vpath *); /* for openat2: no leading slash, "." for the root */

#define VFS_TEMP_PREFIX ".ferry-up-"   /* an upload in progress */
#define VFS_PART_PREFIX ".ferry-part-" /* a broken one that can be resumed */
bool vfs_name_is_reserved(struct bytes name);
