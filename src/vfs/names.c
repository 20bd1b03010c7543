/* Names: directories made and removed, files removed, renaming. */
#include "vfs/names.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/job.h"
#include "vfs/partial.h"

#define PERMISSION_BITS 0777

struct name_op {
    struct op op;
    mode_t mode;
    /* rename */
    char *to;
    bool may_replace;
    int taken; /* what it is called if it may not */
};

static void drop_name(struct op *op)
{
    mem_free(((struct name_op *)op)->to);
}

static void give_back(struct quota *quota, const struct stat *st)
{
    quota_give(quota, 0, 1);
    quota_give_file(quota, st);
}

/* -- make and remove -- */

int names_mkdir(const struct beneath *tree, struct quota *quota, char *path, mode_t mode)
{
    int dir = -1;
    const char *leaf = NULL;
    int r = beneath_parent(tree, path, &dir, &leaf);
    if (r < 0)
        return r;
    r = quota_take(quota, 0, 1);
    if (r == 0) {
        r = leaf_mkdir(dir, leaf, mode & PERMISSION_BITS);
        if (r < 0)
            quota_give(quota, 0, 1);
    }
    sys_close(dir);
    return r;
}

static int act_mkdir(struct op *op)
{
    return names_mkdir(&op->root->tree, op->quota, op->path, ((struct name_op *)op)->mode);
}

static int act_rmdir(struct op *op)
{
    int dir = -1;
    const char *leaf = NULL;
    int r = beneath_parent(&op->root->tree, op->path, &dir, &leaf);
    if (r < 0)
        return r;
    r = leaf_rmdir(dir, leaf);
    if (r == -ENOTEMPTY) {
        quota_names_lock(op->quota);
        r = partial_clear(dir, leaf, op->quota);
        quota_names_unlock(op->quota);
        if (r == 0)
            r = leaf_rmdir(dir, leaf);
    }
    if (r == 0)
        quota_give(op->quota, 0, 1);
    sys_close(dir);
    return r;
}

static int unlink_leaf(struct op *op, int dir, const char *leaf)
{
    struct stat st;
    int r = leaf_stat(dir, leaf, &st);
    if (r == -ENOENT) /* what SIZE shows can be removed */
        return partial_remove(dir, leaf, op->quota);
    if (r < 0)
        return r;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    r = leaf_unlink(dir, leaf);
    if (r == 0)
        give_back(op->quota, &st);
    return r;
}

static int act_unlink(struct op *op)
{
    int dir = -1;
    const char *leaf = NULL;
    int r = beneath_parent(&op->root->tree, op->path, &dir, &leaf);
    if (r < 0)
        return r;
    quota_names_lock(op->quota);
    r = unlink_leaf(op, dir, leaf);
    quota_names_unlock(op->quota);
    sys_close(dir);
    return r;
}

/* -- rename -- */

static int rename_leaf(struct op *op, int from_dir, const char *from, int to_dir,
                       const char *to)
{
    const struct name_op *o = (const struct name_op *)op;
    struct stat source, old;
    int r = leaf_stat(from_dir, from, &source);
    if (r < 0)
        return r;
    r = leaf_stat(to_dir, to, &old);
    if (r < 0 && r != -ENOENT)
        return r;
    /* two names of one file: rename(2) does nothing */
    bool goes = r == 0 && !(old.st_dev == source.st_dev && old.st_ino == source.st_ino);
    r = leaf_rename(from_dir, from, to_dir, to, o->may_replace);
    if (r == -EEXIST && !o->may_replace)
        return o->taken;
    if (r == 0 && goes)
        give_back(op->quota, &old);
    return r;
}

static int act_rename(struct op *op)
{
    return op_on_two(op, op->path, ((struct name_op *)op)->to, rename_leaf);
}

static int check_rename(const struct vfs *v, const struct vpath *from, const struct vpath *to)
{
    if (vpath_is_root(from) || vpath_is_root(to))
        return -EPERM;
    int r = vfs_check(v, from, VFS_ACT_RENAME);
    if (r == 0)
        r = vfs_check(v, to, VFS_ACT_RENAME);
    if (r < 0)
        return r;
    bool has_rules = rights_rule_within(v->rights, vpath_bytes(from)) ||
                     rights_rule_within(v->rights, vpath_bytes(to));
    return has_rules ? -FERRY_ERIGHTS : 0;
}

static PARKS int rename_path(struct vfs *v, const struct vpath *from, const struct vpath *to,
                             bool may_replace, int taken)
{
    int r = check_rename(v, from, to);
    if (r < 0)
        return r;
    struct name_op *o = op_new(v, sizeof(*o), from, act_rename);
    if (!o)
        return -ENOMEM;
    o->op.drop = drop_name;
    o->may_replace = may_replace;
    o->taken = taken;
    o->to = mem_strdup(vpath_relative(to));
    if (!o->to) {
        op_free(&o->op);
        return -ENOMEM;
    }
    return op_finish(&o->op);
}

int vfs_rename(struct vfs *v, const struct vpath *from, const struct vpath *to)
{
    bool may_replace = vfs_check(v, to, VFS_ACT_REPLACE) == 0;
    return rename_path(v, from, to, may_replace, -FERRY_ERIGHTS);
}

int vfs_rename_new(struct vfs *v, const struct vpath *from, const struct vpath *to)
{
    return rename_path(v, from, to, false, -EEXIST);
}

/* -- operations on one name -- */

static PARKS int run_on_name(struct vfs *v, const struct vpath *path, enum vfs_act needed,
                             struct name_op values)
{
    int r = vfs_check(v, path, needed);
    if (r < 0)
        return r;
    struct name_op *o = op_new(v, sizeof(*o), path, values.op.act);
    if (!o)
        return -ENOMEM;
    o->mode = values.mode;
    return op_finish(&o->op);
}

int vfs_mkdir(struct vfs *v, const struct vpath *path)
{
    if (vpath_is_root(path))
        return -EEXIST;
    return run_on_name(
        v, path, VFS_ACT_MKDIR,
        (struct name_op){.op.act = act_mkdir, .mode = v->policy->directory_mode});
}

int vfs_rmdir(struct vfs *v, const struct vpath *path)
{
    return run_on_name(v, path, VFS_ACT_REMOVE, (struct name_op){.op.act = act_rmdir});
}

int vfs_unlink(struct vfs *v, const struct vpath *path)
{
    if (vpath_is_root(path))
        return -EISDIR;
    return run_on_name(v, path, VFS_ACT_REMOVE, (struct name_op){.op.act = act_unlink});
}
