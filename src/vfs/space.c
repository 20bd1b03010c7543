/* How much room there is. */
#include <errno.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "vfs/job.h"
#include "vfs/vfs.h"

struct space_op {
    struct op op;
    struct statfs fs;
};

static int act_space(struct op *op)
{
    struct space_op *o = (struct space_op *)op;
    return beneath_statfs(&op->root->tree, op->path, &o->fs);
}

static void from_statfs(const struct statfs *fs, struct vspace *ret)
{
    uint64_t block = fs->f_frsize ? (uint64_t)fs->f_frsize : (uint64_t)fs->f_bsize;
    *ret = (struct vspace){
        .block_bytes = block ? block : 1,
        .blocks = fs->f_blocks,
        .blocks_free = fs->f_bfree,
        .blocks_available = fs->f_bavail,
        .files = fs->f_files,
        .files_free = fs->f_ffree,
        .name_max = (uint32_t)fs->f_namelen,
        .read_only = fs->f_flags & ST_RDONLY,
    };
    _Static_assert(sizeof(fs->f_fsid) == sizeof(ret->id), "the kernel's two ints");
    memcpy(&ret->id, &fs->f_fsid, sizeof(ret->id));
}

static void at_most(uint64_t *value, uint64_t most)
{
    if (*value > most)
        *value = most;
}

static void limit_by_quota(struct quota *quota, struct vspace *s)
{
    struct quota_room room;
    quota_room(quota, &room);
    if (room.max_bytes != UINT64_MAX) {
        at_most(&s->blocks, room.max_bytes / s->block_bytes);
        at_most(&s->blocks_free, room.bytes_left / s->block_bytes);
        at_most(&s->blocks_available, room.bytes_left / s->block_bytes);
    }
    if (room.max_files != UINT64_MAX) {
        at_most(&s->files, room.max_files);
        at_most(&s->files_free, room.files_left);
    }
}

int vfs_space(struct vfs *v, const struct vpath *path, struct vspace *ret)
{
    int r = vfs_check(v, path, VFS_ACT_STAT);
    if (r < 0)
        return r;
    struct space_op *o = op_new(v, sizeof(*o), path, act_space);
    if (!o)
        return -ENOMEM;
    r = op_run(&o->op);
    if (r < 0)
        return r;
    from_statfs(&o->fs, ret);
    limit_by_quota(v->quota, ret);
    op_free(&o->op);
    return 0;
}
