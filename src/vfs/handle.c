/* Handles: one that writes is an upload with a hand in its middle, one that reads a vfile. */
#include "vfs/handle.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/upload.h"

struct vhandle {
    struct vfs *vfs;
    struct vpath path;
    struct vfile *file;     /* a reference of its own */
    struct vupload *upload; /* NULL: it only reads, or its upload was left behind */
    struct vhandle_request how;
    uint64_t end; /* behind the last byte that was reserved, or that is there */
    bool is_lost; /* something that was reserved was not written */
};

/* -- open -- */

static void free_handle(struct vhandle *h)
{
    vfile_unref(h->file);
    vpath_done(&h->path);
    mem_free(h);
}

static PARKS int open_for_writing(struct vhandle *h)
{
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE};
    int r = upload_begin(h->vfs, &h->path, &request, &h->how, &h->upload);
    if (r < 0)
        return r;
    h->upload->sound_end = 0;
    h->file = vfile_ref(h->upload->file);
    h->end = h->upload->offset;
    return 0;
}

static PARKS int open_handle(struct vhandle *h)
{
    int r = h->how.reads ? vfs_check(h->vfs, &h->path, VFS_ACT_READ) : 0;
    if (r < 0)
        return r;
    return h->how.writes ? open_for_writing(h) : vfs_open(h->vfs, &h->path, &h->file);
}

int vfs_handle_open(struct vfs *v, const struct vpath *path,
                    const struct vhandle_request *request, struct vhandle **ret)
{
    bool changes = request->create || request->truncate || request->append;
    if (!request->writes && (changes || !request->reads))
        return -EINVAL;
    struct vhandle *h = mem_new(sizeof(*h));
    if (!h)
        return -ENOMEM;
    h->vfs = v;
    h->how = *request;
    h->how.exclusive = request->exclusive && request->create; /* as open(2) */
    int r = vpath_copy(path, &h->path);
    if (r == 0)
        r = open_handle(h);
    if (r < 0) {
        free_handle(h);
        return r;
    }
    *ret = h;
    return 0;
}

struct vfile *vhandle_file(struct vhandle *h)
{
    return h->file;
}

bool vhandle_is_hidden(const struct vhandle *h)
{
    return h->upload && h->upload->temp[0];
}

/* -- writing -- */

/* A change that begins there. */
static int check_change(const struct vhandle *h, uint64_t offset)
{
    const struct vupload *u = h->upload;
    if (!h->how.writes)
        return -EBADF;
    if (!u)
        return -ECANCELED;
    if (!u->keeps_old)
        return 0;
    return vfs_act_check(u->allowed, offset < u->offset ? VFS_ACT_REPLACE : VFS_ACT_EXTEND);
}

static int take_quota(struct vhandle *h, uint64_t end, size_t len)
{
    struct vupload *u = h->upload;
    if (h->how.append && u->in_place)
        return quota_file_append(u->op.quota, u->in_place, len);
    return vupload_reserve(u, end);
}

int vhandle_reserve(struct vhandle *h, uint64_t *offset, size_t len)
{
    uint64_t at = h->how.append ? h->end : *offset;
    int r = check_change(h, at);
    if (r < 0)
        return r;
    if (at > INT64_MAX || len > INT64_MAX - at)
        return -EFBIG;
    uint64_t end = at + len;
    r = take_quota(h, end, len);
    if (r < 0)
        return r;
    *offset = at;
    if (len == 0)
        return 0;
    if (end > h->end)
        h->end = end;
    if (at <= h->upload->sound_end && end > h->upload->sound_end)
        h->upload->sound_end = end;
    return 0;
}

void vhandle_lost(struct vhandle *h, uint64_t offset)
{
    h->is_lost = true;
    if (h->upload && h->upload->sound_end > offset)
        h->upload->sound_end = offset;
}

/* -- asking: on the loop, in the upload's own operation, or in one that borrows the file -- */

struct ask_op {
    struct op op;
    struct vfile *file;
    struct handle_ask ask;
};

static void drop_ask(struct op *op)
{
    vfile_unref(((struct ask_op *)op)->file);
}

/* What was answered is not what became of the operation. */
static int act_ask(struct op *op)
{
    struct ask_op *o = (struct ask_op *)op;
    o->ask.result = o->ask.answer(o->file, &o->ask);
    return 0;
}

static int act_ask_upload(struct op *op)
{
    struct vupload *u = (struct vupload *)op;
    u->ask.result = u->ask.answer(u->file, &u->ask);
    return 0;
}

static PARKS int ask_file(struct vhandle *h, struct handle_ask *ask)
{
    struct ask_op *o = op_new(h->vfs, sizeof(*o), &h->path, act_ask);
    if (!o)
        return -ENOMEM;
    o->op.drop = drop_ask;
    o->file = vfile_ref(h->file);
    o->ask = *ask;
    int r = op_run(&o->op);
    if (r < 0)
        return r;
    *ask = o->ask;
    op_free(&o->op);
    return ask->result;
}

static PARKS int ask_upload(struct vhandle *h, struct handle_ask *ask)
{
    struct vupload *u = h->upload;
    u->op.act = act_ask_upload;
    u->ask = *ask;
    int r = op_start(&u->op);
    if (r < 0)
        return r;
    h->upload = NULL; /* until it is back */
    r = op_wait(&u->op);
    if (r < 0)
        return r;
    h->upload = u;
    *ask = u->ask;
    return ask->result;
}

static PARKS int ask_handle(struct vhandle *h, struct handle_ask *ask)
{
    if (h->how.writes && !h->upload)
        return -ECANCELED;
    /* a cut gives pages back, which takes the longer the more there are */
    if (vfile_is_in_memory(h->file) && !ask->attr.has_size)
        return ask->answer(h->file, ask);
    return h->upload ? ask_upload(h, ask) : ask_file(h, ask);
}

static int answer_stat(struct vfile *f, struct handle_ask *ask)
{
    return sys_fstat(vfile_fd(f), &ask->st);
}

int vhandle_stat(struct vhandle *h, struct vstat *ret)
{
    struct handle_ask ask = {.answer = answer_stat};
    int r = ask_handle(h, &ask);
    if (r == 0)
        vstat_from(&ask.st, ret);
    return r;
}

static int answer_sync(struct vfile *f, struct handle_ask *ask)
{
    (void)ask;
    return sys_fsync(vfile_fd(f));
}

int vhandle_sync(struct vhandle *h)
{
    struct handle_ask ask = {.answer = answer_sync};
    return ask_handle(h, &ask);
}

/* -- attributes -- */

static int answer_set(struct vfile *f, struct handle_ask *ask)
{
    if (ask->attr.has_size) {
        vfile_write_begin(f);
        int r = sys_ftruncate(vfile_fd(f), (off_t)ask->attr.size_bytes);
        vfile_write_end(f);
        if (r < 0)
            return r;
        ask->is_cut = true;
    }
    return attr_apply(vfile_fd(f), S_IFREG, &ask->attr);
}

static int check_set(struct vhandle *h, const struct vattr *attr)
{
    int r = 0;
    if (attr->has_mode || attr->has_times)
        r = vfs_check(h->vfs, &h->path, VFS_ACT_SETATTR);
    if (r < 0 || !attr->has_size)
        return r;
    if (attr->size_bytes > INT64_MAX)
        return -EFBIG;
    r = check_change(h, attr->size_bytes);
    return r < 0 ? r : vupload_reserve(h->upload, attr->size_bytes);
}

static void note_cut(struct vhandle *h, uint64_t size)
{
    h->end = size;
    if (h->upload->sound_end > size)
        h->upload->sound_end = size;
}

/* What a later write, or the end of the upload, would undo. */
static void note_set(struct vupload *u, const struct vattr *attr)
{
    u->set.has_mode |= attr->has_mode;
    if (attr->has_times) {
        u->set.has_times = true;
        u->set.atime_us = attr->atime_us;
        u->set.mtime_us = attr->mtime_us;
    }
}

int vhandle_set(struct vhandle *h, const struct vattr *attr)
{
    int r = check_set(h, attr);
    if (r < 0)
        return r;
    struct handle_ask ask = {.answer = answer_set, .attr = *attr};
    r = ask_handle(h, &ask);
    if (ask.is_cut)
        note_cut(h, attr->size_bytes);
    if (r == 0 && h->upload)
        note_set(h->upload, attr);
    return r;
}

/* -- close -- */

static PARKS int end_upload(struct vhandle *h, bool keep)
{
    struct vupload *u = h->upload;
    bool is_hidden = vhandle_is_hidden(h);
    if (keep && !(is_hidden && h->is_lost))
        return vupload_commit(u, is_hidden ? h->end : UPLOAD_END_UNKNOWN);
    vupload_break(u, u->sound_end);
    return keep ? -EIO : 0;
}

int vhandle_close(struct vhandle *h, bool keep)
{
    int r = h->how.writes && !h->upload ? -ECANCELED : 0;
    if (h->upload) {
        vfile_unref(h->file); /* the upload has another */
        h->file = NULL;
        r = end_upload(h, keep);
    }
    free_handle(h);
    return r;
}

struct vhandle *vhandle_free(struct vhandle *h)
{
    if (!h)
        return NULL;
    if (h->upload)
        op_free(&h->upload->op);
    free_handle(h);
    return NULL;
}
