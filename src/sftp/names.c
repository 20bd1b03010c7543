/* What acts on names: making, removing, renaming, links, and where a path leads. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "sftp/internal.h"

int sftp_path(const struct sftp_server *s, struct bytes name, struct vpath *ret)
{
    return vpath_parse(vpath_bytes(&s->start), name, ret);
}

void sftp_audit(const struct sftp_server *s, const char *operation, const struct vpath *path,
                const struct vpath *to, int result)
{
    session_audit(s->session, &(struct audit){
                                  .operation = operation,
                                  .path = vpath_bytes(path),
                                  .to = to != NULL ? vpath_bytes(to) : BYTES_NONE,
                                  .result = result,
                              });
}

/* -- acts on one name -- */

static PARKS int act_on(struct sftp_server *s, const struct sftp_request *q,
                        const char *operation, int (*act)(struct vfs *, const struct vpath *))
{
    struct vpath path;
    int r = sftp_path(s, q->path, &path);
    if (r == 0) {
        r = act(s->session->vfs, &path);
        sftp_audit(s, operation, &path, NULL, r);
        vpath_done(&path);
    }
    return sftp_say_result(s, q->id, r);
}

int sftp_on_remove(struct sftp_server *s, const struct sftp_request *q)
{
    return act_on(s, q, "delete", vfs_unlink);
}

/* The mode is the policy's: clients send 0777 and count on a umask. */
int sftp_on_mkdir(struct sftp_server *s, const struct sftp_request *q)
{
    return act_on(s, q, "mkdir", vfs_mkdir);
}

int sftp_on_rmdir(struct sftp_server *s, const struct sftp_request *q)
{
    return act_on(s, q, "rmdir", vfs_rmdir);
}

/* -- acts on two -- */

static PARKS int
act_on_both(struct sftp_server *s, const struct sftp_request *q, const char *operation,
            int (*act)(struct vfs *, const struct vpath *, const struct vpath *))
{
    struct vpath from, to;
    int r = sftp_path(s, q->path, &from);
    if (r < 0)
        return sftp_say_result(s, q->id, r);
    r = sftp_path(s, q->to, &to);
    if (r == 0) {
        r = act(s->session->vfs, &from, &to);
        sftp_audit(s, operation, &from, &to, r);
        vpath_done(&to);
    }
    vpath_done(&from);
    return sftp_say_result(s, q->id, r);
}

int sftp_on_rename(struct sftp_server *s, const struct sftp_request *q)
{
    return act_on_both(s, q, "rename", vfs_rename_new);
}

int sftp_on_posix_rename(struct sftp_server *s, const struct sftp_request *q)
{
    return act_on_both(s, q, "rename", vfs_rename);
}

int sftp_on_hardlink(struct sftp_server *s, const struct sftp_request *q)
{
    return act_on_both(s, q, "link", vfs_link);
}

/* -- symbolic links -- */

static int check_target(struct bytes target)
{
    size_t at;
    if (target.len == 0)
        return -ENOENT;
    if (target.len > PATH_LEN_MAX)
        return -ENAMETOOLONG;
    return bytes_find(target, '\0', &at) ? -FERRY_EBADNAME : 0;
}

int sftp_on_symlink(struct sftp_server *s, const struct sftp_request *q)
{
    struct vpath link;
    int r = check_target(q->path);
    if (r == 0)
        r = sftp_path(s, q->to, &link);
    if (r == 0) {
        r = vfs_symlink(s->session->vfs, q->path, &link);
        sftp_audit(s, "symlink", &link, NULL, r);
        vpath_done(&link);
    }
    return sftp_say_result(s, q->id, r);
}

int sftp_on_readlink(struct sftp_server *s, const struct sftp_request *q)
{
    struct vpath path;
    struct buf target;
    buf_init(&target, PATH_LEN_MAX + 1);
    int r = sftp_path(s, q->path, &path);
    if (r < 0)
        return sftp_say_result(s, q->id, r);
    r = buf_reserve(&target, PATH_LEN_MAX + 1);
    if (r == 0)
        r = vfs_readlink(s->session->vfs, &path, (char *)target.data, PATH_LEN_MAX + 1);
    vpath_done(&path);
    r = r < 0 ? sftp_say_result(s, q->id, r)
              : sftp_say_name(s, q->id, bytes_str((const char *)target.data));
    buf_done(&target);
    return r;
}

/* -- where a path leads: names alone, nothing is looked up -- */

static PARKS int say_path(struct sftp_server *s, uint32_t id, struct bytes name)
{
    struct vpath path;
    int r = sftp_path(s, name, &path);
    if (r < 0)
        return sftp_say_result(s, id, r);
    r = sftp_say_name(s, id, vpath_bytes(&path));
    vpath_done(&path);
    return r;
}

int sftp_on_realpath(struct sftp_server *s, const struct sftp_request *q)
{
    return say_path(s, q->id, q->path);
}

/* "~" and "~/" are the start directory; other users have none here. */
int sftp_on_expand_path(struct sftp_server *s, const struct sftp_request *q)
{
    if (!bytes_start_with(q->path, BYTES_LIT("~")))
        return say_path(s, q->id, q->path);
    struct bytes rest = bytes_skip(q->path, 1);
    if (rest.len > 0 && rest.data[0] != '/')
        return sftp_say_status(s, q->id, SFTP_FAILURE, "no such user here");
    while (rest.len > 0 && rest.data[0] == '/')
        rest = bytes_skip(rest, 1);
    return say_path(s, q->id, rest);
}

int sftp_on_home_directory(struct sftp_server *s, const struct sftp_request *q)
{
    const struct account *a = s->session->account;
    bool is_own = q->path.len == 0 || (a != NULL && bytes_equal(q->path, bytes_str(a->name)));
    if (!is_own)
        return sftp_say_status(s, q->id, SFTP_FAILURE, "no such user here");
    return say_path(s, q->id, BYTES_NONE);
}
