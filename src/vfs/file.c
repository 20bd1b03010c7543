#include "vfs/file.h"

#include <errno.h>
#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"

#define SAMPLE_BYTES (128 * 1024)

struct vfile {
    struct job close_job; /* here, so that closing needs no memory */
    _Atomic unsigned refs;
    pthread_mutex_t write;
    int fd;
    struct vstat stat;
    bool is_in_memory;
    bool reads_without_waiting;
    bool may_sendfile;
    struct vroot *root;
    struct pool *pool;
    struct pool_shares shares;
};

struct open_op {
    struct op op;
    struct vfile *file;
};

static void close_file(struct job *j)
{
    struct vfile *f = LIST_ENTRY(j, struct vfile, close_job);
    sys_fd_close(&f->fd);
}

static void free_file(struct job *j)
{
    struct vfile *f = LIST_ENTRY(j, struct vfile, close_job);
    sys_close(f->fd);
    (void)pthread_mutex_destroy(&f->write);
    vroot_unref(f->root);
    vfs_shares_unref(&f->shares);
    mem_free(f);
}

struct vfile *vfile_new(struct vroot *root, struct pool *pool, const struct pool_shares *shares)
{
    struct vfile *f = mem_new(sizeof(*f));
    if (!f)
        return NULL;
    f->close_job.run = close_file;
    f->close_job.free = free_file;
    f->refs = 1;
    (void)pthread_mutex_init(&f->write, NULL);
    f->fd = -1;
    f->root = vroot_ref(root);
    f->pool = pool;
    f->shares = vfs_shares_ref(shares);
    return f;
}

void vfile_opened(struct vfile *f, int fd, const struct stat *st, bool for_reading)
{
    f->fd = fd;
    vstat_from(st, &f->stat);
    f->is_in_memory = vroot_is_memory(f->root, fd, st);
    f->reads_without_waiting =
        for_reading && (f->is_in_memory || vroot_reads_without_waiting(f->root, fd, st));
}

struct vfile *vfile_ref(struct vfile *f)
{
    atomic_fetch_add(&f->refs, 1);
    return f;
}

/* A close tells a FUSE process or a file server, and the last close of a deleted file frees its
 * blocks. */
static bool close_may_wait(const struct vfile *f)
{
    struct stat st;
    if (f->fd < 0)
        return false;
    if (!f->is_in_memory && !vroot_is_local(f->root, (dev_t)f->stat.device))
        return true;
    return sys_fstat(f->fd, &st) < 0 || st.st_nlink == 0;
}

void vfile_unref(struct vfile *f)
{
    if (!f || atomic_fetch_sub(&f->refs, 1) != 1)
        return;
    if (worker_self() && close_may_wait(f) && job_post(f->pool, &f->close_job, &f->shares) == 0)
        return;
    free_file(&f->close_job);
}

void vfile_unref_here(struct vfile *f)
{
    if (atomic_fetch_sub(&f->refs, 1) == 1)
        free_file(&f->close_job);
}

struct vfile *vfile_close(struct vfile *f)
{
    vfile_unref(f);
    return NULL;
}

int vfile_fd(const struct vfile *f)
{
    return f->fd;
}

void vfile_write_begin(struct vfile *f)
{
    (void)pthread_mutex_lock(&f->write);
}

void vfile_write_end(struct vfile *f)
{
    (void)pthread_mutex_unlock(&f->write);
}

const struct vstat *vfile_stat(const struct vfile *f)
{
    return &f->stat;
}

bool vfile_reads_without_waiting(const struct vfile *f)
{
    return f->reads_without_waiting;
}

/* The cache is filled and emptied by folios and by the windows of read-ahead, hardly ever by
 * single pages. */
bool vfile_is_cached(const struct vfile *f, uint64_t offset, uint64_t len)
{
    char byte;
    const struct iovec iov = {&byte, 1};
    if (!f->reads_without_waiting)
        return false;
    for (uint64_t at = 0; at < len; at += SAMPLE_BYTES) {
        if (sys_preadv2(f->fd, &iov, 1, (off_t)(offset + at), RWF_NOWAIT) != 1)
            return false;
    }
    return true;
}

bool vfile_is_in_memory(const struct vfile *f)
{
    return f->is_in_memory;
}

bool vfile_may_sendfile(const struct vfile *f)
{
    return f->may_sendfile;
}

const struct pool_shares *vfile_shares(const struct vfile *f)
{
    return &f->shares;
}

struct pool *vfile_pool(const struct vfile *f)
{
    return f->pool;
}

static void drop_open(struct op *op)
{
    vfile_unref(((struct open_op *)op)->file);
}

static int act_open(struct op *op)
{
    struct open_op *o = (struct open_op *)op;
    struct stat st;
    int fd = beneath_open(&op->root->tree, op->path, BENEATH_FILE, O_RDONLY, &st);
    if (fd < 0)
        return fd;
    vroot_learn(op->root, fd, &st);
    vfile_opened(o->file, fd, &st, true);
    return 0;
}

/* On the loop, if nothing can wait. */
static int open_here(const struct vroot *root, const char *path, struct stat *ret)
{
    if (!root->is_local)
        return -EBUSY;
    int r = beneath_open_cached(&root->tree, path, ret);
    dev_t below = atomic_load(&root->below);
    /* the kernel does not tell a mount from what is not in its cache */
    bool may_be_below = below != 0 && (r == -EBUSY || r == -EXDEV);
    return may_be_below ? beneath_open_cached_on(&root->tree, path, below, ret) : r;
}

static int open_in_job(struct vfs *v, const struct vpath *path, struct vfile *f)
{
    struct open_op *o = op_new(v, sizeof(*o), path, act_open);
    if (!o)
        return -ENOMEM;
    o->op.drop = drop_open;
    o->file = vfile_ref(f);
    return op_finish(&o->op);
}

static int open_seen_here(const struct vroot *root, const char *path, dev_t device,
                          struct stat *ret)
{
    return vroot_is_local(root, device) ? beneath_open_seen(&root->tree, path, device, ret)
                                        : -EBUSY;
}

/* device: of a regular file that was seen there, or 0. */
static PARKS int open_file(struct vfs *v, const struct vpath *path, dev_t device,
                           struct vfile **ret)
{
    int r = vfs_check(v, path, VFS_ACT_READ);
    if (r < 0)
        return r;
    struct vfile *f = vfile_new(v->root, v->pool, &v->shares);
    if (!f)
        return -ENOMEM;
    f->may_sendfile = v->policy->sendfile;
    struct stat st;
    r = -EBUSY;
    if (device != 0)
        r = open_seen_here(v->root, vpath_relative(path), device, &st);
    if (r < 0)
        r = open_here(v->root, vpath_relative(path), &st);
    if (r >= 0)
        vfile_opened(f, r, &st, true);
    else if (r != -FERRY_ENOTREG && r != -EISDIR)
        r = open_in_job(v, path, f);
    if (r < 0) {
        vfile_unref(f);
        return r;
    }
    *ret = f;
    return 0;
}

int vfs_open(struct vfs *v, const struct vpath *path, struct vfile **ret)
{
    return open_file(v, path, 0, ret);
}

int vfs_open_listed(struct vfs *v, const struct vpath *path, uint64_t device,
                    struct vfile **ret)
{
    return open_file(v, path, (dev_t)device, ret);
}
