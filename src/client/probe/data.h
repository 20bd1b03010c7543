/* A sample of what is to be copied: pieces of a file, or of the files of a directory, from all
 * over it and not from its beginning alone; or text made up like a log, for who has not said
 * what. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "task/pool.h"

#define PROBE_PIECE_BYTES  (128 * 1024)
#define PROBE_PIECES       32
#define PROBE_SAMPLE_BYTES (PROBE_PIECES * PROBE_PIECE_BYTES)
#define PROBE_FILES_MAX    200000 /* of a directory; the rest is not counted */

struct probe_sample {
    struct buf bytes;
    uint64_t files, total_bytes; /* of what it is taken from; files 0: made up */
    bool is_tree;
    bool is_cut;           /* there are more files than were counted */
    uint64_t unread_files; /* that could not be read */
};

void probe_sample_init(struct probe_sample *);
void probe_sample_done(struct probe_sample *);
/* path: of this machine. -ENOENT, -EACCES, ...; -ENODATA: there is not a byte in it. */
PARKS MUST_CHECK int probe_sample_take(struct probe_sample *, const char *path, struct pool *);
/* Lines of a log, the same ones each time. Pure but for memory. */
MUST_CHECK int probe_sample_invent(struct probe_sample *);
