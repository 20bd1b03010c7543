#include <dirent.h>
#include <errno.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/job.h"

/* What one getdents64() may return: a batch, and its names stay where the kernel put them. The
 * links of a batch may lead to longer names: a batch that has read many of them ends early. */
#define RAW_BYTES     (32 * 1024)
#define RECORD_MIN    24 /* a name of one byte */
#define RECORD_MAX    (offsetof(struct dirent64, d_name) + NAME_LEN_MAX + 8)
#define BATCH_MAX     (RAW_BYTES / RECORD_MIN)
#define TARGETS_BYTES (64 * 1024)

/* An open directory is an operation that runs once per batch and keeps its state between. It
 * never holds more than one batch: under 300 KB, whatever the directory's size. */
struct list_op {
    struct op op;
    int fd;
    bool names_only;
    bool at_end; /* of the directory; of the listing when raw is used up too */
    char *raw;
    size_t raw_at, raw_len;
    struct ventry *entries;
    struct buf targets; /* each with its NUL, in the order of the links among the entries */
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
    buf_done(&o->targets);
}

static int act_open(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    struct stat st;
    o->fd = beneath_open(&op->root->tree, op->path, BENEATH_DIRECTORY, O_RDONLY, &st);
    return o->fd < 0 ? o->fd : 0;
}

static struct list_op *listing_new(struct vfs *v, const struct vpath *path, bool names_only)
{
    struct list_op *o = op_new(v, sizeof(*o), path, act_open);
    if (!o)
        return NULL;
    o->fd = -1;
    o->names_only = names_only;
    o->op.drop = drop_listing;
    buf_init(&o->targets, TARGETS_BYTES + NAME_LEN_MAX + 1);
    o->raw = mem_raw(RAW_BYTES);
    o->entries = mem_raw(sizeof(*o->entries) * BATCH_MAX);
    if (!o->raw || !o->entries) {
        op_free(&o->op);
        return NULL;
    }
    return o;
}

static PARKS int open_listing(struct vfs *v, const struct vpath *path, bool names_only,
                              struct vdir **ret)
{
    int r = vfs_check(v, path, VFS_ACT_LIST);
    if (r < 0)
        return r;
    struct vdir *d = mem_new(sizeof(*d));
    if (!d)
        return -ENOMEM;
    d->listing = listing_new(v, path, names_only);
    r = d->listing ? op_run(&d->listing->op) : -ENOMEM;
    if (r < 0) {
        mem_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

int vfs_dir_open(struct vfs *v, const struct vpath *path, struct vdir **ret)
{
    return open_listing(v, path, false, ret);
}

int vfs_dir_open_names(struct vfs *v, const struct vpath *path, struct vdir **ret)
{
    return open_listing(v, path, true, ret);
}

static bool listing_is_done(const struct list_op *o)
{
    return o->at_end && o->raw_at == o->raw_len;
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

static int add_target(struct list_op *o, const char *name)
{
    int r = buf_reserve(&o->targets, NAME_LEN_MAX + 1);
    if (r < 0)
        return r;
    char *target = (char *)o->targets.data + o->targets.len;
    ssize_t n = leaf_readlink(o->fd, name, target, NAME_LEN_MAX);
    size_t len = n > 0 ? (size_t)n : 0;
    target[len] = '\0';
    buf_added(&o->targets, len + 1);
    return 0;
}

/* What is known without asking is enough where names are listed: stat(2) is most of the time
 * that a listing takes. */
static int stat_entry(const struct list_op *o, const struct dirent64 *e, struct stat *ret)
{
    int r = 0;
    bool is_known = o->names_only && e->d_type != DT_UNKNOWN;
    if (!is_known)
        r = leaf_stat(o->fd, e->d_name, ret);
    if (is_known || is_of_one_name(r)) {
        stat_from_type(e, ret);
        return 0;
    }
    return r;
}

/* 1: added as the next entry; 0: the name is gone. */
static int add_entry(struct list_op *o, struct ventry *entry, const struct dirent64 *e,
                     size_t len)
{
    struct stat st;
    int r = stat_entry(o, e, &st);
    if (r == 0 && S_ISLNK(st.st_mode) && !o->names_only)
        r = add_target(o, e->d_name);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    entry->name = e->d_name;
    entry->name_len = len;
    entry->link_target = NULL;
    vstat_from(&st, &entry->stat);
    return 1;
}

/* The targets move as their buffer grows, so this comes last. */
static void set_targets(struct list_op *o, unsigned count)
{
    const char *target = (const char *)o->targets.data;
    for (unsigned i = 0; i < count && !o->names_only; i++) {
        if (o->entries[i].stat.kind != VSTAT_LINK)
            continue;
        o->entries[i].link_target = target;
        target += strlen(target) + 1;
    }
}

/* Entries from what was read; 0 if there are none to show. */
static int take_batch(struct list_op *o)
{
    unsigned count = 0;
    buf_clear(&o->targets);
    while (o->raw_at < o->raw_len && count < BATCH_MAX && o->targets.len < TARGETS_BYTES) {
        const struct dirent64 *e = (const void *)(o->raw + o->raw_at);
        o->raw_at += e->d_reclen;
        struct bytes name = bytes_str(e->d_name);
        if (!is_shown(name))
            continue;
        int r = add_entry(o, &o->entries[count], e, name.len);
        if (r < 0)
            return r;
        count += (unsigned)r;
    }
    set_targets(o, count);
    return (int)count;
}

/* As much as there is room for, or to the end: whoever lists a small directory need not come
 * again to hear of it. */
static int read_raw(struct list_op *o)
{
    o->raw_at = o->raw_len = 0;
    while (!o->at_end && o->raw_len + RECORD_MAX <= RAW_BYTES) {
        ssize_t n = sys_getdents64(o->fd, o->raw + o->raw_len, RAW_BYTES - o->raw_len);
        if (n < 0) /* no room for the next name, or it fails again when it is asked next */
            return o->raw_len > 0 ? 0 : (int)n;
        o->at_end = n == 0;
        o->raw_len += (size_t)n;
    }
    return 0;
}

static int act_next(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    int r = 0;
    while (r == 0 && !listing_is_done(o)) {
        if (o->raw_at == o->raw_len)
            r = read_raw(o);
        if (r == 0)
            r = take_batch(o);
    }
    return r;
}

int vdir_next(struct vdir *d, const struct ventry **ret_entries)
{
    struct list_op *o = d->listing;
    if (!o)
        return -ECANCELED;
    if (listing_is_done(o))
        return 0;
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
