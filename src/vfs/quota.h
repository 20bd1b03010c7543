/* Quota ledger of one account: bytes and files used, shared by all its sessions on all workers.
 */
#pragma once
#include <stdint.h>

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
