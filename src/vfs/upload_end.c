/* Ending an upload: stored under its name, or broken and out of the way. */
#include <errno.h>

#include "base/err.h"
#include "task/sys.h"
#include "vfs/upload.h"

#define PLACE_TRIES 4 /* the name comes or goes between a look and the rename */

/* What changes names and the ledger runs under the names' lock: all here but the contents. */

void upload_settle(struct vupload *u, uint64_t size)
{
    if (u->in_place) {
        quota_file_close(u->op.quota, u->in_place, size);
        u->in_place = NULL;
        return;
    }
    if (u->counted > size)
        quota_give(u->op.quota, u->counted - size, 0);
    u->counted = size;
}

static bool is_made_by_us(const struct vupload *u, const struct stat *st)
{
    return u->made_leaf && st->st_dev == u->made_device && st->st_ino == u->made_inode;
}

void upload_give_file(struct vupload *u)
{
    if (u->took_file)
        quota_give(u->op.quota, 0, 1);
    u->took_file = false;
}

/* -- broken -- */

/* Removes the name if it is still the file that begin made. */
static bool remove_leaf(struct vupload *u)
{
    struct stat st;
    if (leaf_stat(u->dir, u->leaf, &st) < 0 || !is_made_by_us(u, &st) ||
        leaf_unlink(u->dir, u->leaf) < 0)
        return false;
    quota_give_file(u->op.quota, &st); /* another session may have found it and written */
    return true;
}

/* Cut to what was written, since what is behind it may be of another version. 0: nothing that
 * can be relied on. */
static uint64_t size_of_temp(struct vupload *u)
{
    struct stat st;
    if (vfile_fd(u->file) < 0)
        return u->counted; /* a partial that was not yet opened again */
    if (sys_fstat(vfile_fd(u->file), &st) < 0)
        return 0;
    if ((uint64_t)st.st_size <= u->written_end)
        return (uint64_t)st.st_size;
    return sys_ftruncate(vfile_fd(u->file), (off_t)u->written_end) < 0 ? 0 : u->written_end;
}

static uint64_t size_in_place(const struct vupload *u)
{
    struct stat st;
    return sys_fstat(vfile_fd(u->file), &st) < 0 ? UINT64_MAX : (uint64_t)st.st_size;
}

/* A partial is of use only where no file stands: else SIZE and REST speak of that one. */
static bool keep_temp(struct vupload *u)
{
    struct stat st;
    return leaf_stat(u->dir, u->leaf, &st) == -ENOENT &&
           partial_keep(u->dir, u->leaf, u->temp, u->op.quota) == 0;
}

static void undo_temp(struct vupload *u, bool keeps)
{
    uint64_t size = size_of_temp(u);
    if (!u->made_leaf || remove_leaf(u))
        upload_give_file(u);
    if (!keeps || size == 0 || !keep_temp(u)) {
        (void)leaf_unlink(u->dir, u->temp);
        size = 0;
    }
    upload_settle(u, size);
}

/* Of a file that was there before nothing is cut. */
static void undo_in_place(struct vupload *u, bool keeps)
{
    if (vfile_fd(u->file) < 0) { /* not even opened */
        if (!u->made_leaf || remove_leaf(u))
            upload_give_file(u);
        return;
    }
    uint64_t size = size_in_place(u);
    if (u->made_leaf && !(keeps && size > 0) && remove_leaf(u)) {
        upload_give_file(u);
        size = 0;
    }
    upload_settle(u, size);
}

void upload_close_file(struct vupload *u)
{
    vfile_unref(u->file);
    u->file = NULL;
    u->is_open = false;
}

void upload_undo(struct vupload *u, bool keeps)
{
    quota_names_lock(u->op.quota);
    if (u->temp[0])
        undo_temp(u, keeps);
    else
        undo_in_place(u, keeps);
    quota_names_unlock(u->op.quota);
    upload_close_file(u);
}

int upload_act_break(struct op *op)
{
    struct vupload *u = (struct vupload *)op;
    vfile_write_begin(u->file);
    vfile_write_end(u->file); /* nobody begins another */
    upload_undo(u, u->policy.keep_partial);
    return 0;
}

/* -- stored -- */

/* What stands behind the end of an appending writer came from another one. */
static bool cuts_the_rest(const struct vupload *u)
{
    return u->temp[0] || u->request.kind != VUPLOAD_APPEND;
}

int upload_set_times(struct vupload *u)
{
    struct timespec times[2];
    if (!u->set.has_times)
        return 0;
    attr_times(&u->set, times);
    return sys_futimens(vfile_fd(u->file), times);
}

/* The file has exactly what was written. */
static int finish_size(struct vupload *u)
{
    struct stat st;
    int fd = vfile_fd(u->file);
    if (u->written_end == UPLOAD_END_UNKNOWN)
        return 0;
    int r = sys_fstat(fd, &st);
    if (r < 0)
        return r;
    if ((uint64_t)st.st_size < u->written_end)
        return -EIO; /* somebody cut it: a hole would be stored as if it were data */
    if ((uint64_t)st.st_size > u->written_end && cuts_the_rest(u))
        return sys_ftruncate(fd, (off_t)u->written_end);
    return 0;
}

static int finish_contents(struct vupload *u)
{
    int r = finish_size(u);
    return r < 0 ? r : upload_set_times(u);
}

/* Counts the name as a new file, unless begin did. Whoever removed the file that begin made
 * gave it back. */
static int claim_name(struct vupload *u)
{
    if (u->took_file && !u->made_leaf)
        return 0;
    u->made_leaf = false;
    u->took_file = quota_take(u->op.quota, 0, 1) == 0;
    return u->took_file ? 0 : -FERRY_EQUOTA;
}

static int rename_to_leaf(struct vupload *u)
{
    return leaf_rename(u->dir, u->temp, u->dir, u->leaf, false);
}

static int move_to_new(struct vupload *u)
{
    int r = claim_name(u);
    return r < 0 ? r : rename_to_leaf(u);
}

/* Between the look and the rename somebody could still replace our empty file; no call compares
 * and renames. */
static int move_to_unique(struct vupload *u, const struct stat *old)
{
    int r;
    if (is_made_by_us(u, old)) {
        r = leaf_rename(u->dir, u->temp, u->dir, u->leaf, true);
        if (r == 0)
            quota_give_file(u->op.quota, old); /* as remove_leaf() */
        return r;
    }
    r = claim_name(u);
    return r < 0 ? r : upload_each_name(u, rename_to_leaf);
}

static int move_over(struct vupload *u, const struct stat *old)
{
    bool replaces = vfs_act_check(u->allowed, VFS_ACT_REPLACE) == 0;
    int r = 0;
    if (S_ISREG(old->st_mode) && !u->set.has_mode) /* the old permissions stay */
        r = sys_fchmod(vfile_fd(u->file), old->st_mode & 0777);
    if (r == 0)
        r = leaf_rename(u->dir, u->temp, u->dir, u->leaf, replaces);
    if (r == -EEXIST && !replaces)
        return -FERRY_ERIGHTS; /* it came while the upload ran */
    if (r < 0)
        return r;
    upload_give_file(u); /* the name was in the ledger */
    quota_give_file(u->op.quota, old);
    return 0;
}

static int move_into_place(struct vupload *u)
{
    struct stat old;
    int r = -EEXIST;
    for (unsigned i = 0; r == -EEXIST && i < PLACE_TRIES; i++) {
        r = leaf_stat(u->dir, u->leaf, &old);
        if (r == 0 && u->how.exclusive)
            return -EEXIST;
        if (r == -ENOENT)
            r = move_to_new(u);
        else if (r == 0 && u->request.kind == VUPLOAD_UNIQUE)
            r = move_to_unique(u, &old);
        else if (r == 0)
            r = move_over(u, &old);
    }
    return r;
}

static int sync_directory(const struct vupload *u)
{
    int fd = leaf_open_directory(u->dir, ".");
    if (fd < 0)
        return fd;
    int r = sys_fsync(fd);
    sys_close(fd);
    return r;
}

static int take_place(struct vupload *u)
{
    int r = u->temp[0] ? move_into_place(u) : 0;
    if (r < 0)
        return r;
    upload_settle(u, u->in_place ? size_in_place(u) : u->written_end);
    if (u->policy.keep_partial) /* an older try, of no use now */
        (void)partial_remove(u->dir, u->leaf, u->op.quota);
    return 0;
}

int upload_act_commit(struct op *op)
{
    struct vupload *u = (struct vupload *)op;
    bool syncs = u->policy.sync == VFS_SYNC_FILE, keeps = u->policy.keep_partial;
    int r = finish_contents(u);
    if (r == 0 && syncs) {
        r = sys_fsync(vfile_fd(u->file));
        keeps = keeps && r == 0; /* nobody knows what of it is on the disk */
    }
    if (r == 0) {
        quota_names_lock(op->quota);
        r = take_place(u);
        quota_names_unlock(op->quota);
    }
    if (r < 0) {
        upload_undo(u, keeps);
        return r;
    }
    if (syncs)
        r = sync_directory(u);
    upload_close_file(u);
    return r;
}
