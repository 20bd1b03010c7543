/* tar c: a walk through the tree into an archive. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "tar/internal.h"
#include "tar/writer.h"
#include "vfs/walk.h"

/* -- entries -- */

/* Where a walk is, and how its names are told. */
struct tree {
    struct tar *tar;
    struct tar_writer writer;
    const char *name; /* as it was asked for */
    size_t path_len;  /* of the path that it stands for, which its names replace */
    char told[2 * PATH_LEN_MAX + 2];
};

static const char *tell(struct tree *k, struct bytes path)
{
    struct bytes rest = bytes_skip(path, k->path_len > 1 ? k->path_len : 0);
    if (rest.len == 1) /* the root */
        rest.len = 0;
    size_t len = text_copy(k->told, PATH_LEN_MAX + 1, bytes_str(k->name));
    while (len > 0 && k->told[len - 1] == '/')
        len--;
    (void)text_copy(k->told + len, sizeof(k->told) - len, rest);
    return k->told;
}

static PARKS int begin(struct tree *k, const char *name, const struct vstat *stat,
                       enum tar_member_kind kind, const char *target)
{
    const struct tar_member member = {
        .kind = kind,
        .name = name,
        .target = target,
        .mode = stat->mode,
        .uid = stat->uid,
        .gid = stat->gid,
        .mtime_us = stat->mtime_us,
        .size_bytes = stat->size_bytes,
    };
    int r = tar_writer_begin(&k->writer, &member);
    return r == -ENAMETOOLONG ? tar_complain(k->tar, name, r) : r;
}

static PARKS int write_contents(struct tree *k, struct vfile *file, struct bytes path)
{
    struct tar *t = k->tar;
    struct xfer_progress progress = {0};
    struct xfer_result moved = {0};
    uint64_t size = vfile_stat(file)->size_bytes;
    const struct tar_watch *watch = t->request->watch;
    void *arg = t->request->watch_arg;
    const struct xfer_request request = watch->begin(arg, size, &progress);
    int r = size > 0 ? xfer_send(file, &k->writer.contents, &request, &moved) : 0;
    watch->end(arg, &progress);
    watch->moved(arg, "download", path, &moved, r);
    if (k->writer.error < 0)
        return k->writer.error;
    int finished = tar_writer_finish(&k->writer);
    if (finished < 0)
        return finished;
    return r < 0 ? tar_complain(t, k->told, r) : 0; /* the rest is filled up with zeros */
}

static PARKS int add_file(struct tree *k, const struct vpath *path)
{
    struct vfile *file;
    const char *name = tell(k, vpath_bytes(path));
    int r = vfs_open(k->tar->request->vfs, path, &file);
    if (r == -EISDIR)
        return r;
    if (r < 0)
        return tar_complain(k->tar, name, r);
    r = begin(k, name, vfile_stat(file), TAR_MEMBER_FILE, NULL);
    if (r == 0)
        r = write_contents(k, file, vpath_bytes(path));
    (void)vfile_close(file);
    return r;
}

static PARKS int add_link(struct tree *k, const struct vpath *path, const struct vstat *stat)
{
    struct tar *t = k->tar;
    const char *name = tell(k, vpath_bytes(path));
    int r = vfs_readlink(t->request->vfs, path, t->text, sizeof(t->text));
    if (r < 0)
        return tar_complain(t, name, r);
    return begin(k, name, stat, TAR_MEMBER_LINK, t->text);
}

static PARKS int add_entry(struct tree *k, struct bytes at, const struct vstat *stat)
{
    struct vpath path;
    int r = vpath_parse(BYTES_LIT("/"), at, &path);
    if (r < 0)
        return tar_complain(k->tar, tell(k, at), r);
    if (stat->kind == VSTAT_FILE)
        r = add_file(k, &path);
    else if (stat->kind == VSTAT_LINK)
        r = add_link(k, &path, stat);
    else
        r = -FERRY_ENOTREG;
    vpath_done(&path);
    return r == -EISDIR || r == -FERRY_ENOTREG ? tar_complain(k->tar, tell(k, at), r) : r;
}

static PARKS int take_step(struct tree *k, const struct vwalk_step *step)
{
    switch (step->kind) {
    case VWALK_ENTER:
        return begin(k, tell(k, step->path), &step->stat, TAR_MEMBER_DIRECTORY, NULL);
    case VWALK_ENTRY:
        return add_entry(k, step->path, &step->stat);
    case VWALK_LEAVE:
        return 0;
    case VWALK_FAILED:
        break;
    }
    return tar_complain(k->tar, tell(k, step->path), step->error);
}

static PARKS int add_tree(struct tree *k, const struct vpath *top)
{
    struct vwalk *w;
    struct vwalk_step step;
    int r = vwalk_new(k->tar->request->vfs, top, &w);
    if (r < 0)
        return tar_complain(k->tar, k->name, r);
    while ((r = vwalk_next(w, &step)) > 0) {
        r = take_step(k, &step);
        if (r < 0)
            break;
    }
    vwalk_free(w);
    return r;
}

/* Absolute names, and those with "..", are told as what they stand for. */
static bool is_told_as_it_is(struct bytes name)
{
    if (name.len > 0 && name.data[0] == '/')
        return false;
    while (name.len > 0)
        if (bytes_equal(bytes_take_until(&name, '/'), BYTES_LIT("..")))
            return false;
    return true;
}

static PARKS int add_named(struct tree *k, struct bytes name)
{
    struct tar *t = k->tar;
    struct vpath path;
    struct vstat stat;
    k->name = (const char *)name.data;
    int r = vpath_parse(vpath_bytes(t->request->directory), name, &path);
    if (r < 0)
        return tar_complain(t, k->name, r);
    if (!is_told_as_it_is(name))
        k->name = vpath_relative(&path);
    k->path_len = path.len;
    r = vfs_stat(t->request->vfs, &path, false, &stat);
    if (r < 0)
        r = tar_complain(t, k->name, r);
    else if (stat.kind == VSTAT_DIRECTORY)
        r = add_tree(k, &path);
    else
        r = add_entry(k, vpath_bytes(&path), &stat);
    vpath_done(&path);
    return r;
}

static PARKS int create(struct tar *t)
{
    struct bytes names = t->request->names;
    struct tree *k = mem_new(sizeof(*k));
    if (k == NULL)
        return -ENOMEM;
    k->tar = t;
    const struct tar_packing packing = {.filter = t->request->filter, .level = COMPRESS_AUTO};
    int r = tar_writer_open(&k->writer, t->request->stream, &packing);
    while (r == 0 && names.len > 0)
        r = add_named(k, bytes_take_until(&names, '\0'));
    r = tar_writer_close(&k->writer, r);
    mem_free(k);
    return r;
}

int tar_create(const struct tar_request *request)
{
    return tar_run(request, create);
}
