#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "vfs/job.h"

/* What each act needs: any one of these rights. An upload asks twice: whether it can be
 * anything, before a file is touched, and what it is, when that is known. Looking at one name
 * is open to whoever may do anything there: a client that may only upload must find its
 * directory and resume. Rename needs its right at both ends, and VFS_ACT_REPLACE if there is
 * something. */
static const unsigned needs_any[] = {
    [VFS_ACT_STAT] = RIGHTS_ALL,
    [VFS_ACT_LIST] = RIGHT_LIST,
    [VFS_ACT_READ] = RIGHT_READ,
    [VFS_ACT_UPLOAD] = RIGHT_WRITE | RIGHT_APPEND | RIGHT_OVERWRITE,
    [VFS_ACT_CREATE] = RIGHT_WRITE,
    [VFS_ACT_REPLACE] = RIGHT_OVERWRITE,
    [VFS_ACT_EXTEND] = RIGHT_APPEND | RIGHT_OVERWRITE,
    [VFS_ACT_MKDIR] = RIGHT_MKDIR,
    [VFS_ACT_REMOVE] = RIGHT_DELETE,
    [VFS_ACT_RENAME] = RIGHT_RENAME,
    [VFS_ACT_SETATTR] = RIGHT_SETATTR,
    [VFS_ACT_LINK] = RIGHT_LINK,
};
_Static_assert(ARRAY_LEN(needs_any) == VFS_ACT_COUNT, "every act has its rights");

int vfs_act_check(unsigned allowed, enum vfs_act act)
{
    return allowed & needs_any[act] ? 0 : -FERRY_ERIGHTS;
}

int vfs_check(const struct vfs *v, const struct vpath *path, enum vfs_act act)
{
    return vfs_act_check(vfs_rights_at(v, path), act);
}

struct pool_shares vfs_shares_ref(const struct pool_shares *s)
{
    return (struct pool_shares){
        .session = pool_share_ref(s->session),
        .account = pool_share_ref(s->account),
        .root = pool_share_ref(s->root),
    };
}

void vfs_shares_unref(struct pool_shares *s)
{
    pool_share_unref(s->session);
    pool_share_unref(s->account);
    pool_share_unref(s->root);
    *s = (struct pool_shares){0};
}

int vfs_new(struct vroot *root, const struct rights *rights, const struct vfs_policy *policy,
            struct quota *quota, struct pool *pool, const struct pool_shares *shares,
            struct vfs **ret)
{
    struct pool_shares all = shares ? *shares : (struct pool_shares){0};
    if (!all.root) {
        int r = vroot_share(root, pool, &all.root);
        if (r < 0)
            return r;
    }
    struct vfs *v = mem_new(sizeof(*v));
    if (!v)
        return -ENOMEM;
    v->root = vroot_ref(root);
    v->rights = rights;
    v->policy = policy;
    v->quota = quota_ref(quota);
    v->pool = pool;
    v->shares = vfs_shares_ref(&all);
    *ret = v;
    return 0;
}

struct vfs *vfs_free(struct vfs *v)
{
    if (!v)
        return NULL;
    vroot_unref(v->root);
    quota_unref(v->quota);
    vfs_shares_unref(&v->shares);
    mem_free(v);
    return NULL;
}

unsigned vfs_rights_at(const struct vfs *v, const struct vpath *path)
{
    return rights_at(v->rights, vpath_bytes(path));
}

unsigned vfs_rights_at_name(const struct vfs *v, const struct vpath *directory,
                            struct bytes name)
{
    return rights_at_name(v->rights, vpath_bytes(directory), name);
}

mode_t vfs_mode_mask(const struct vfs *v)
{
    return v->policy->directory_mode;
}
