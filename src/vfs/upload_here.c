/* The two ends of an upload on the loop, where nothing can wait: in the root's own memory file
 * system. Only what is plain and short is done, a whole file that is new or takes the place of
 * a small one. Everything else, every failure too, is -EAGAIN with nothing changed, and the
 * pool does it, or says why not. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "task/sys.h"
#include "vfs/upload.h"

/* The last name of a file gives its pages back, which takes the longer the more there are. */
#define FREED_HERE_BYTES (1024 * 1024)

static bool is_plain(const struct vupload *u)
{
    return u->op.root->is_memory && u->request.kind == VUPLOAD_REPLACE &&
           u->request.expect_bytes == 0 && u->policy.atomic_upload &&
           u->policy.sync == VFS_SYNC_NONE;
}

/* What stands under the name: 0, or -ENOENT if nothing does; -EAGAIN: not for here. */
static int look_here(const struct vupload *u, struct stat *ret)
{
    int r = leaf_stat_same_mount(u->dir, u->leaf, ret);
    if (r < 0)
        return r == -ENOENT ? r : -EAGAIN;
    return S_ISREG(ret->st_mode) && ret->st_size <= FREED_HERE_BYTES ? 0 : -EAGAIN;
}

static bool has_partial(const struct vupload *u)
{
    struct stat st;
    char name[PARTIAL_NAME_SIZE];
    partial_name(u->leaf, name);
    return leaf_stat_same_mount(u->dir, name, &st) != -ENOENT;
}

/* -- begin -- */

static int make_temp_here(struct vupload *u)
{
    struct stat st;
    int r = temp_name(u->temp);
    int fd = r == 0 ? leaf_create(u->dir, u->temp, upload_access(u), upload_mode(u)) : r;
    if (fd >= 0) {
        r = sys_fstat(fd, &st);
        if (r == 0) {
            vfile_opened(u->file, fd, &st, false);
            return 0;
        }
        sys_close(fd);
        (void)leaf_unlink(u->dir, u->temp);
    }
    u->temp[0] = '\0';
    return -EAGAIN;
}

static int begin_in_parent(struct vupload *u)
{
    struct stat st;
    int r = look_here(u, &st);
    if (r == -EAGAIN)
        return r;
    bool is_new = r == 0 ? u->how.truncate && !u->how.exclusive : u->how.create;
    if (!is_new)
        return -EAGAIN;
    if (vfs_act_check(u->allowed, r == 0 ? VFS_ACT_REPLACE : VFS_ACT_CREATE) < 0)
        return -EAGAIN;
    if (r == -ENOENT && quota_take(u->op.quota, 0, 1) < 0)
        return -EAGAIN;
    u->took_file = r == -ENOENT;
    r = make_temp_here(u);
    if (r < 0)
        upload_give_file(u);
    return r;
}

static int find_parent(struct vupload *u, const char **ret_leaf)
{
    if (!strchr(u->op.path, '/')) { /* the root itself: it needs no look, and no descriptor */
        u->dir = u->op.root->tree.fd;
        *ret_leaf = u->op.path;
        return 0;
    }
    struct beneath tree = beneath_same_mount(&u->op.root->tree);
    return beneath_parent(&tree, u->op.path, &u->dir, ret_leaf);
}

int upload_begin_here(struct vupload *u)
{
    const char *leaf = NULL;
    if (!is_plain(u) || find_parent(u, &leaf) < 0)
        return -EAGAIN;
    (void)text_copy(u->leaf, sizeof(u->leaf), bytes_str(leaf));
    int r = begin_in_parent(u);
    if (r < 0)
        upload_leave_dir(u);
    u->is_open = r == 0;
    return r;
}

/* -- commit -- */

static int place_new(struct vupload *u)
{
    if (!u->took_file && quota_take(u->op.quota, 0, 1) < 0)
        return -EAGAIN;
    u->took_file = true; /* the pool finds it so */
    return leaf_rename(u->dir, u->temp, u->dir, u->leaf, false);
}

static int place_over(struct vupload *u, const struct stat *old)
{
    if (vfs_act_check(u->allowed, VFS_ACT_REPLACE) < 0)
        return -EAGAIN;
    int r = u->set.has_mode ? 0 : sys_fchmod(vfile_fd(u->file), old->st_mode & 0777);
    if (r == 0)
        r = leaf_rename(u->dir, u->temp, u->dir, u->leaf, true);
    if (r < 0)
        return r;
    upload_give_file(u);
    quota_give_file(u->op.quota, old);
    return 0;
}

/* Under the names' lock. A name that was new at the begin is taken without another look: a
 * rename that may not replace anything looks itself. */
static int place_here(struct vupload *u)
{
    struct stat old;
    int r = u->took_file ? -ENOENT : look_here(u, &old);
    if (r == -EAGAIN || (u->policy.keep_partial && has_partial(u)))
        return -EAGAIN;
    r = r == 0 ? place_over(u, &old) : place_new(u);
    if (r == 0)
        upload_settle(u, u->written_end);
    return r;
}

int upload_commit_here(struct vupload *u)
{
    struct stat st;
    if (!is_plain(u) || !u->temp[0] || sys_fstat(vfile_fd(u->file), &st) < 0 ||
        (uint64_t)st.st_size != u->written_end)
        return -EAGAIN;
    if (upload_set_times(u) < 0)
        return -EAGAIN;
    if (!quota_names_trylock(u->op.quota)) /* its holder may wait for another disk */
        return -EAGAIN;
    int r = place_here(u);
    quota_names_unlock(u->op.quota);
    if (r < 0)
        return -EAGAIN;
    if (st.st_size <= FREED_HERE_BYTES) /* should somebody remove it meanwhile */
        vfile_unref_here(u->file);
    else
        vfile_unref(u->file);
    u->file = NULL;
    u->is_open = false;
    return 0;
}
