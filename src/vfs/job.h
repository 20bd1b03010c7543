/* A session's view from inside, and how its operations run: one composite job of the pool each,
 * which owns copies of all it needs, so that cancelling the task can leave it behind.
 *
 *     struct stat_op { struct op op; struct stat st; };
 *     struct stat_op *o = op_new(v, sizeof(*o), path, act_stat);
 *     if (!o) return -ENOMEM;
 *     int r = op_run(&o->op);                 parks; negative: the operation is gone
 *     if (r < 0) return r;
 *     ... use o->st ...; op_free(&o->op);
 */
#pragma once
#include "task/pool.h"
#include "vfs/root.h"

struct vfs {
    struct vroot *root;
    const struct rights *rights;
    const struct vfs_policy *policy;
    struct quota *quota;
    struct pool *pool;
    struct pool_shares shares;
};

/* -- rights -- */

enum vfs_act {
    VFS_ACT_STAT,
    VFS_ACT_LIST,
    VFS_ACT_READ,
    VFS_ACT_UPLOAD, /* before it is known what stands under the name */
    VFS_ACT_CREATE,
    VFS_ACT_REPLACE,
    VFS_ACT_EXTEND, /* write behind the last byte of what is there */
    VFS_ACT_MKDIR,
    VFS_ACT_REMOVE,
    VFS_ACT_RENAME,
    VFS_ACT_SETATTR,
    VFS_ACT_LINK,
    VFS_ACT_COUNT
};

/* 0 or -FERRY_ERIGHTS. */
MUST_CHECK int vfs_act_check(unsigned allowed, enum vfs_act);
MUST_CHECK int vfs_check(const struct vfs *, const struct vpath *, enum vfs_act);

/* -- shares, held by files and directories -- */

struct pool_shares vfs_shares_ref(const struct pool_shares *);
void vfs_shares_unref(struct pool_shares *);

/* -- operations -- */

struct op {
    struct job job;
    int (*act)(struct op *);   /* on a pool thread */
    void (*drop)(struct op *); /* what act made and nobody took; may be NULL */
    struct vroot *root;        /* referenced, as the next two */
    struct quota *quota;
    struct pool_shares shares;
    struct pool *pool;
    char *path; /* relative; may be written to and restored */
    int result;
};

/* size: of the struct that begins with struct op; the rest is zeroed. NULL: no memory. */
void *op_new(const struct vfs *, size_t size, const struct vpath *, int (*act)(struct op *));
void op_free(struct op *);    /* by its job's free */
void op_release(struct op *); /* what that is, unless an operation has its own */
/* Runs it: what act returned, or a failure of job_run(). Negative: the operation is freed. */
PARKS MUST_CHECK int op_run(struct op *);
/* The same in steps, see job_start(). If op_start() fails, the operation is the caller's. */
MUST_CHECK int op_start(struct op *);
PARKS MUST_CHECK int op_wait(struct op *);
PARKS void op_abandon(struct op *);
/* For those with nothing to hand out: frees it always; a positive result is 0. */
PARKS MUST_CHECK int op_finish(struct op *);

/* For acts on two names: both parents are open, and the tree's names locked, while it runs. The
 * paths are relative, and as those of beneath_parent(). */
MUST_CHECK int op_on_two(struct op *, char *from, char *to,
                         int (*act)(struct op *, int from_dir, const char *from, int to_dir,
                                    const char *to));

enum vstat_kind vstat_kind_of(mode_t);
void vstat_from(const struct stat *, struct vstat *ret);
