/* Quota ledger of one account: bytes and files used, shared by all its sessions on all workers.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"

struct quota;

/* 0: unlimited. Starts empty: who counts what a tree already holds takes it. */
MUST_CHECK int quota_new(uint64_t max_bytes, uint64_t max_files, struct quota **ret);
struct quota *quota_ref(struct quota *);
void quota_unref(struct quota *); /* NULL is fine */

/* All thread-safe. NULL: unlimited. -FERRY_EQUOTA leaves the ledger as it was. */
MUST_CHECK int quota_take(struct quota *, uint64_t bytes, uint64_t files);
void quota_give(struct quota *, uint64_t bytes, uint64_t files);
void quota_used(struct quota *, uint64_t *ret_bytes, uint64_t *ret_files);
uint64_t quota_left_bytes(struct quota *); /* UINT64_MAX: unlimited */

struct quota_room {
    uint64_t max_bytes, max_files; /* UINT64_MAX: unlimited */
    uint64_t bytes_left, files_left;
};

void quota_room(struct quota *, struct quota_room *ret);

/* -- what files cost, whoever changes them at the same time -- */

/* Held from a look at what a name costs until the name has changed and the ledger knows, or two
 * who remove one file would both give its bytes back. Who has it may wait for the disk, so it
 * is taken on pool threads only, and never parks; a loop may try to. */
void quota_names_lock(struct quota *);
MUST_CHECK bool quota_names_trylock(struct quota *);
void quota_names_unlock(struct quota *);

/* A file that is written in place, by one or more uploads. Its bytes are in the ledger once,
 * and what is too much goes back when the last of them ends. NULL where there is no quota. */
struct quota_file;

/* Under the names' lock, as the look that found st. -ENOMEM. */
MUST_CHECK int quota_file_open(struct quota *, const struct stat *, struct quota_file **ret);
/* The file may grow to that end. NULL is fine. -FERRY_EQUOTA: and not further than before. */
MUST_CHECK int quota_file_grow(struct quota *, struct quota_file *, uint64_t end_offset);
/* The same for bytes that go to the end, wherever that is by then. */
MUST_CHECK int quota_file_append(struct quota *, struct quota_file *, uint64_t len);
/* Under the names' lock, as the cut to nothing that it tells of. */
void quota_file_cut(struct quota *, struct quota_file *);
/* Under the names' lock. size: what the file has, and so what it costs; UINT64_MAX: nobody
 * knows. */
void quota_file_close(struct quota *, struct quota_file *, uint64_t size);

/* Under the names' lock: a name of this file went, and with the last name its bytes. */
void quota_give_file(struct quota *, const struct stat *);
