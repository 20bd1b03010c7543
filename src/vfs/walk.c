#include "vfs/walk.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"

struct level {
    size_t path_len;
    size_t names_start, names_at; /* in vwalk.names: its directories that wait */
};

/* Before each name in vwalk.names. */
struct waiting {
    struct vstat stat;
    size_t len;
};

struct vwalk {
    struct vfs *vfs;
    struct vdir *dir; /* of the last level, while it is listed */
    const struct ventry *entries;
    int count, at;
    bool has_begun;
    struct vstat top;
    struct buf names;
    size_t path_len;
    char path[PATH_LEN_MAX + 1];
    unsigned depth;
    struct level levels[WALK_DEPTH_MAX];
};

/* The first len bytes of the path, and a name in it. */
static int set_path(struct vwalk *w, size_t len, struct bytes name)
{
    if (len == 1) /* the root's is all of "/" */
        len = 0;
    if (len + 1 + name.len > PATH_LEN_MAX)
        return -ENAMETOOLONG;
    w->path[len] = '/';
    memcpy(w->path + len + 1, name.data, name.len);
    w->path_len = len + 1 + name.len;
    return 0;
}

static int step(struct vwalk *w, struct vwalk_step *ret, enum vwalk_kind kind)
{
    ret->kind = kind;
    ret->path = bytes_of(w->path, w->path_len);
    return 1;
}

static int fail(struct vwalk *w, struct vwalk_step *ret, int error)
{
    if (error == -ECANCELED || error == -ENOMEM)
        return error;
    ret->error = error;
    return step(w, ret, VWALK_FAILED);
}

static PARKS void close_dir(struct vwalk *w)
{
    w->dir = vdir_close(w->dir);
}

/* -- a directory -- */

static PARKS int enter(struct vwalk *w, const struct vstat *stat, struct vwalk_step *ret)
{
    struct vpath path;
    if (w->depth == WALK_DEPTH_MAX)
        return fail(w, ret, -FERRY_ELIMIT);
    int r = vpath_parse(BYTES_LIT("/"), bytes_of(w->path, w->path_len), &path);
    if (r < 0)
        return fail(w, ret, r);
    r = vfs_dir_open(w->vfs, &path, &w->dir);
    vpath_done(&path);
    if (r < 0)
        return fail(w, ret, r);
    w->count = w->at = 0;
    w->levels[w->depth++] = (struct level){w->path_len, w->names.len, w->names.len};
    ret->stat = *stat;
    return step(w, ret, VWALK_ENTER);
}

static int keep_name(struct vwalk *w, const struct ventry *entry)
{
    const struct waiting waiting = {entry->stat, entry->name_len};
    int r = buf_reserve(&w->names, sizeof(waiting) + entry->name_len);
    if (r == 0)
        r = buf_append(&w->names, &waiting, sizeof(waiting));
    return r < 0 ? r : buf_append(&w->names, entry->name, entry->name_len);
}

/* 0: nothing to tell. */
static int take_entry(struct vwalk *w, const struct ventry *entry, struct vwalk_step *ret)
{
    const struct level *l = &w->levels[w->depth - 1];
    int r = set_path(w, l->path_len, bytes_of(entry->name, entry->name_len));
    if (r == 0 && entry->stat.kind == VSTAT_DIRECTORY) {
        r = keep_name(w, entry);
        if (r == 0)
            return 0;
    }
    if (r < 0)
        return fail(w, ret, r);
    ret->stat = entry->stat;
    ret->target = entry->link_target;
    return step(w, ret, VWALK_ENTRY);
}

/* 0: all was told. */
static PARKS int next_entry(struct vwalk *w, struct vwalk_step *ret)
{
    int r = 0;
    while (r == 0) {
        if (w->at == w->count) {
            w->at = 0;
            w->count = vdir_next(w->dir, &w->entries);
            if (w->count <= 0)
                break;
        }
        r = take_entry(w, &w->entries[w->at++], ret);
    }
    if (r != 0)
        return r;
    int end = w->count;
    close_dir(w);
    w->path_len = w->levels[w->depth - 1].path_len;
    return end < 0 ? fail(w, ret, end) : 0;
}

static PARKS int enter_waiting(struct vwalk *w, struct level *l, struct vwalk_step *ret)
{
    struct waiting next;
    memcpy(&next, w->names.data + l->names_at, sizeof(next));
    const uint8_t *name = w->names.data + l->names_at + sizeof(next);
    l->names_at += sizeof(next) + next.len;
    int r = set_path(w, l->path_len, bytes_of(name, next.len));
    return r < 0 ? fail(w, ret, r) : enter(w, &next.stat, ret);
}

static int leave(struct vwalk *w, struct vwalk_step *ret)
{
    const struct level *l = &w->levels[--w->depth];
    w->names.len = l->names_start;
    w->path_len = l->path_len;
    return step(w, ret, VWALK_LEAVE);
}

/* -- the whole -- */

int vwalk_new(struct vfs *vfs, const struct vpath *top, struct vwalk **ret)
{
    struct vwalk *w = mem_new(sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->vfs = vfs;
    buf_init(&w->names, WALK_NAMES_BYTES);
    memcpy(w->path, top->text, top->len);
    w->path_len = top->len;
    int r = vfs_stat(vfs, top, true, &w->top);
    if (r == 0 && w->top.kind != VSTAT_DIRECTORY)
        r = -ENOTDIR;
    if (r < 0) {
        mem_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

int vwalk_next(struct vwalk *w, struct vwalk_step *ret)
{
    *ret = (struct vwalk_step){.kind = VWALK_FAILED};
    if (!w->has_begun) {
        w->has_begun = true;
        return enter(w, &w->top, ret);
    }
    int r = w->dir ? next_entry(w, ret) : 0;
    if (r != 0 || w->depth == 0)
        return r;
    struct level *l = &w->levels[w->depth - 1];
    return l->names_at < w->names.len ? enter_waiting(w, l, ret) : leave(w, ret);
}

void vwalk_skip(struct vwalk *w)
{
    close_dir(w);
    w->depth--;
}

struct vwalk *vwalk_free(struct vwalk *w)
{
    if (!w)
        return NULL;
    if (w->dir)
        close_dir(w);
    buf_done(&w->names);
    mem_free(w);
    return NULL;
}
