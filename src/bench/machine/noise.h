/* Files that a benchmark moves: noise, so that nothing on the way can make it less, and whether
 * it has arrived. Paths are ours and absolute; no peer names one. Blocking: not on a loop. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"

struct noise_owner {
    uid_t uid;
    gid_t gid;
};

/* A file of so many bytes, a block of noise again and again, unless one of that length is
 * there. -ENOMEM, -ENOSPC; -errno. */
MUST_CHECK int noise_file(const char *path, uint64_t len, struct noise_owner);
/* The block of a file that has one or more whole ones. -FERRY_ETRUNCATED: it has not. */
#define NOISE_BLOCK_BYTES (1024 * 1024)
MUST_CHECK int noise_read_block(const char *path, uint8_t *ret);
/* A folder of `count` such files, unless it is there. */
MUST_CHECK int noise_folder(const char *path, unsigned count, uint64_t len, struct noise_owner);

/* 0: the files hold the same; -FERRY_EPROTO: not. */
MUST_CHECK int noise_compare(const char *a, const char *b);
/* The same for each file of the folder `a`, and `b` has no others. */
MUST_CHECK int noise_compare_folders(const char *a, const char *b);
/* One that is not there is fine. */
MUST_CHECK int noise_remove(const char *path);
