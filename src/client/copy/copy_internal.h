/* A copy from inside: its engine is copy.c; what goes as one stream of tar is in stream.c. */
#pragma once
#include "client/copy/copy.h"
#include "client/copy/tar_sent.h"

/* A directory of the target, as long as something goes into it. */
struct directory {
    struct directory *parent;
    const struct copy_source *source;
    unsigned refs;
    bool is_new, is_set_later;
    struct endpoint_facts facts; /* of its source */
    char *path;
};

struct item {
    struct list node;
    struct copy_file file; /* the task's that runs it */
    const struct copy_source *source;
    struct directory *directory; /* NULL: one that was there */
};

struct copy {
    struct copy_settings settings;
    const struct copy_source *sources;
    unsigned source_count;
    const struct copy_target *target;
    struct copy_totals totals;
    struct scope workers;
    struct list waiting, running;
    unsigned waiting_count, worker_count, idle_count;
    bool has_all, has_plan;
    struct copy_plan plan; /* of the last directory */
    int fatal;
    struct copy_condition changed;

    /* directories that went as streams */
    struct copy_stream *streams;
    struct copy_stream_get *gets; /* and that came as such */
    char packing[64];             /* of the last, in words; "" */
    struct copy_sent *sent; /* of files that are found now: what a stream brought; or NULL */
    bool has_remains;       /* and what stands under their names is no whole file */
};

/* -- what is told -- */

void copy_tell(struct copy *, const struct copy_event *);
/* Of no file: a directory, or what was left out. Says nothing of -ECANCELED. */
void copy_tell_failure(struct copy *, const struct copy_source *, struct bytes path,
                       enum copy_side, int result, const char *why);
/* What cannot get better by the next file. */
bool copy_is_fatal(const struct copy *, const struct copy_source *, int result);

/* -- what is done -- */

/* The directory of that path at the target, made if it is not there; counted. Failures are
 * told, unless they are fatal. */
PARKS int copy_open_directory(struct copy *, const struct copy_source *,
                              struct directory *parent, const struct copy_tree_step *,
                              const char *path, struct directory **ret);
/* Where the last one leaves, the directory gets what it is to have. NULL is fine. */
PARKS void copy_close_directory(struct copy *, struct directory *);
/* Takes the target's path. */
PARKS int copy_add_file(struct copy *, const struct copy_source *, struct bytes path,
                        const struct endpoint_facts *, struct directory *, char *target_path);
/* A directory file by file. */
PARKS int copy_walk_source(struct copy *, const struct copy_source *,
                           const struct endpoint_facts *, char *place);

/* -- stream.c -- */

/* A directory as one stream. -EOPNOTSUPP: it is to go file by file. */
PARKS int copy_stream_source(struct copy *, const struct copy_source *,
                             const struct endpoint_facts *, char *place);
/* What a stream of either way begins with: its directory at the target, until all that is to be
 * in it is there, and an item that stands for all of it where it is shown what runs;
 * item->source is set. */
PARKS int copy_stream_begin(struct copy *, struct item *, struct copy_sent *,
                            const struct endpoint_facts *, const char *place,
                            struct directory **ret_top);
/* When all is through: what streams failed with, and nobody mended. */
PARKS void copy_settle_streams(struct copy *);
void copy_streams_done(struct copy *);

/* -- stream_get.c: the same of one that comes; by stream.c -- */

PARKS int copy_stream_get_source(struct copy *, const struct copy_source *,
                                 const struct endpoint_facts *, char *place);
PARKS void copy_settle_gets(struct copy *);
void copy_gets_done(struct copy *);
