#include <errno.h>

#include "base/err.h"
#include "task/sys.h"
#include "vfs/job.h"
#include "vfs/partial.h"

struct stat_op {
    struct op op;
    struct stat st;
    bool follow;
};

/* tmpfs and others keep 64 bits of seconds, 300,000 times what the microseconds of vstat hold.
 */
static int64_t to_us(const struct timespec *t)
{
    const int64_t most = INT64_MAX / (int64_t)USEC_PER_S - 1;
    int64_t seconds = t->tv_sec;
    if (seconds > most)
        seconds = most;
    if (seconds < -most)
        seconds = -most;
    return seconds * (int64_t)USEC_PER_S + t->tv_nsec / 1000;
}

enum vstat_kind vstat_kind_of(mode_t mode)
{
    if (S_ISREG(mode))
        return VSTAT_FILE;
    if (S_ISDIR(mode))
        return VSTAT_DIRECTORY;
    return S_ISLNK(mode) ? VSTAT_LINK : VSTAT_OTHER;
}

void vstat_from(const struct stat *st, struct vstat *ret)
{
    *ret = (struct vstat){
        .kind = vstat_kind_of(st->st_mode),
        .mode = st->st_mode & 07777,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .links = (uint32_t)st->st_nlink,
        .size_bytes = (uint64_t)st->st_size,
        .inode = st->st_ino,
        .device = st->st_dev,
        .mtime_us = to_us(&st->st_mtim),
        .atime_us = to_us(&st->st_atim),
    };
}

static int act_stat(struct op *op)
{
    struct stat_op *o = (struct stat_op *)op;
    return beneath_stat(&op->root->tree, op->path, o->follow, &o->st);
}

int vfs_stat(struct vfs *v, const struct vpath *path, bool follow, struct vstat *ret)
{
    int r = vfs_check(v, path, VFS_ACT_STAT);
    if (r < 0)
        return r;
    struct stat_op *o = op_new(v, sizeof(*o), path, act_stat);
    if (!o)
        return -ENOMEM;
    o->follow = follow;
    r = op_run(&o->op);
    if (r < 0)
        return r;
    vstat_from(&o->st, ret);
    op_free(&o->op);
    return 0;
}

/* 1: st is that of a kept partial. */
static int act_stat_resumable(struct op *op)
{
    struct stat_op *o = (struct stat_op *)op;
    int r = beneath_stat(&op->root->tree, op->path, true, &o->st);
    if (r == 0 && S_ISDIR(o->st.st_mode))
        return -EISDIR;
    if (r == 0 && !S_ISREG(o->st.st_mode))
        return -FERRY_ENOTREG;
    if (r != -ENOENT)
        return r;
    int dir = -1;
    const char *leaf = NULL;
    r = beneath_parent(&op->root->tree, op->path, &dir, &leaf);
    if (r < 0)
        return r;
    r = partial_stat(dir, leaf, &o->st);
    sys_close(dir);
    return r < 0 ? r : 1;
}

int vfs_stat_resumable(struct vfs *v, const struct vpath *path, struct vstat *ret,
                       bool *ret_partial)
{
    int r = vfs_check(v, path, VFS_ACT_STAT);
    if (r < 0)
        return r;
    struct stat_op *o = op_new(v, sizeof(*o), path, act_stat_resumable);
    if (!o)
        return -ENOMEM;
    r = op_run(&o->op);
    if (r < 0)
        return r;
    vstat_from(&o->st, ret);
    *ret_partial = r == 1;
    op_free(&o->op);
    return 0;
}
