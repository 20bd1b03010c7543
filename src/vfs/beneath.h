/* Names handed to the kernel: the one file of the tree that does it.
 *
 * A path is resolved by openat2(2) beneath a tree's descriptor, with magic links off (BENEATH:
 * a way out is -EXDEV; IN_ROOT: it is re-rooted). What has no such call opens the parent that
 * way and acts on a leaf, which is one component and is never followed. Plain ...at() calls do
 * not confine a path of several components, so there are none.
 *
 * Everything here may block and is called from pool jobs, except beneath_open_cached...() and
 * beneath_open_seen(), and in a memory file system what does not leave its mount. Descriptors
 * are close-on-exec and the caller's. Paths are relative, "." for the tree itself.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/attr.h"

struct beneath {
    int fd;
    uint64_t resolve; /* RESOLVE_... for every path */
};

/* The tree itself, by a path of the host; fd is O_PATH. */
MUST_CHECK int beneath_tree(const char *host_path, bool in_root, struct beneath *ret);

/* The same tree, but -EXDEV for a path that enters another mount. */
struct beneath beneath_same_mount(const struct beneath *);

/* -- whole paths -- */

/* Of any kind of file, without opening it. */
MUST_CHECK int beneath_stat(const struct beneath *, const char *path, bool follow,
                            struct stat *ret);

struct statfs;
/* Of the file system that holds it. */
MUST_CHECK int beneath_statfs(const struct beneath *, const char *path, struct statfs *ret);

enum beneath_kinds { BENEATH_FILE, BENEATH_DIRECTORY, BENEATH_FILE_OR_DIRECTORY };

/* access: O_RDONLY, O_WRONLY or O_RDWR, with O_APPEND; O_NOFOLLOW: -ELOOP if a link stands at
 * the end. Returns the descriptor. Other kinds are refused without being opened: -EISDIR,
 * -ENOTDIR, -FERRY_ENOTREG. */
MUST_CHECK int beneath_open(const struct beneath *, const char *path, enum beneath_kinds,
                            int access, struct stat *ret);

/* A regular file for reading, only if the kernel knows every step of the path and no mount is
 * crossed; any failure but -FERRY_ENOTREG and -EISDIR may be different when asked in earnest.
 */
MUST_CHECK int beneath_open_cached(const struct beneath *, const char *path, struct stat *ret);

/* The same in a mount below of this device, of which it is known that nothing waits there. */
MUST_CHECK int beneath_open_cached_on(const struct beneath *, const char *path, dev_t device,
                                      struct stat *ret);

/* A regular file of this device for reading, in one step: for who has seen a moment ago that it
 * is one. Only if the kernel knows every step of the path and none is a link, so that whoever
 * may write in there can have moved nothing but files of their own into its place. Any failure
 * may be different when asked in earnest. */
MUST_CHECK int beneath_open_seen(const struct beneath *, const char *path, dev_t device,
                                 struct stat *ret);

/* The directory that holds the last component, as O_PATH, and that component, which points into
 * path. path is written to and restored. The tree itself has no parent: -EPERM. */
MUST_CHECK int beneath_parent(const struct beneath *, char *path, int *ret_dir,
                              const char **ret_leaf);

/* -- one component of an open directory -- */

MUST_CHECK int leaf_stat(int dir, const char *leaf, struct stat *ret); /* not followed */
/* The same, but -EXDEV for a mount and -ELOOP for a link. */
MUST_CHECK int leaf_stat_same_mount(int dir, const char *leaf, struct stat *ret);
MUST_CHECK ssize_t leaf_readlink(int dir, const char *leaf, char *target, size_t len);
/* Returns the descriptor; access as above. -EEXIST */
MUST_CHECK int leaf_create(int dir, const char *leaf, int access, mode_t);
MUST_CHECK int leaf_open(int dir, const char *leaf, int access, struct stat *ret); /* regular */
MUST_CHECK int leaf_open_directory(int dir, const char *leaf);                     /* "." too */
MUST_CHECK int leaf_mkdir(int dir, const char *leaf, mode_t);
/* Of the leaf itself, a link too. */
MUST_CHECK int leaf_set_times(int dir, const char *leaf, const struct timespec times[2]);
int leaf_unlink(int dir, const char *leaf); /* clean-up may ignore it */
MUST_CHECK int leaf_rmdir(int dir, const char *leaf);

/* The target is stored as it is. -EEXIST */
MUST_CHECK int leaf_symlink(const char *target, int dir, const char *leaf);
/* Another name of the leaf, of a link's too. -EEXIST */
MUST_CHECK int leaf_link(int from_dir, const char *from, int to_dir, const char *to);

/* replace false: -EEXIST if there is something, atomically where the file system can. */
MUST_CHECK int leaf_rename(int from_dir, const char *from, int to_dir, const char *to,
                           bool replace);
