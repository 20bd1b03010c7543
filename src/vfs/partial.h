/* Names of our own in users' directories: uploads in progress, and broken ones that were kept.
 *
 * A partial upload stands beside the file it would have become, under a digest of that file's
 * name; nothing else is stored. It counts in bytes against the quota, not as a file. All calls
 * may block. Those with a quota run under the lock of its names.
 */
#pragma once
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "vfs/path.h"
#include "vfs/quota.h"

#define TEMP_NAME_SIZE    (sizeof(VFS_TEMP_PREFIX) + 16)
#define PARTIAL_NAME_SIZE (sizeof(VFS_PART_PREFIX) + 16)

MUST_CHECK int temp_name(char ret[TEMP_NAME_SIZE]); /* random */
void partial_name(const char *leaf, char ret[PARTIAL_NAME_SIZE]);

/* All: -ENOENT if there is none. */
MUST_CHECK int partial_stat(int dir, const char *leaf, struct stat *ret);
int partial_remove(int dir, const char *leaf, struct quota *); /* gives bytes back */
/* The temporary file becomes the leaf's partial, in place of an older one. */
MUST_CHECK int partial_keep(int dir, const char *leaf, const char *temp, struct quota *);
/* And back, for going on with it. */
MUST_CHECK int partial_adopt(int dir, const char *leaf, const char *temp);

/* Removes the partials in a directory that holds nothing else, since its user sees it empty;
 * -ENOTEMPTY otherwise. */
MUST_CHECK int partial_clear(int parent, const char *leaf, struct quota *);
