/* Links: made, and read. Neither lets an account reach more than its paths do. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/job.h"

/* What the second name of a file may not allow if the first does not. */
#define RIGHTS_OF_CONTENTS (RIGHT_READ | RIGHT_APPEND | RIGHT_OVERWRITE | RIGHT_SETATTR)

struct link_op {
    struct op op;
    char *other; /* the target, or the name that is there */
};

struct readlink_op {
    struct op op;
    size_t len;
    char target[PATH_LEN_MAX];
};

static void drop_link(struct op *op)
{
    mem_free(((struct link_op *)op)->other);
}

static struct link_op *link_new(struct vfs *v, const struct vpath *path, struct bytes other,
                                int (*act)(struct op *))
{
    struct link_op *o = op_new(v, sizeof(*o), path, act);
    if (!o)
        return NULL;
    o->op.drop = drop_link;
    o->other = mem_new(other.len + 1);
    if (!o->other) {
        op_free(&o->op);
        return NULL;
    }
    memcpy(o->other, other.data, other.len);
    return o;
}

/* -- symbolic -- */

static int act_symlink(struct op *op)
{
    struct link_op *o = (struct link_op *)op;
    int dir = -1;
    const char *leaf = NULL;
    int r = beneath_parent(&op->root->tree, op->path, &dir, &leaf);
    if (r < 0)
        return r;
    r = quota_take(op->quota, 0, 1);
    if (r == 0) {
        r = leaf_symlink(o->other, dir, leaf);
        if (r < 0)
            quota_give(op->quota, 0, 1);
    }
    sys_close(dir);
    return r;
}

/* The kernel follows it without asking us: our own names would be reached through it. */
static int check_target(struct bytes target)
{
    if (target.len == 0)
        return -ENOENT;
    if (target.len >= PATH_LEN_MAX)
        return -ENAMETOOLONG;
    if (memchr(target.data, '\0', target.len))
        return -FERRY_EBADNAME;
    while (target.len > 0)
        if (vfs_name_is_reserved(bytes_take_until(&target, '/')))
            return -ENOENT;
    return 0;
}

int vfs_symlink(struct vfs *v, struct bytes target, const struct vpath *link)
{
    if (vpath_is_root(link))
        return -EEXIST;
    int r = vfs_check(v, link, VFS_ACT_LINK);
    if (r == 0)
        r = check_target(target);
    if (r < 0)
        return r;
    struct link_op *o = link_new(v, link, target, act_symlink);
    return o ? op_finish(&o->op) : -ENOMEM;
}

/* What is longer than the caller's room is cut, as readlink(2) does. */
static int act_readlink(struct op *op)
{
    struct readlink_op *o = (struct readlink_op *)op;
    int dir = -1;
    const char *leaf = NULL;
    int r = beneath_parent(&op->root->tree, op->path, &dir, &leaf);
    if (r < 0)
        return r;
    ssize_t n = leaf_readlink(dir, leaf, o->target, sizeof(o->target));
    sys_close(dir);
    if (n < 0)
        return (int)n;
    o->len = (size_t)n;
    return 0;
}

int vfs_readlink(struct vfs *v, const struct vpath *path, char *ret, size_t size)
{
    if (vpath_is_root(path) || size == 0)
        return -EINVAL;
    int r = vfs_check(v, path, VFS_ACT_STAT);
    if (r < 0)
        return r;
    struct readlink_op *o = op_new(v, sizeof(*o), path, act_readlink);
    if (!o)
        return -ENOMEM;
    r = op_run(&o->op);
    if (r < 0)
        return r;
    size_t len = o->len < size ? o->len : size - 1;
    memcpy(ret, o->target, len);
    ret[len] = '\0';
    op_free(&o->op);
    return 0;
}

/* -- hard -- */

/* Under the lock of names, since the file may be on its way out. */
static int link_file(struct op *op, int from_dir, const char *from, int to_dir, const char *to)
{
    struct stat st;
    int r = leaf_stat(from_dir, from, &st);
    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -FERRY_ENOTREG;
    r = quota_take(op->quota, 0, 1);
    if (r < 0)
        return r;
    r = leaf_link(from_dir, from, to_dir, to);
    if (r < 0)
        quota_give(op->quota, 0, 1);
    return r;
}

static int act_link(struct op *op)
{
    return op_on_two(op, ((struct link_op *)op)->other, op->path, link_file);
}

static int check_link(const struct vfs *v, const struct vpath *from, const struct vpath *to)
{
    int r = vfs_check(v, from, VFS_ACT_LINK);
    if (r == 0)
        r = vfs_check(v, to, VFS_ACT_LINK);
    if (r < 0)
        return r;
    unsigned gained = vfs_rights_at(v, to) & ~vfs_rights_at(v, from);
    return gained & RIGHTS_OF_CONTENTS ? -FERRY_ERIGHTS : 0;
}

int vfs_link(struct vfs *v, const struct vpath *from, const struct vpath *to)
{
    if (vpath_is_root(from) || vpath_is_root(to))
        return -EPERM;
    int r = check_link(v, from, to);
    if (r < 0)
        return r;
    struct link_op *o = link_new(v, to, bytes_str(vpath_relative(from)), act_link);
    return o ? op_finish(&o->op) : -ENOMEM;
}
