#include "vfs/root.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>

#include "base/list.h"
#include "base/mem.h"
#include "task/sys.h"

/* File systems that answer from this machine's memory and disks alone. Others (NFS, FUSE, ...)
 * may wait for a process or a network in any call, so all their calls are made in the pool. */
static const long local_types[] = {
    EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
    F2FS_SUPER_MAGIC, TMPFS_MAGIC,     RAMFS_MAGIC,
};

/* A disk under one or more roots. What hangs is a disk, not a root, and there may be a root per
 * account on it. */
struct device {
    struct list node;
    dev_t number;
    unsigned refs;            /* under the lock */
    struct pool_share *share; /* NULL until the first session */
};

static struct {
    pthread_mutex_t lock;
    struct list all;
} devices = {PTHREAD_MUTEX_INITIALIZER, {&devices.all, &devices.all}};

static int device_get(dev_t number, struct device **ret)
{
    int r = 0;
    struct device *d = NULL;
    (void)pthread_mutex_lock(&devices.lock);
    LIST_EACH(node, &devices.all)
    {
        struct device *it = LIST_ENTRY(node, struct device, node);
        if (it->number == number)
            d = it;
    }
    if (!d && !(d = mem_new(sizeof(*d)))) {
        r = -ENOMEM;
    } else if (d->refs++ == 0) {
        d->number = number;
        list_append(&devices.all, &d->node);
    }
    (void)pthread_mutex_unlock(&devices.lock);
    *ret = d;
    return r;
}

static void device_put(struct device *d)
{
    (void)pthread_mutex_lock(&devices.lock);
    bool is_last = --d->refs == 0;
    if (is_last)
        list_remove(&d->node);
    (void)pthread_mutex_unlock(&devices.lock);
    if (is_last) {
        pool_share_unref(d->share);
        mem_free(d);
    }
}

int vroot_share(struct vroot *root, struct pool *pool, struct pool_share **ret)
{
    unsigned half = pool_threads(pool) / 2;
    int r = 0;
    (void)pthread_mutex_lock(&devices.lock);
    if (!root->device->share)
        r = pool_share_new(half ? half : 1, &root->device->share);
    *ret = root->device->share;
    (void)pthread_mutex_unlock(&devices.lock);
    return r;
}

static bool is_local_type(long type)
{
    for (size_t i = 0; i < ARRAY_LEN(local_types); i++)
        if (type == local_types[i])
            return true;
    return false;
}

static int learn(struct vroot *root)
{
    struct stat st;
    long type = 0;
    int r = sys_fstat(root->tree.fd, &st);
    if (r == 0)
        r = sys_fstatfs_type(root->tree.fd, &type);
    if (r < 0)
        return r;
    root->is_local = is_local_type(type);
    root->is_memory = type == TMPFS_MAGIC || type == RAMFS_MAGIC;
    root->number = st.st_dev;
    return device_get(st.st_dev, &root->device);
}

int vroot_open(const char *host_path, enum vroot_links links, struct vroot **ret)
{
    struct vroot *root = mem_new(sizeof(*root));
    if (!root)
        return -ENOMEM;
    root->refs = 1;
    int r = beneath_tree(host_path, links == VROOT_IN_ROOT, &root->tree);
    if (r < 0) {
        mem_free(root);
        return r;
    }
    r = learn(root);
    if (r < 0) {
        sys_close(root->tree.fd);
        mem_free(root);
        return r;
    }
    *ret = root;
    return 0;
}

void vroot_learn(struct vroot *root, int fd, const struct stat *st)
{
    long type = 0;
    if (vroot_is_local(root, st->st_dev) || st->st_dev == root->number)
        return;
    if (sys_fstatfs_type(fd, &type) == 0 && is_local_type(type))
        atomic_store(&root->below, st->st_dev);
}

bool vroot_is_local(const struct vroot *root, dev_t device)
{
    return device == root->number ? root->is_local : device == atomic_load(&root->below);
}

struct vroot *vroot_ref(struct vroot *root)
{
    atomic_fetch_add(&root->refs, 1);
    return root;
}

void vroot_unref(struct vroot *root)
{
    if (!root || atomic_fetch_sub(&root->refs, 1) != 1)
        return;
    device_put(root->device);
    sys_close(root->tree.fd);
    mem_free(root);
}

int vroot_fd(const struct vroot *root)
{
    return root->tree.fd;
}

/* 1: yes, -1: no, 0: not known. A file system that cannot is not even asked by the kernel. */
static int ask_nowait(int fd)
{
    char byte;
    const struct iovec iov = {&byte, 1};
    ssize_t n = sys_preadv2(fd, &iov, 1, 0, RWF_NOWAIT);
    if (n >= 0 || n == -EAGAIN)
        return 1;
    return n == -EOPNOTSUPP ? -1 : 0;
}

/* Of a mount below the root the file itself is asked: what waits for no file server, as
 * fstatfs(2) might. */
bool vroot_is_memory(const struct vroot *root, int fd, const struct stat *st)
{
    return st->st_dev == root->number ? root->is_memory : sys_is_in_memory(fd);
}

bool vroot_reads_without_waiting(struct vroot *root, int fd, const struct stat *st)
{
    if (st->st_dev != root->number) /* what is known is not of that mount */
        return ask_nowait(fd) > 0;
    int known = atomic_load(&root->nowait);
    if (known == 0) {
        known = ask_nowait(fd);
        atomic_store(&root->nowait, known);
    }
    return known > 0;
}
