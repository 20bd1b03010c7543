/* Attributes, by path: of what it leads to within the root, as chmod(1), or of a link itself.
 */
#include "vfs/attr.h"

#include <errno.h>

#include "base/err.h"
#include "task/sys.h"
#include "vfs/job.h"

#define PERMISSION_BITS 0777
#define SPECIAL_BITS    07000 /* setuid, setgid, sticky */

struct set_op {
    struct op op;
    struct vattr attr;
    bool follow, leaves_atime, owns_root;
    unsigned allowed;
};

static struct timespec to_timespec(int64_t us)
{
    int64_t s = us / (int64_t)USEC_PER_S, rest = us % (int64_t)USEC_PER_S;
    if (rest < 0) { /* before 1970 */
        s--;
        rest += (int64_t)USEC_PER_S;
    }
    return (struct timespec){.tv_sec = s, .tv_nsec = rest * 1000};
}

void attr_times(const struct vattr *attr, struct timespec ret[2])
{
    ret[0] = to_timespec(attr->atime_us);
    ret[1] = to_timespec(attr->mtime_us);
}

int attr_apply(int fd, mode_t is, const struct vattr *attr)
{
    int r = 0;
    if (attr->has_mode) {
        mode_t special = S_ISDIR(is) ? is & SPECIAL_BITS : 0;
        r = sys_fchmod(fd, special | (attr->mode & PERMISSION_BITS));
    }
    if (r == 0 && attr->has_times) {
        struct timespec times[2];
        attr_times(attr, times);
        r = sys_futimens(fd, times);
    }
    return r;
}

/* -- by path -- */

static int cut_counted(struct set_op *o, int fd, struct quota_file *f)
{
    int r = quota_file_grow(o->op.quota, f, o->attr.size_bytes);
    return r < 0 ? r : sys_ftruncate(fd, (off_t)o->attr.size_bytes);
}

/* Under the names' lock: who removes the file meanwhile leaves its bytes to us, and who writes
 * to it settles them after us. */
static int cut(struct set_op *o, int fd)
{
    struct stat st;
    struct quota_file *f = NULL;
    int r = sys_fstat(fd, &st);
    if (r < 0)
        return r;
    r = vfs_act_check(o->allowed, o->attr.size_bytes < (uint64_t)st.st_size ? VFS_ACT_REPLACE
                                                                            : VFS_ACT_EXTEND);
    if (r == 0)
        r = quota_file_open(o->op.quota, &st, &f);
    if (r < 0)
        return r;
    r = cut_counted(o, fd, f);
    quota_file_close(o->op.quota, f, r == 0 ? o->attr.size_bytes : (uint64_t)st.st_size);
    return r;
}

static int apply(struct set_op *o, int fd, const struct stat *st)
{
    int r = 0;
    if (o->attr.has_size) {
        quota_names_lock(o->op.quota);
        r = cut(o, fd);
        quota_names_unlock(o->op.quota);
    }
    if (r < 0 || !o->leaves_atime)
        return r < 0 ? r : attr_apply(fd, st->st_mode, &o->attr);
    struct timespec times[2];
    attr_times(&o->attr, times);
    times[0].tv_nsec = UTIME_OMIT;
    return sys_futimens(fd, times);
}

/* A link has times of its own, and neither a size nor a mode that could be set. */
static int set_link(struct set_op *o)
{
    int dir = -1;
    const char *leaf = NULL;
    if (o->attr.has_size || o->attr.has_mode)
        return -EOPNOTSUPP;
    int r = beneath_parent(&o->op.root->tree, o->op.path, &dir, &leaf);
    if (r < 0)
        return r;
    struct timespec times[2];
    attr_times(&o->attr, times);
    if (o->attr.has_times)
        r = leaf_set_times(dir, leaf, times);
    sys_close(dir);
    return r;
}

/* The root's mode could lock out all who share it; a link may lead to it. */
static int spare_root(const struct op *op, const struct stat *st)
{
    struct stat root;
    if (!S_ISDIR(st->st_mode))
        return 0;
    int r = beneath_stat(&op->root->tree, ".", true, &root);
    if (r < 0)
        return r;
    return root.st_dev == st->st_dev && root.st_ino == st->st_ino ? -EPERM : 0;
}

static int act_set(struct op *op)
{
    struct set_op *o = (struct set_op *)op;
    struct stat st;
    if (!o->follow) {
        int r = beneath_stat(&op->root->tree, op->path, false, &st);
        if (r < 0)
            return r;
        if (S_ISLNK(st.st_mode))
            return set_link(o);
    }
    int access = (o->attr.has_size ? O_WRONLY : O_RDONLY) | (o->follow ? 0 : O_NOFOLLOW);
    enum beneath_kinds kinds = o->attr.has_size ? BENEATH_FILE : BENEATH_FILE_OR_DIRECTORY;
    int fd = beneath_open(&op->root->tree, op->path, kinds, access, &st);
    if (fd < 0)
        return fd;
    int r = o->attr.has_mode && !o->owns_root ? spare_root(op, &st) : 0;
    if (r == 0)
        r = apply(o, fd, &st);
    sys_close(fd);
    return r;
}

static int check_set(const struct vfs *v, const struct vpath *path, const struct vattr *attr)
{
    int r = 0;
    if (attr->has_size && attr->size_bytes > INT64_MAX)
        return -EFBIG;
    if (attr->has_size) /* which of the two it is, the file tells */
        r = vfs_check(v, path, VFS_ACT_EXTEND);
    if (r == 0 && (attr->has_mode || attr->has_times || !attr->has_size))
        r = vfs_check(v, path, VFS_ACT_SETATTR);
    return r;
}

static PARKS int set(struct vfs *v, const struct vpath *path, const struct set_op *values)
{
    int r = check_set(v, path, &values->attr);
    if (r < 0)
        return r;
    struct set_op *o = op_new(v, sizeof(*o), path, act_set);
    if (!o)
        return -ENOMEM;
    o->attr = values->attr;
    o->follow = values->follow;
    o->leaves_atime = values->leaves_atime;
    o->owns_root = v->policy->owns_root;
    o->allowed = vfs_rights_at(v, path);
    return op_finish(&o->op);
}

int vfs_set(struct vfs *v, const struct vpath *path, bool follow, const struct vattr *attr)
{
    return set(v, path,
               &(struct set_op){.attr = *attr, .follow = follow || vpath_is_root(path)});
}

int vfs_chmod(struct vfs *v, const struct vpath *path, mode_t mode)
{
    return set(v, path,
               &(struct set_op){.attr = {.has_mode = true, .mode = mode}, .follow = true});
}

int vfs_set_mtime(struct vfs *v, const struct vpath *path, int64_t mtime_us)
{
    return set(v, path,
               &(struct set_op){.attr = {.has_times = true, .mtime_us = mtime_us},
                                .follow = true,
                                .leaves_atime = true});
}
