#include <dirent.h>
#include <errno.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "task/sys.h"
#include "vfs/job.h"

/* What one getdents64() may return: a batch, and its names stay where the kernel put them. The
 * links of a batch may lead to longer names: a batch that has read many of them ends early. */
#define RAW_BYTES     (60 * 1024)
#define RECORD_MIN    24 /* a name of one byte */
#define RECORD_MAX    (offsetof(struct dirent64, d_name) + NAME_LEN_MAX + 8)
#define BATCH_MAX     (RAW_BYTES / RECORD_MIN)
#define TARGETS_BYTES (64 * 1024)

struct batch {
    char *raw; /* NULL: not needed yet; as entries */
    size_t raw_at, raw_len;
    struct ventry *entries;
    struct buf targets; /* each with its NUL, in the order of the links among the entries */
};

/* An open directory is an operation that runs once per batch and keeps its state between. While
 * one batch is in use, a job fills the other. Both together are under 700 KB, whatever the
 * directory's size; a small directory needs but one. */
struct list_op {
    struct op op;
    int fd;
    bool names_only;
    bool at_end;     /* of the directory; of the listing when raw is used up too */
    unsigned filled; /* which batch the last job filled */
    struct batch batches[2];
};

struct vdir {
    struct list_op *listing; /* NULL after a failure */
    bool has_job;            /* one is on its way */
};

static void drop_listing(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    sys_close(o->fd);
    for (unsigned i = 0; i < ARRAY_LEN(o->batches); i++) {
        mem_free(o->batches[i].raw);
        mem_free(o->batches[i].entries);
        buf_done(&o->batches[i].targets);
    }
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

/* All that is hidden begins with a dot; hardly anything else does. */
static bool is_shown(struct bytes name)
{
    if (name.data[0] == '.' &&
        (name.len == 1 || bytes_equal(name, BYTES_LIT("..")) || vfs_name_is_reserved(name)))
        return false;
    return name.len <= NAME_LEN_MAX;
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

static int add_target(struct buf *targets, int fd, const char *name)
{
    int r = buf_reserve(targets, NAME_LEN_MAX + 1);
    if (r < 0)
        return r;
    char *target = (char *)targets->data + targets->len;
    ssize_t n = leaf_readlink(fd, name, target, NAME_LEN_MAX);
    size_t len = n > 0 ? (size_t)n : 0;
    target[len] = '\0';
    buf_added(targets, len + 1);
    return 0;
}

static int add_facts(const struct list_op *o, struct batch *b, const struct dirent64 *e,
                     struct vstat *ret)
{
    struct stat st;
    int r = leaf_stat(o->fd, e->d_name, &st);
    if (is_of_one_name(r)) {
        stat_from_type(e, &st);
        r = 0;
    }
    if (r == 0 && S_ISLNK(st.st_mode) && !o->names_only)
        r = add_target(&b->targets, o->fd, e->d_name);
    if (r == 0)
        vstat_from(&st, ret);
    return r;
}

/* 1: added as the next entry; 0: the name is gone. */
static int add_entry(const struct list_op *o, struct batch *b, unsigned at,
                     const struct dirent64 *e, size_t len)
{
    struct ventry *entry = &b->entries[at];
    int r = 0;
    if (o->names_only && e->d_type != DT_UNKNOWN) /* stat(2) is most of a listing's time */
        entry->stat = (struct vstat){.kind = vstat_kind_of((mode_t)DTTOIF(e->d_type))};
    else
        r = add_facts(o, b, e, &entry->stat);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    entry->name = e->d_name;
    entry->name_len = len;
    entry->link_target = NULL;
    return 1;
}

/* The targets move as their buffer grows, so this comes last. */
static void set_targets(struct batch *b, unsigned count)
{
    const char *target = (const char *)b->targets.data;
    for (unsigned i = 0; i < count && b->targets.len > 0; i++) {
        if (b->entries[i].stat.kind != VSTAT_LINK)
            continue;
        b->entries[i].link_target = target;
        target += strlen(target) + 1;
    }
}

/* Entries from what was read; 0 if there are none to show. */
static int take_entries(const struct list_op *o, struct batch *b)
{
    unsigned count = 0;
    buf_clear(&b->targets);
    while (b->raw_at < b->raw_len && count < BATCH_MAX && b->targets.len < TARGETS_BYTES) {
        const struct dirent64 *e = (const void *)(b->raw + b->raw_at);
        b->raw_at += e->d_reclen;
        struct bytes name = bytes_str(e->d_name);
        if (!is_shown(name))
            continue;
        int r = add_entry(o, b, count, e, name.len);
        if (r < 0)
            return r;
        count += (unsigned)r;
    }
    set_targets(b, count);
    return (int)count;
}

/* As much as there is room for, or to the end: whoever lists a small directory need not come
 * again to hear of it. */
static int read_raw(struct list_op *o, struct batch *b)
{
    while (!o->at_end && b->raw_len + RECORD_MAX <= RAW_BYTES) {
        ssize_t n = sys_getdents64(o->fd, b->raw + b->raw_len, RAW_BYTES - b->raw_len);
        if (n < 0) /* no room for the next name, or it fails again when it is asked next */
            return b->raw_len > 0 ? 0 : (int)n;
        o->at_end = n == 0;
        b->raw_len += (size_t)n;
    }
    return 0;
}

static bool is_done(const struct list_op *o)
{
    const struct batch *b = &o->batches[o->filled];
    return o->at_end && b->raw_at == b->raw_len;
}

/* The names that a batch left over are read from the next one: those it has are still in use.
 */
static struct batch *turn(struct list_op *o)
{
    const struct batch *last = &o->batches[o->filled];
    o->filled = !o->filled;
    struct batch *b = &o->batches[o->filled];
    b->raw_at = 0;
    b->raw_len = last->raw_len - last->raw_at;
    if (b->raw_len > 0)
        memcpy(b->raw, last->raw + last->raw_at, b->raw_len);
    return b;
}

static int act_next(struct op *op)
{
    struct list_op *o = (struct list_op *)op;
    struct batch *b = turn(o);
    int r;
    do {
        r = read_raw(o, b);
        if (r == 0)
            r = take_entries(o, b);
        if (b->raw_at == b->raw_len)
            b->raw_at = b->raw_len = 0;
    } while (r == 0 && !is_done(o));
    return r;
}

/* -- by the task -- */

static int need_memory(struct batch *b)
{
    if (!b->raw) {
        buf_init(&b->targets, TARGETS_BYTES + NAME_LEN_MAX + 1);
        b->raw = mem_raw(RAW_BYTES);
    }
    if (!b->entries)
        b->entries = mem_raw(sizeof(*b->entries) * BATCH_MAX);
    return b->raw && b->entries ? 0 : -ENOMEM;
}

static int start_next(struct vdir *d)
{
    struct list_op *o = d->listing;
    int r = need_memory(&o->batches[!o->filled]);
    o->op.act = act_next;
    if (r == 0)
        r = op_start(&o->op);
    d->has_job = r == 0;
    return r;
}

static PARKS void drop(struct vdir *d)
{
    if (d->listing && d->has_job)
        op_abandon(&d->listing->op);
    else if (d->listing)
        op_free(&d->listing->op);
    d->listing = NULL;
}

int vdir_next(struct vdir *d, const struct ventry **ret_entries)
{
    struct list_op *o = d->listing;
    if (!o)
        return -ECANCELED;
    if (!d->has_job && is_done(o))
        return 0;
    int r = d->has_job ? 0 : start_next(d);
    if (r < 0) {
        drop(d);
        return r;
    }
    d->has_job = false;
    r = op_wait(&o->op);
    if (r < 0)
        d->listing = NULL;
    if (r <= 0)
        return r;
    *ret_entries = o->batches[o->filled].entries;
    if (!is_done(o))
        (void)start_next(d); /* ahead of its time: if it fails, the next call tries again */
    return r;
}

struct vdir *vdir_close(struct vdir *d)
{
    if (d)
        drop(d);
    mem_free(d);
    return NULL;
}
