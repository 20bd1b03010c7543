/* Beginning an upload: what stands under the name decides what is done; then it is done. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "task/sys.h"
#include "vfs/upload.h"

/* What stands under the name. */
struct target {
    bool is_taken; /* by anything: a new file under it replaces something */
    bool is_file;  /* regular, perhaps through a link that stays in the root */
    uint64_t size; /* of that file */
    bool has_partial;
    uint64_t partial_size;
};

enum way {
    WAY_NEW,      /* a new file: under a temporary name, or under its own */
    WAY_IN_PLACE, /* the file that is there */
    WAY_PARTIAL,  /* the kept partial, renamed to a temporary name */
};

struct plan {
    enum way way;
    enum vfs_act act; /* the rights it needs */
    uint64_t offset;  /* of the first byte */
    uint64_t kept;    /* bytes that are there and in the ledger */
    bool is_cut;      /* in place, to nothing */
};

/* A link is judged by what it leads to, so that a way out is -EXDEV here as everywhere; a new
 * file then takes the place of the link itself. */
static int look_at_name(struct vupload *u, struct target *ret)
{
    struct stat st;
    int r = leaf_stat(u->dir, u->leaf, &st);
    *ret = (struct target){.is_taken = r == 0};
    if (r == 0 && u->how.exclusive)
        return -EEXIST;
    if (r == 0 && S_ISLNK(st.st_mode))
        r = beneath_stat(&u->op.root->tree, u->op.path, true, &st);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -FERRY_ENOTREG;
    ret->is_file = true;
    ret->size = (uint64_t)st.st_size;
    return 0;
}

static int look(struct vupload *u, struct target *ret)
{
    struct stat st;
    int r = look_at_name(u, ret);
    if (r < 0 || ret->is_file)
        return r;
    r = partial_stat(u->dir, u->leaf, &st);
    if (r == 0) {
        ret->has_partial = true;
        ret->partial_size = (uint64_t)st.st_size;
    }
    return r == -ENOENT ? 0 : r;
}

/* -- the plan: pure -- */

static int plan_new(const struct vupload *u, const struct target *t, struct plan *ret)
{
    *ret = (struct plan){.way = WAY_NEW, .act = t->is_taken ? VFS_ACT_REPLACE : VFS_ACT_CREATE};
    if (t->is_file && !u->policy.atomic_upload) {
        ret->way = WAY_IN_PLACE;
        ret->is_cut = true;
        ret->kept = t->size;
    }
    return 0;
}

/* As open(2) has it; FTP's uploads create and truncate. */
static int plan_replace(const struct vupload *u, const struct target *t, struct plan *ret)
{
    if (t->is_file && !u->how.truncate) {
        *ret = (struct plan){.way = WAY_IN_PLACE, .act = VFS_ACT_EXTEND, .kept = t->size};
        return 0;
    }
    return t->is_file || u->how.create ? plan_new(u, t, ret) : -ENOENT;
}

static int plan_partial(const struct target *t, uint64_t offset, struct plan *ret)
{
    *ret = (struct plan){.way = WAY_PARTIAL,
                         .act = t->is_taken ? VFS_ACT_REPLACE : VFS_ACT_CREATE,
                         .offset = offset,
                         .kept = t->partial_size};
    return offset > t->partial_size ? -EINVAL : 0;
}

static int plan_in_place(const struct target *t, uint64_t offset, struct plan *ret)
{
    *ret = (struct plan){.way = WAY_IN_PLACE,
                         .act = offset == t->size ? VFS_ACT_EXTEND : VFS_ACT_REPLACE,
                         .offset = offset,
                         .kept = t->size};
    return offset > t->size ? -EINVAL : 0;
}

static int plan(const struct vupload *u, const struct target *t, struct plan *ret)
{
    const struct vupload_request *q = &u->request;
    switch (q->kind) {
    case VUPLOAD_REPLACE:
        return plan_replace(u, t, ret);
    case VUPLOAD_UNIQUE:
        *ret = (struct plan){.way = WAY_NEW, .act = VFS_ACT_CREATE};
        return 0;
    case VUPLOAD_RESUME:
        if (q->offset == 0)
            return plan_new(u, t, ret);
        if (t->is_file)
            return plan_in_place(t, q->offset, ret);
        return t->has_partial ? plan_partial(t, q->offset, ret) : -ENOENT;
    case VUPLOAD_APPEND:
        if (t->is_file)
            return plan_in_place(t, t->size, ret);
        if (q->take_partial && t->has_partial)
            return plan_partial(t, t->partial_size, ret);
        return plan_new(u, t, ret);
    }
    return -EINVAL;
}

/* expect_bytes is the size that the file will have. */
static int check_expected(const struct vupload *u, const struct plan *p)
{
    uint64_t expected = u->request.expect_bytes, free_bytes = 0;
    if (expected <= p->kept)
        return 0;
    if (expected - p->kept > quota_left_bytes(u->op.quota))
        return -FERRY_EQUOTA;
    int r = sys_fstatfs_free(u->dir, &free_bytes);
    if (r < 0)
        return r;
    return expected - p->kept > free_bytes ? -ENOSPC : 0;
}

/* -- doing it: each leaves in u what upload_undo() needs -- */

static int take_file(struct vupload *u, int fd)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    vfile_opened(u->file, fd, &st, false);
    return 0;
}

static int make_temp(struct vupload *u)
{
    int r = temp_name(u->temp);
    if (r == 0)
        r = leaf_create(u->dir, u->temp, upload_access(u), upload_mode(u));
    if (r < 0) {
        u->temp[0] = '\0';
        return r;
    }
    return take_file(u, r);
}

static int make_leaf(struct vupload *u)
{
    struct stat st;
    int fd = leaf_create(u->dir, u->leaf, upload_access(u), upload_mode(u));
    if (fd < 0)
        return fd;
    int r = sys_fstat(fd, &st);
    if (r < 0) {
        sys_close(fd);
        (void)leaf_unlink(u->dir, u->leaf);
        return r;
    }
    u->made_leaf = true;
    u->made_fd = fd;
    u->made_device = st.st_dev;
    u->made_inode = st.st_ino;
    return 0;
}

static int write_to_leaf(struct vupload *u)
{
    struct stat st;
    int fd = u->made_fd;
    u->made_fd = -1;
    quota_names_lock(u->op.quota);
    int r = sys_fstat(fd, &st);
    if (r == 0)
        r = quota_file_open(u->op.quota, &st, &u->in_place);
    quota_names_unlock(u->op.quota);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    vfile_opened(u->file, fd, &st, false);
    return 0;
}

/* The name is held by an empty file from now on, since the client is told it before the first
 * byte. */
static int make_unique(struct vupload *u)
{
    struct vpath path;
    int r = upload_each_name(u, make_leaf);
    if (r == 0)
        r = vpath_parse(vpath_parent(&u->path), bytes_str(u->leaf), &path);
    if (r < 0)
        return r;
    vpath_done(&u->path);
    u->path = path;
    if (!u->policy.atomic_upload)
        return write_to_leaf(u);
    sys_fd_close(&u->made_fd);
    return make_temp(u);
}

static int make_new(struct vupload *u)
{
    if (u->request.kind == VUPLOAD_UNIQUE)
        return make_unique(u);
    if (u->policy.atomic_upload)
        return make_temp(u);
    int r = make_leaf(u);
    return r < 0 ? r : write_to_leaf(u);
}

/* All under the names' lock: nobody who opens the file behind the cut has written before it. */
static int open_and_count(struct vupload *u, const struct plan *p)
{
    struct stat st;
    int fd = beneath_open(&u->op.root->tree, u->op.path, BENEATH_FILE, upload_access(u), &st);
    if (fd < 0)
        return fd;
    vfile_opened(u->file, fd, &st, false);
    int r = quota_file_open(u->op.quota, &st, &u->in_place);
    /* it may have become shorter since it was looked at */
    if (r == 0 && p->offset > (uint64_t)st.st_size)
        r = -EINVAL;
    if (r == 0 && u->request.kind == VUPLOAD_REPLACE && !p->is_cut) {
        u->keeps_old = true;
        u->offset = (uint64_t)st.st_size;
    }
    if (r < 0 || !p->is_cut)
        return r;
    r = sys_ftruncate(fd, 0);
    if (r == 0)
        quota_file_cut(u->op.quota, u->in_place);
    return r;
}

static int open_in_place(struct vupload *u, const struct plan *p)
{
    quota_names_lock(u->op.quota);
    int r = open_and_count(u, p);
    quota_names_unlock(u->op.quota);
    return r;
}

static int open_partial(struct vupload *u, const struct plan *p)
{
    struct stat st;
    int r = temp_name(u->temp);
    if (r == 0) {
        quota_names_lock(u->op.quota);
        r = partial_adopt(u->dir, u->leaf, u->temp);
        quota_names_unlock(u->op.quota);
    }
    if (r < 0) {
        u->temp[0] = '\0';
        return r;
    }
    u->counted = p->kept;
    int fd = leaf_open(u->dir, u->temp, O_WRONLY, &st);
    if (fd < 0)
        return fd;
    vfile_opened(u->file, fd, &st, false);
    u->counted = (uint64_t)st.st_size; /* it may be another than was looked at */
    return p->offset > (uint64_t)st.st_size ? -EINVAL : 0;
}

static int carry_out(struct vupload *u, const struct target *t, const struct plan *p)
{
    /* a new name counts as a file; one that is replaced is in the ledger already */
    if (u->request.kind == VUPLOAD_UNIQUE || !t->is_taken) {
        int r = quota_take(u->op.quota, 0, 1);
        if (r < 0)
            return r;
        u->took_file = true;
    }
    u->offset = p->offset;
    switch (p->way) {
    case WAY_IN_PLACE:
        return open_in_place(u, p);
    case WAY_PARTIAL:
        return open_partial(u, p);
    case WAY_NEW:
        break;
    }
    return make_new(u);
}

int upload_act_begin(struct op *op)
{
    struct vupload *u = (struct vupload *)op;
    struct target t = {0};
    struct plan p = {0};
    const char *leaf = NULL;
    int r = beneath_parent(&op->root->tree, op->path, &u->dir, &leaf);
    if (r < 0)
        return r;
    (void)text_copy(u->leaf, sizeof(u->leaf), bytes_str(leaf));
    if (u->request.kind != VUPLOAD_UNIQUE)
        r = look(u, &t);
    if (r == 0)
        r = plan(u, &t, &p);
    if (r == 0)
        r = vfs_act_check(u->allowed, p.act);
    if (r == 0)
        r = check_expected(u, &p);
    if (r < 0)
        return r;
    r = carry_out(u, &t, &p);
    if (r < 0) {
        u->written_end = UPLOAD_END_UNKNOWN;
        upload_undo(u, true);
        return r;
    }
    u->is_open = true;
    return 0;
}
