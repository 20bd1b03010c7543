/* Memory as ftpbench sees it: resident pages less shared ones (proc(5), statm), of a process
 * and its direct children, and not of theirs. Samples are a pile: each line that is printed
 * takes the last one off, so that a line without a sample of its own shows an older one.
 */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "task/pool.h"

#define COMPAT_SAMPLES_MAX 4 /* the first one, and that of a line which was not printed */

struct compat_samples {
    uint64_t bytes[COMPAT_SAMPLES_MAX];
    unsigned count;
};

void compat_samples_push(struct compat_samples *, uint64_t bytes);
/* false: there is none left. */
bool compat_samples_pop(struct compat_samples *, uint64_t *ret);

struct compat_memory {
    uint64_t resident_bytes; /* of the process alone, shared pages included */
    uint64_t own_bytes;      /* resident less shared, with the children's */
};

/* Of `pid` beneath the folder `proc` ("/proc"). Reads files: not on the loop. -ENOENT: there is
 * no such process; -ENOMEM, -FERRY_EPROTO (a file that reads as no such file should). Children
 * that end meanwhile are left out. */
MUST_CHECK int compat_memory_read(const char *proc, unsigned pid, struct compat_memory *ret);

/* The same of "/proc", on a thread of the pool. Or what aside_run() returns. */
PARKS MUST_CHECK int compat_memory_run(struct pool *, unsigned pid, struct compat_memory *ret);
