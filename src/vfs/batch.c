#include "vfs/batch.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/names.h"
#include "vfs/upload.h"

struct entry {
    struct vbatch_item item;
    bool is_over;  /* result holds */
    bool insists;  /* its parents are as they are */
    bool may_set;  /* mode and times */
    size_t offset; /* of its contents */
    struct vattr attr;
    struct vupload *upload; /* of a file, until it is over */
    char *path;             /* of a directory, relative */
};

struct vbatch {
    struct op op; /* first */
    struct vfs *vfs;
    mode_t directory_mode;
    unsigned max, count, done; /* done: index of the next */
    size_t used;
    struct entry entries[VBATCH_ITEMS_MAX];
    uint8_t contents[VBATCH_BYTES];
};

/* -- in the pool -- */

static int write_contents(struct vupload *u, const uint8_t *data, size_t len)
{
    uint64_t at = 0;
    int r = vupload_reserve(u, len);
    while (r == 0 && at < len) {
        const struct iovec piece = {(void *)(uintptr_t)(data + at), len - (size_t)at};
        ssize_t n = sys_pwritev(vfile_fd(u->file), &piece, 1, (off_t)at);
        if (n <= 0)
            r = n < 0 ? (int)n : -EIO;
        else
            at += (uint64_t)n;
    }
    return r;
}

/* The commit then leaves the mode as it is. */
static int set_attr(const struct entry *e, struct vupload *u)
{
    bool sets = e->attr.has_mode || e->attr.has_times;
    if (!sets)
        return 0;
    int r = e->may_set ? attr_apply(vfile_fd(u->file), S_IFREG, &e->attr) : -FERRY_ERIGHTS;
    u->set.has_mode = r == 0 && e->attr.has_mode;
    return r;
}

static int make_file(struct vbatch *b, struct entry *e)
{
    struct vupload *u = e->upload;
    int r = upload_act_begin(&u->op);
    if (r < 0)
        return r;
    u->written_end = e->item.len;
    r = write_contents(u, b->contents + e->offset, e->item.len);
    if (r < 0) {
        upload_undo(u, false); /* half of it is of no use to anybody */
        return r;
    }
    e->item.set_result = set_attr(e, u);
    return upload_act_commit(&u->op);
}

static int make_directory(struct vbatch *b, struct entry *e)
{
    struct stat st;
    const struct beneath *tree = &b->op.root->tree;
    int r = names_mkdir(tree, b->op.quota, e->path, b->directory_mode);
    e->item.is_new = r == 0;
    if (r != -EEXIST)
        return r;
    r = beneath_stat(tree, e->path, false, &st);
    return r == 0 && !S_ISDIR(st.st_mode) ? -ENOTDIR : r;
}

static void forget(struct entry *e)
{
    if (e->upload != NULL)
        op_free(&e->upload->op);
    e->upload = NULL;
    mem_free(e->path);
    e->path = NULL;
}

/* Nothing was begun. */
static bool lacks_parent(const struct entry *e)
{
    return e->upload == NULL || e->upload->dir < 0;
}

static int act_batch(struct op *op)
{
    struct vbatch *b = (struct vbatch *)op;
    for (; b->done < b->count; b->done++) {
        struct entry *e = &b->entries[b->done];
        if (e->is_over)
            continue;
        int r = e->item.kind == VBATCH_FILE ? make_file(b, e) : make_directory(b, e);
        if (r == -ENOENT && !e->insists && lacks_parent(e))
            return 0;
        e->item.result = r < 0 ? r : 0;
        e->is_over = true;
        forget(e); /* with it a descriptor of its directory */
    }
    return 0;
}

/* -- on the loop -- */

static void drop_batch(struct op *op)
{
    struct vbatch *b = (struct vbatch *)op;
    for (unsigned i = 0; i < b->count; i++)
        forget(&b->entries[i]);
}

struct vbatch *vbatch_new(struct vfs *v)
{
    static const char root[] = "/";
    const struct vpath none = {(char *)(uintptr_t)root, 1};
    struct vbatch *b = op_new(v, sizeof(*b), &none, act_batch);
    if (b == NULL)
        return NULL;
    b->op.drop = drop_batch;
    b->vfs = v;
    b->directory_mode = v->policy->directory_mode;
    b->max = v->policy->sync == VFS_SYNC_FILE ? VBATCH_SYNCED : VBATCH_ITEMS_MAX;
    return b;
}

bool vbatch_has_room(const struct vbatch *b, size_t len)
{
    return b->count < b->max && len <= VBATCH_BYTES - b->used;
}

uint8_t *vbatch_contents(struct vbatch *b)
{
    return b->contents + b->used;
}

unsigned vbatch_count(const struct vbatch *b)
{
    return b->count;
}

static struct entry *begin_entry(struct vbatch *b, enum vbatch_kind kind)
{
    struct entry *e = &b->entries[b->count];
    *e = (struct entry){.item.kind = kind};
    return e;
}

/* What is known before it is tried. */
static void refuse(struct entry *e, int result)
{
    e->item.result = result;
    e->is_over = true;
}

int vbatch_add_file(struct vbatch *b, const struct vpath *path,
                    const struct vupload_request *request, const struct vattr *attr, size_t len)
{
    struct entry *e = begin_entry(b, VBATCH_FILE);
    int r = upload_new(b->vfs, path, request, &e->upload);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        refuse(e, r);
    e->attr = *attr;
    e->may_set = vfs_check(b->vfs, path, VFS_ACT_SETATTR) == 0;
    e->offset = b->used;
    e->item.len = len;
    b->used += len;
    b->count++;
    return 0;
}

int vbatch_add_directory(struct vbatch *b, const struct vpath *path)
{
    struct entry *e = begin_entry(b, VBATCH_DIRECTORY);
    int r = vpath_is_root(path) ? 0 : vfs_check(b->vfs, path, VFS_ACT_MKDIR);
    if (r < 0 || vpath_is_root(path)) {
        refuse(e, r);
        b->count++;
        return 0;
    }
    e->path = mem_strdup(vpath_relative(path));
    if (e->path == NULL)
        return -ENOMEM;
    b->count++;
    return 0;
}

int vbatch_start(struct vbatch *b)
{
    return op_start(&b->op);
}

int vbatch_wait(struct vbatch *b, unsigned *ret)
{
    int r = op_wait(&b->op);
    if (r < 0)
        return r;
    *ret = b->done;
    return 0;
}

void vbatch_insist(struct vbatch *b, unsigned index)
{
    b->entries[index].insists = true;
}

void vbatch_refuse(struct vbatch *b, unsigned index, int result)
{
    refuse(&b->entries[index], result);
}

const struct vbatch_item *vbatch_item(const struct vbatch *b, unsigned index)
{
    return &b->entries[index].item;
}

void vbatch_clear(struct vbatch *b)
{
    drop_batch(&b->op);
    b->count = b->done = 0;
    b->used = 0;
}

struct vbatch *vbatch_free(struct vbatch *b)
{
    if (b != NULL)
        op_free(&b->op);
    return NULL;
}
