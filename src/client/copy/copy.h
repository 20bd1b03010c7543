/* A copy of several sources into one target.
 *
 * One task walks the sources and makes directories; files go through a short queue to as many
 * tasks as both ends take at once. So what is in memory is bounded, however large the tree. A
 * directory gets its mode and times when the last file in it is through. One failed file does
 * not end the rest; a connection that is given up does, and -ECANCELED.
 */
#pragma once
#include "client/copy/file.h"
#include "client/copy/plan.h"
#include "client/copy/tar_peer.h"
#include "client/copy/tree.h"

#define COPY_AT_ONCE_MAX 32
#define COPY_QUEUE_MAX   64

struct copy_source {
    struct copy_end *end;  /* NULL: standard input */
    struct stream *stream; /* then */
    const char *path;
    const char *shown; /* for messages: as the user gave it */
};

struct copy_target {
    struct copy_end *end; /* NULL: standard output */
    struct stream *stream;
    const char *path; /* of the directory, or of the file */
    bool is_directory;
};

enum copy_event_kind {
    COPY_EVENT_FILE,     /* one is through, well or not */
    COPY_EVENT_DIRECTORY /* one could not be made, read, or set */
};

struct copy_event {
    enum copy_event_kind kind;
    const struct copy_source *source;
    struct bytes path, target; /* of the ends; target: empty if it was not come so far */
    int result;
    enum copy_side side;
    const char *why;
    const struct copy_file *file; /* FILE; NULL: it was never begun */
    bool is_mended; /* a stream that failed: what is missing is sent file by file */
    usec_t took_us;
};

struct copy_settings {
    struct copy_file_settings files;
    bool is_recursive;
    enum copy_method method; /* as it was asked for */
    struct copy_ends ends;   /* of what kinds source and target are */
    struct copy_packing packing;
    /* Cannot park. */
    void (*tell)(void *arg, const struct copy_event *);
    void *arg;
};

/* What has been done so far; for who shows it. */
struct copy_totals {
    uint64_t files, directories, failed, bytes; /* bytes: moved by files that are through */
    uint64_t found_files, found_bytes;
    bool has_found_all;
    /* Of streams of tar that broke off: files that were sent, and whether they are there is not
     * known; and of what was written then, parts may be there under final names. */
    uint64_t unconfirmed;
    bool may_be_parts;
};

struct copy;

/* Borrows all. */
MUST_CHECK int copy_new(const struct copy_settings *, const struct copy_source *,
                        unsigned count, const struct copy_target *, struct copy **ret);
/* 0: all is there; -FERRY_EREFUSED: something failed and was told; -ECANCELED, -ENOMEM, or how
 * an end was given up. */
PARKS MUST_CHECK int copy_run(struct copy *);
struct copy *copy_free(struct copy *); /* NULL is fine */

const struct copy_totals *copy_totals(const struct copy *);
/* How the last directory went, or NULL: none did. */
const struct copy_plan *copy_plan_of(const struct copy *);
/* How the last stream of tar was compressed, in words, or NULL: there was none, or it was not.
 */
const char *copy_packing_of(const struct copy *);
/* Those that are under way, oldest first; at most max. Returns how many there are. */
unsigned copy_running(const struct copy *, const struct copy_file **ret, unsigned max);
