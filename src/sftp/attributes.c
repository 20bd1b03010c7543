/* STAT and its kin, SETSTAT and its kin, statvfs. */
#include <errno.h>

#include "base/err.h"
#include "sftp/internal.h"

/* -- asking -- */

/* The facts of a path, or of the upload that is to become it. */
static PARKS int stat_path(struct sftp_server *s, struct bytes name, bool follow,
                           struct vstat *ret)
{
    struct vpath path;
    int r = sftp_path(s, name, &path);
    if (r < 0)
        return r;
    struct sftp_open *hidden = sftp_open_hidden(s, &path);
    r = hidden != NULL ? vhandle_stat(hidden->file, ret)
                       : vfs_stat(s->session->vfs, &path, follow, ret);
    vpath_done(&path);
    return r;
}

static PARKS int say_stat(struct sftp_server *s, uint32_t id, int r, const struct vstat *stat)
{
    return r < 0 ? sftp_say_result(s, id, r) : sftp_say_attributes(s, id, stat);
}

int sftp_on_stat(struct sftp_server *s, const struct sftp_request *q)
{
    struct vstat stat;
    int r = stat_path(s, q->path, true, &stat);
    return say_stat(s, q->id, r, &stat);
}

int sftp_on_lstat(struct sftp_server *s, const struct sftp_request *q)
{
    struct vstat stat;
    int r = stat_path(s, q->path, false, &stat);
    return say_stat(s, q->id, r, &stat);
}

int sftp_on_fstat(struct sftp_server *s, const struct sftp_request *q)
{
    struct vstat stat;
    struct sftp_open *open = sftp_open_find(s, q->handle);
    int r = -EBADF;
    if (open != NULL && open->file != NULL)
        r = vhandle_stat(open->file, &stat);
    else if (open != NULL)
        r = vfs_stat(s->session->vfs, &open->path, true, &stat);
    return say_stat(s, q->id, r, &stat);
}

/* -- setting -- */

/* Ownership is not ours to give: clients that copy it along are not told of a failure. Of a
 * mode only the permissions are taken. */
static struct vattr vattr_of(const struct sftp_attributes *a)
{
    return (struct vattr){
        .has_size = (a->has & SFTP_ATTR_SIZE) != 0,
        .has_mode = (a->has & SFTP_ATTR_MODE) != 0,
        .has_times = (a->has & SFTP_ATTR_TIMES) != 0,
        .size_bytes = a->size_bytes,
        .mode = a->mode & 0777,
        .atime_us = (int64_t)a->atime_s * (int64_t)USEC_PER_S,
        .mtime_us = (int64_t)a->mtime_s * (int64_t)USEC_PER_S,
    };
}

static const char *operation_of(const struct vattr *a)
{
    return a->has_size ? "truncate" : a->has_mode ? "chmod" : "mtime";
}

static bool sets_nothing(const struct vattr *a)
{
    return !a->has_size && !a->has_mode && !a->has_times;
}

/* What is known of its length is no more. */
static int set_handle(struct sftp_open *open, const struct vattr *a)
{
    if (a->has_size)
        open->size_bytes = SFTP_SIZE_UNKNOWN;
    return a->has_size && a->size_bytes > INT64_MAX ? -EFBIG : vhandle_set(open->file, a);
}

static PARKS int set_path(struct sftp_server *s, const struct sftp_request *q, bool follow)
{
    const struct vattr a = vattr_of(&q->attributes);
    struct vpath path;
    int r = sftp_path(s, q->path, &path);
    if (r < 0)
        return sftp_say_result(s, q->id, r);
    struct sftp_open *hidden = sftp_open_hidden(s, &path);
    struct vstat stat;
    if (hidden != NULL)
        r = sets_nothing(&a) ? 0 : set_handle(hidden, &a);
    else if (sets_nothing(&a))
        r = vfs_stat(s->session->vfs, &path, follow, &stat);
    else if (a.has_size && a.size_bytes > INT64_MAX)
        r = -EFBIG;
    else
        r = vfs_set(s->session->vfs, &path, follow, &a);
    if (!sets_nothing(&a))
        sftp_audit(s, operation_of(&a), &path, NULL, r);
    vpath_done(&path);
    return sftp_say_result(s, q->id, r);
}

int sftp_on_setstat(struct sftp_server *s, const struct sftp_request *q)
{
    return set_path(s, q, true);
}

int sftp_on_lsetstat(struct sftp_server *s, const struct sftp_request *q)
{
    return set_path(s, q, false);
}

int sftp_on_fsetstat(struct sftp_server *s, const struct sftp_request *q)
{
    const struct vattr a = vattr_of(&q->attributes);
    struct sftp_open *open = sftp_open_find(s, q->handle);
    if (open == NULL)
        return sftp_say_result(s, q->id, -EBADF);
    if (sets_nothing(&a))
        return sftp_say_result(s, q->id, 0);
    int r = open->file != NULL ? set_handle(open, &a)
                               : vfs_set(s->session->vfs, &open->path, true, &a);
    sftp_audit(s, operation_of(&a), &open->path, NULL, r);
    return sftp_say_result(s, q->id, r);
}

/* -- statvfs@openssh.com -- */

static PARKS int say_space(struct sftp_server *s, uint32_t id, const struct vpath *path)
{
    struct vspace space;
    int r = vfs_space(s->session->vfs, path, &space);
    if (r < 0)
        return sftp_say_result(s, id, r);
    const struct sftp_space answer = {
        .block_bytes = space.block_bytes,
        .fragment_bytes = space.block_bytes,
        .blocks = space.blocks,
        .blocks_free = space.blocks_free,
        .blocks_available = space.blocks_available,
        .files = space.files,
        .files_free = space.files_free,
        .files_available = space.files_free,
        .id = space.id,
        .flags = SFTP_SPACE_NO_SETUID | (space.read_only ? SFTP_SPACE_READ_ONLY : 0u),
        .name_max = space.name_max,
    };
    uint8_t data[SFTP_SMALL_ANSWER];
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    sftp_put_space(&w, id, &answer);
    return sftp_say(s, &w);
}

int sftp_on_statvfs(struct sftp_server *s, const struct sftp_request *q)
{
    struct vpath path;
    int r = sftp_path(s, q->path, &path);
    if (r < 0)
        return sftp_say_result(s, q->id, r);
    r = say_space(s, q->id, &path);
    vpath_done(&path);
    return r;
}

int sftp_on_fstatvfs(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open = sftp_open_find(s, q->handle);
    if (open == NULL)
        return sftp_say_result(s, q->id, -EBADF);
    struct vpath path;
    int r = vpath_copy(&open->path, &path);
    if (r == 0 && open->file != NULL && vhandle_is_hidden(open->file))
        path.len = vpath_parent(&path).len; /* it has no name yet, but its folder has */
    if (r < 0)
        return sftp_say_result(s, q->id, r);
    path.text[path.len] = '\0';
    r = say_space(s, q->id, &path);
    vpath_done(&path);
    return r;
}
