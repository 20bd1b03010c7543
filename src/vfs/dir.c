#include <dirent.h>
#include <errno.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/job.h"

/* What one getdents64() may return; names beyond a batch wait here for the next. */
#define RAW_BYTES (32 * 1024)
#define NAMES_BYTES                                                                            \
    ((size_t)VDIR_BATCH * 2 * (NAME_LEN_MAX + 1)) /* a name and a link's target */

/* An open directory is an operation that runs once per batch and keeps its state between. It
 * never holds more than one batch: under 400 KB, whatever the directory's size. */
struct list_op {
    struct op op;
    int fd;
    bool at_end;
    char *raw;
    size_t raw_at, raw_len;
    struct ventry *entries;
    struct buf names;
    uint32_t name_at[VDIR_BATCH], target_at[VDIR_BATCH]; /* in names, which moves as it grows */
};

struct vdir {
    struct list_op *listing; /* NULL after a failure */
};

static void drop_listing(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    sys_close(o->fd);
    mem_free(o->raw);
    mem_free(o->entries);
    buf_done(&o->names);
}

static int act_open(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    struct stat st;
    o->fd = beneath_open(&op->root->tree, op->path, BENEATH_DIRECTORY, O_RDONLY, &st);
    return o->fd < 0 ? o->fd : 0;
}

static struct list_op *listing_new(struct vfs *v, const struct vpath *path)
{
    struct list_op *o = op_new(v, sizeof(*o), path, act_open);
    if (!o)
        return NULL;
    o->fd = -1;
    o->op.drop = drop_listing;
    buf_init(&o->names, NAMES_BYTES);
    o->raw = mem_raw(RAW_BYTES);
    o->entries = mem_raw(sizeof(*o->entries) * VDIR_BATCH);
    if (!o->raw || !o->entries) {
        op_free(&o->op);
        return NULL;
    }
    return o;
}

int vfs_dir_open(struct vfs *v, const struct vpath *path, struct vdir **ret)
{
    int r = vfs_check(v, path, VFS_ACT_LIST);
    if (r < 0)
        return r;
    struct vdir *d = mem_new(sizeof(*d));
    if (!d)
        return -ENOMEM;
    d->listing = listing_new(v, path);
    r = d->listing ? op_run(&d->listing->op) : -ENOMEM;
    if (r < 0) {
        mem_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

/* NULL at the end (*ret_result 0) or on failure. */
static const struct dirent64 *next_raw(struct list_op *o, int *ret_result)
{
    *ret_result = 0;
    if (o->raw_at == o->raw_len) {
        ssize_t n = sys_getdents64(o->fd, o->raw, RAW_BYTES);
        o->at_end = n == 0;
        if (n <= 0) {
            *ret_result = (int)n;
            return NULL;
        }
        o->raw_at = 0;
        o->raw_len = (size_t)n;
    }
    const struct dirent64 *e = (const void *)(o->raw + o->raw_at);
    o->raw_at += e->d_reclen;
    return e;
}

static bool is_shown(struct bytes name)
{
    return !bytes_equal(name, BYTES_LIT(".")) && !bytes_equal(name, BYTES_LIT("..")) &&
           name.len <= NAME_LEN_MAX && !vfs_name_is_reserved(name);
}

/* What the directory itself says, for a name whose facts cannot be had (a dead mount, a
 * directory without search permission): one such name must not hide the others. */
static void stat_from_type(const struct dirent64 *e, struct stat *ret)
{
    *ret = (struct stat){.st_mode = (mode_t)DTTOIF(e->d_type), .st_ino = e->d_ino};
}

static bool is_of_one_name(int error)
{
    return error == -EACCES || error == -ENOTCONN || error == -ESTALE || error == -EHOSTDOWN;
}

static int add_target(struct list_op *o, unsigned i, const char *name)
{
    int r = buf_reserve(&o->names, NAME_LEN_MAX + 1);
    if (r < 0)
        return r;
    char *target = (char *)o->names.data + o->names.len;
    ssize_t n = leaf_readlink(o->fd, name, target, NAME_LEN_MAX);
    size_t len = n > 0 ? (size_t)n : 0;
    target[len] = '\0';
    o->target_at[i] = (uint32_t)o->names.len;
    buf_added(&o->names, len + 1);
    return 0;
}

/* 1: added as entry i; 0: the name is gone. */
static int add_entry(struct list_op *o, unsigned i, const struct dirent64 *e, size_t len)
{
    struct stat st;
    int r = leaf_stat(o->fd, e->d_name, &st);
    if (r == -ENOENT)
        return 0;
    if (is_of_one_name(r))
        stat_from_type(e, &st);
    else if (r < 0)
        return r;
    o->name_at[i] = (uint32_t)o->names.len;
    r = buf_append(&o->names, e->d_name, len + 1);
    if (r == 0 && S_ISLNK(st.st_mode))
        r = add_target(o, i, e->d_name);
    if (r < 0)
        return r;
    o->entries[i].name_len = len;
    vstat_from(&st, &o->entries[i].stat);
    return 1;
}

static void set_pointers(struct list_op *o, unsigned count)
{
    const char *names = (const char *)o->names.data;
    for (unsigned i = 0; i < count; i++) {
        struct ventry *entry = &o->entries[i];
        entry->name = names + o->name_at[i];
        entry->link_target = entry->stat.kind == VSTAT_LINK ? names + o->target_at[i] : NULL;
    }
}

static int act_next(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    unsigned count = 0;
    buf_clear(&o->names);
    while (count < VDIR_BATCH && !o->at_end) {
        int r;
        const struct dirent64 *e = next_raw(o, &r);
        if (r < 0)
            return r;
        struct bytes name = e ? bytes_str(e->d_name) : BYTES_NONE;
        if (!e || !is_shown(name))
            continue;
        r = add_entry(o, count, e, name.len);
        if (r < 0)
            return r;
        count += (unsigned)r;
    }
    set_pointers(o, count);
    return (int)count;
}

int vdir_next(struct vdir *d, const struct ventry **ret_entries)
{
    struct list_op *o = d->listing;
    if (!o)
        return -ECANCELED;
    o->op.act = act_next;
    int r = op_run(&o->op);
    if (r < 0)
        d->listing = NULL;
    else
        *ret_entries = o->entries;
    return r;
}

struct vdir *vdir_close(struct vdir *d)
{
    if (!d)
        return NULL;
    if (d->listing)
        op_free(&d->listing->op);
    mem_free(d);
    return NULL;
}
