/* What the servers of a run share: an empty folder in memory, one on a disk, accounts, and a
 * place for settings and logs. All of it is made for the run and removed after it.
 *
 *     BASE/files            the folder of every account, on tmpfs
 *     BASE/files/disk       the folder on a disk, mounted in the servers' name space only
 *     BASE/PEER-VARIANT/    settings, logs and the etc/ of one server
 *
 * Blocking: not on a loop.
 */
#pragma once
#include <stdbool.h>

#include "base/attr.h"

#define STAGE_PATH_MAX     256
#define STAGE_HASH_MAX     128
#define STAGE_ACCOUNTS     64 /* STAGE_USER, then STAGE_USER "1" to "63", all with one password */
#define STAGE_USER         "bench"
#define STAGE_PASSWORD_MAX 32

struct stage {
    char base[STAGE_PATH_MAX];
    char files[STAGE_PATH_MAX]; /* as seen from outside */
    char disk[STAGE_PATH_MAX];  /* likewise; clients say "disk/NAME" */
    char password[STAGE_PASSWORD_MAX];
    char hashes[STAGE_ACCOUNTS][STAGE_HASH_MAX]; /* of one kind, by libcrypt's default method */
    unsigned uid, gid;                           /* whom the files belong to */
    bool is_memory;                              /* false: there was no tmpfs to be had */
    int lock; /* held while it is used, so that a later run removes what a killed one left */
};

#define STAGE_NAME_MAX 16
/* The n-th account's name, n below STAGE_ACCOUNTS. Returns dst. */
const char *stage_account(unsigned n, char dst[STAGE_NAME_MAX]);

/* "disk" is where the folder on a disk is made (NULL: /var/tmp). -EPERM: not root; or a failure
 * of the system. *ret_of_disk: of that folder. */
MUST_CHECK int stage_open(struct stage *, const char *disk, bool *ret_of_disk);
/* Removes it; also after a failure of stage_open(). */
void stage_close(struct stage *);

/* The stage of another process that has BASE open, for the child that becomes a server. */
MUST_CHECK int stage_read(const char *base, struct stage *ret);

/* A folder of so many empty files beneath `files`, unless it is there. (stage_files.c) */
MUST_CHECK int stage_make_many(const struct stage *, const char *name, unsigned count);
/* Writes a file of `disk` out and has the kernel forget its pages, of this file alone. */
MUST_CHECK int stage_make_cold(const struct stage *, const char *name);
