/* An upload from inside.
 *
 * It is one operation that runs twice, to begin and to end. Whoever has the operation has the
 * upload, so a cancelled task leaves it behind whole: an upload that is freed while it is open
 * runs once more, as broken, in the pool. Ending it therefore needs no memory.
 */
#pragma once
#include "base/limits.h"
#include "vfs/attr.h"
#include "vfs/file.h"
#include "vfs/handle.h"
#include "vfs/partial.h"

/* What begin leaves, and so what an end has to put right:
 *
 *     what is written                     temp  in_place  made_leaf  took_file
 *     a temporary file                    set   -         -          if the name is new
 *     the kept partial, renamed           set   -         -          if the name is new
 *     UNIQUE: a temporary file; an
 *       empty one holds the name          set   -         set        set
 *     the file that was there             ""    set       -          -
 *     not atomic: the new name itself     ""    set       set        set
 */
#define UPLOAD_END_UNKNOWN UINT64_MAX /* break: what the file holds */

/* What a handle asks for between the two ends. An upload's is run by its own operation, so a
 * task that is cancelled meanwhile leaves all of it behind. */
struct handle_ask {
    int (*answer)(struct vfile *, struct handle_ask *);
    struct vattr attr;
    struct stat st;
    bool is_cut; /* the size is set, whatever became of the rest */
    int result;
};

struct vupload {
    struct op op;
    struct vupload_request request;
    struct vhandle_request how; /* REPLACE */
    struct vfs_policy policy;
    unsigned allowed; /* at the path */
    struct vfile *file;
    uint64_t offset;
    bool keeps_old;    /* a handle's, in place: the `offset` bytes that were there */
    struct vpath path; /* the final name; UNIQUE writes its own */

    /* what begin made, what an end must put right */
    bool is_open;
    int dir;                     /* the parent, O_PATH; may be the root's own */
    char leaf[NAME_LEN_MAX + 1]; /* the final name */
    char temp[TEMP_NAME_SIZE];   /* "": written in place */
    bool made_leaf;              /* in place, or the empty file that holds UNIQUE's name */
    int made_fd;
    dev_t made_device;
    ino_t made_inode;
    bool took_file; /* of the quota: a new name */

    uint64_t written_end;
    uint64_t sound_end; /* what may be kept of it, if nobody ends it */
    struct vattr set;   /* mode and times by a handle: they hold at the end */
    struct handle_ask ask;
    uint64_t counted;            /* bytes of the temporary file in the ledger */
    struct quota_file *in_place; /* or what others may write to at the same time */
};

/* Begins one. */
PARKS MUST_CHECK int upload_begin(struct vfs *, const struct vpath *,
                                  const struct vupload_request *,
                                  const struct vhandle_request *, struct vupload **ret);
/* One that is not yet begun: for who runs its acts in an operation of his own, and then frees
 * it by op_free(). */
MUST_CHECK int upload_new(struct vfs *, const struct vpath *, const struct vupload_request *,
                          struct vupload **ret);
int upload_access(const struct vupload *); /* of its file, for open(2) */
mode_t upload_mode(const struct vupload *);
/* The times that a handle set: a write behind that has changed them. */
MUST_CHECK int upload_set_times(struct vupload *);

/* Acts of the operation, on a pool thread. */
MUST_CHECK int upload_act_begin(struct op *);
MUST_CHECK int upload_act_commit(struct op *);
MUST_CHECK int upload_act_break(struct op *);

/* On the loop: 0, or -EAGAIN with nothing changed. */
MUST_CHECK int upload_begin_here(struct vupload *);
MUST_CHECK int upload_commit_here(struct vupload *);

/* -- what the ends have in common -- */

/* The file ends with this size (0 also when it is gone); what was reserved beyond goes back. */
void upload_settle(struct vupload *, uint64_t size);
/* The name that was counted as a new file is none. */
void upload_give_file(struct vupload *);
/* On this thread, where it may wait. */
void upload_close_file(struct vupload *);

/* Forgets the parent's descriptor. */
void upload_leave_dir(struct vupload *);

/* Removes what begin made; what was written is kept if it can be resumed. */
void upload_undo(struct vupload *, bool keeps);

/* Tries with leaf, leaf.1, leaf.2, ... until the result is not -EEXIST. */
MUST_CHECK int upload_each_name(struct vupload *, int (*attempt)(struct vupload *));
