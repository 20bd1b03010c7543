#include "vfs/upload.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"
#include "task/task.h"

#define UNIQUE_TRIES 9999 /* suffixes of one name in one directory */

static struct vupload *upload_of(struct job *j)
{
    return LIST_ENTRY(j, struct vupload, op.job);
}

void upload_leave_dir(struct vupload *u)
{
    if (u->dir != u->op.root->tree.fd)
        sys_close(u->dir);
    u->dir = -1;
}

static void drop_upload(struct op *op)
{
    struct vupload *u = (struct vupload *)op;
    upload_leave_dir(u);
    sys_close(u->made_fd);
    vfile_unref(u->file);
    vpath_done(&u->path);
}

static void free_upload(struct job *j)
{
    struct vupload *u = upload_of(j);
    if (u->is_open) {
        /* nobody took it, or its end was left behind before it ran */
        u->op.act = upload_act_break;
        u->written_end = u->sound_end;
        if (job_post(u->op.pool, &u->op.job, &u->op.shares) == 0)
            return;
    }
    op_release(&u->op);
}

int upload_access(const struct vupload *u)
{
    return (u->how.reads ? O_RDWR : O_WRONLY) | (u->how.append ? O_APPEND : 0);
}

mode_t upload_mode(const struct vupload *u)
{
    return u->how.mode ? u->how.mode & 0777 : u->policy.file_mode;
}

static int make(struct vfs *v, const struct vpath *path, const struct vupload_request *request,
                const struct vhandle_request *how, struct vupload **ret)
{
    if (vpath_is_root(path))
        return -EISDIR;
    int r = vfs_check(v, path, VFS_ACT_UPLOAD);
    if (r < 0)
        return r;
    struct vupload *u = op_new(v, sizeof(*u), path, upload_act_begin);
    if (!u)
        return -ENOMEM;
    u->op.drop = drop_upload;
    u->op.job.free = free_upload;
    u->request = *request;
    u->how = *how;
    u->policy = *v->policy;
    u->allowed = vfs_rights_at(v, path);
    u->dir = u->made_fd = -1;
    u->sound_end = UPLOAD_END_UNKNOWN;
    u->file = vfile_new(v->root, v->pool, &v->shares);
    r = u->file ? vpath_copy(path, &u->path) : -ENOMEM;
    if (r < 0) {
        op_free(&u->op);
        return r;
    }
    *ret = u;
    return 0;
}

int upload_begin(struct vfs *v, const struct vpath *path, const struct vupload_request *request,
                 const struct vhandle_request *how, struct vupload **ret)
{
    struct vupload *u;
    int r = make(v, path, request, how, &u);
    if (r < 0)
        return r;
    r = upload_begin_here(u);
    if (r == -EAGAIN)
        r = op_run(&u->op);
    if (r < 0)
        return r;
    *ret = u;
    return 0;
}

static struct vhandle_request new_file(mode_t mode)
{
    return (struct vhandle_request){
        .writes = true, .create = true, .truncate = true, .mode = mode};
}

int upload_new(struct vfs *v, const struct vpath *path, const struct vupload_request *request,
               struct vupload **ret)
{
    const struct vhandle_request how = new_file(request->mode);
    return make(v, path, request, &how, ret);
}

int vfs_upload_begin(struct vfs *v, const struct vpath *path,
                     const struct vupload_request *request, struct vupload **ret)
{
    const struct vhandle_request how = new_file(request->mode);
    return upload_begin(v, path, request, &how, ret);
}

struct vfile *vupload_file(struct vupload *u)
{
    return u->file;
}

uint64_t vupload_offset(const struct vupload *u)
{
    return u->offset;
}

const struct vpath *vupload_path(const struct vupload *u)
{
    return &u->path;
}

bool vupload_replaces(const struct vupload *u)
{
    return u->temp[0] && !u->took_file;
}

int vupload_reserve(struct vupload *u, uint64_t end_offset)
{
    if (u->in_place)
        return quota_file_grow(u->op.quota, u->in_place, end_offset);
    if (end_offset <= u->counted)
        return 0;
    int r = quota_take(u->op.quota, end_offset - u->counted, 0);
    if (r == 0)
        u->counted = end_offset;
    return r;
}

int vupload_commit(struct vupload *u, uint64_t written_end)
{
    u->op.act = upload_act_commit;
    u->written_end = written_end;
    if (task_is_cancelled() || upload_commit_here(u) < 0)
        return op_finish(&u->op);
    op_free(&u->op);
    return 0;
}

void vupload_break(struct vupload *u, uint64_t written_end)
{
    u->op.act = upload_act_break;
    u->written_end = written_end;
    int r = op_finish(&u->op);
    (void)r; /* whatever it was, nobody is left to be told */
}

int upload_each_name(struct vupload *u, int (*attempt)(struct vupload *))
{
    size_t len = strlen(u->leaf), left = sizeof(u->leaf) - len;
    int r = attempt(u);
    for (unsigned i = 1; r == -EEXIST && i <= UNIQUE_TRIES; i++) {
        int n = snprintf(u->leaf + len, left, ".%u", i);
        r = n > 0 && (size_t)n < left ? attempt(u) : -ENAMETOOLONG;
    }
    return r;
}
