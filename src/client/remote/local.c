/* Files of this machine as an endpoint: a vfs that has all rights beneath one directory. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/remote/endpoint.h"
#include "client/remote/meter.h"
#include "crypto/digest.h"
#include "xfer/piece.h"

#define COPY_BYTES CHUNK_BYTES_MAX
#define AT_ONCE    16

struct local {
    struct endpoint endpoint; /* first */
    struct vroot *root;
    struct vfs *vfs;
    struct rights rights;
    struct vfs_policy policy;
};

static struct local *local_of(struct endpoint *e)
{
    return (struct local *)e;
}

static int parse(struct bytes path, struct vpath *ret)
{
    return vpath_parse(BYTES_LIT("/"), path, ret);
}

static enum endpoint_kind kind_of(enum vstat_kind kind)
{
    switch (kind) {
    case VSTAT_FILE:
        return ENDPOINT_FILE;
    case VSTAT_DIRECTORY:
        return ENDPOINT_DIRECTORY;
    case VSTAT_LINK:
        return ENDPOINT_LINK;
    case VSTAT_OTHER:
        break;
    }
    return ENDPOINT_OTHER;
}

static void facts_of(const struct vstat *st, struct endpoint_facts *ret)
{
    *ret = (struct endpoint_facts){
        .kind = kind_of(st->kind),
        .has_size = true,
        .has_mode = true,
        .has_times = true,
        .size_bytes = st->size_bytes,
        .mode = st->mode,
        .mtime_us = st->mtime_us,
        .atime_us = st->atime_us,
        .inode = st->inode,
        .device = st->device,
    };
}

/* -- what is there -- */

static PARKS int local_stat(struct endpoint *e, struct bytes path, bool follow,
                            struct endpoint_facts *ret)
{
    struct vpath at;
    struct vstat st;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    r = vfs_stat(local_of(e)->vfs, &at, follow, &st);
    vpath_done(&at);
    if (r == 0)
        facts_of(&st, ret);
    return r;
}

static PARKS int list_all(struct vdir *dir, endpoint_name_fn *fn, void *arg)
{
    for (;;) {
        const struct ventry *entries;
        int count = vdir_next(dir, &entries);
        if (count <= 0)
            return count;
        for (int i = 0; i < count; i++) {
            struct endpoint_facts facts;
            facts_of(&entries[i].stat, &facts);
            int r = fn(arg, bytes_of(entries[i].name, entries[i].name_len), &facts);
            if (r < 0)
                return r;
        }
    }
}

static PARKS int local_list(struct endpoint *e, struct bytes path, endpoint_name_fn *fn,
                            void *arg)
{
    struct vpath at;
    struct vdir *dir;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    r = vfs_dir_open(local_of(e)->vfs, &at, &dir);
    vpath_done(&at);
    if (r < 0)
        return r;
    r = list_all(dir, fn, arg);
    (void)vdir_close(dir);
    return r;
}

/* -- contents -- */

static PARKS int open_file(struct endpoint *e, struct bytes path, struct vfile **ret)
{
    struct vpath at;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    r = vfs_open(local_of(e)->vfs, &at, ret);
    vpath_done(&at);
    return r;
}

/* One step of a copy: what a file has at an offset goes to whoever takes it. */
static PARKS int copy_step(struct vfile *file, uint64_t offset, struct chunk *chunk,
                           uint64_t max, endpoint_take *take, void *arg)
{
    struct iovec piece = {chunk->data, (size_t)max};
    ssize_t n = xfer_read_at(file, offset, chunk, &piece, 1, DEFAULT_STALL_US);
    if (n <= 0)
        return (int)n;
    piece.iov_len = (size_t)n;
    int r = take(arg, offset, chunk, &piece, 1);
    return r < 0 ? r : (int)n;
}

/* Whoever took it may have kept it: then the next bytes need another one. */
static struct chunk *fresh_chunk(struct chunk *chunk)
{
    if (chunk != NULL && atomic_load(&chunk->refs) == 1)
        return chunk;
    chunk_unref(chunk);
    return chunk_new(COPY_BYTES);
}

/* From the offset to the end of the file. */
static PARKS int copy_all(struct vfile *file, uint64_t offset, struct meter *meter,
                          endpoint_take *take, void *arg)
{
    struct chunk *chunk = NULL;
    int r = 1;
    while (r > 0) {
        uint64_t budget;
        r = meter_budget(meter, COPY_BYTES, &budget);
        if (r == 0) {
            chunk = fresh_chunk(chunk);
            r = chunk == NULL ? -ENOMEM : 0;
        }
        if (r == 0)
            r = copy_step(file, offset, chunk, budget, take, arg);
        if (r > 0) {
            offset += (uint64_t)r;
            meter_give_back(meter, budget - (uint64_t)r);
            meter_moved(meter, (uint64_t)r);
        }
        if (task_turn_is_over())
            task_yield();
    }
    chunk_unref(chunk);
    return r;
}

static PARKS int take_into_upload(void *arg, uint64_t offset, struct chunk *chunk,
                                  const struct iovec *pieces, unsigned count)
{
    struct vupload *upload = arg;
    uint64_t end = offset;
    for (unsigned i = 0; i < count; i++)
        end += pieces[i].iov_len;
    int r = vupload_reserve(upload, end);
    return r < 0 ? r
                 : xfer_write_at(vupload_file(upload), offset, chunk, pieces, count,
                                 DEFAULT_STALL_US);
}

static PARKS int local_get(struct endpoint *e, struct bytes path,
                           const struct endpoint_get *get, struct endpoint_got *ret)
{
    struct vfile *file;
    struct meter meter;
    *ret = (struct endpoint_got){0};
    meter_init(&meter, get->bucket, get->progress);
    int r = open_file(e, path, &file);
    if (r < 0)
        return r;
    facts_of(vfile_stat(file), &ret->facts);
    if (get->upload != NULL)
        r = copy_all(file, get->offset, &meter, take_into_upload, get->upload);
    else
        r = copy_all(file, get->offset, &meter, get->take, get->arg);
    ret->bytes = meter.bytes;
    (void)vfile_close(file);
    return r;
}

/* What fill() gives, to its end, into the upload. */
static PARKS int fill_all(const struct endpoint_put *put, struct meter *meter,
                          struct vupload *upload)
{
    struct chunk *chunk = chunk_new(COPY_BYTES);
    ssize_t n = chunk == NULL ? -ENOMEM : 1;
    while (n > 0) {
        uint64_t offset = put->offset + meter->bytes, budget;
        n = meter_budget(meter, COPY_BYTES, &budget);
        if (n < 0)
            break;
        struct iovec piece = {chunk->data, (size_t)budget};
        n = put->fill(put->arg, offset, chunk, &piece, 1);
        if (n <= 0)
            break;
        meter_give_back(meter, budget - (uint64_t)n);
        piece.iov_len = (size_t)n;
        int r = take_into_upload(upload, offset, chunk, &piece, 1);
        if (r < 0)
            n = r;
        else
            meter_moved(meter, (uint64_t)n);
        if (task_turn_is_over())
            task_yield();
    }
    chunk_unref(chunk);
    return (int)n;
}

/* A put that was cancelled is broken before anybody is told. */
static PARKS int end_upload(struct vupload *upload, uint64_t end, int result)
{
    task_shield_begin(clock_after(DEFAULT_STALL_US));
    if (result == 0)
        result = vupload_commit(upload, end);
    else
        vupload_break(upload, end);
    task_shield_end();
    return result;
}

static PARKS int local_put(struct endpoint *e, struct bytes path,
                           const struct endpoint_put *put, uint64_t *ret_bytes)
{
    struct local *l = local_of(e);
    const struct vupload_request request = {
        .kind = put->offset != 0 ? VUPLOAD_RESUME : VUPLOAD_REPLACE,
        .offset = put->offset,
        .mode = put->mode,
    };
    struct vupload *upload;
    struct meter meter;
    struct vpath at;
    *ret_bytes = 0;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    l->policy.sync = put->syncs ? VFS_SYNC_FILE : VFS_SYNC_NONE; /* an upload has a copy */
    r = vfs_upload_begin(l->vfs, &at, &request, &upload);
    vpath_done(&at);
    if (r < 0)
        return r;
    meter_init(&meter, put->bucket, put->progress);
    if (put->file != NULL)
        r = copy_all(put->file, put->offset, &meter, take_into_upload, upload);
    else
        r = fill_all(put, &meter, upload);
    r = end_upload(upload, put->offset + meter.bytes, r);
    *ret_bytes = meter.bytes;
    return r;
}

static PARKS int take_into_hash(void *arg, uint64_t offset, struct chunk *chunk,
                                const struct iovec *pieces, unsigned count)
{
    int r = 0;
    (void)offset, (void)chunk;
    for (unsigned i = 0; r == 0 && i < count; i++)
        r = crypto_hash_add(arg, bytes_of(pieces[i].iov_base, pieces[i].iov_len));
    return r;
}

static PARKS int hash_file(struct vfile *file, uint64_t bytes, struct crypto_hash *hash)
{
    struct chunk *chunk = chunk_new(COPY_BYTES);
    uint64_t offset = 0;
    int r = chunk == NULL ? -ENOMEM : 1;
    while (r > 0 && offset < bytes) {
        uint64_t left = bytes - offset;
        r = task_is_cancelled()
                ? -ECANCELED
                : copy_step(file, offset, chunk, left < COPY_BYTES ? left : COPY_BYTES,
                            take_into_hash, hash);
        offset += r > 0 ? (uint64_t)r : 0;
        task_yield();
    }
    chunk_unref(chunk);
    if (r < 0)
        return r;
    return offset < bytes ? -FERRY_ETRUNCATED : 0;
}

static PARKS int local_sha256(struct endpoint *e, struct bytes path, uint64_t bytes,
                              uint8_t ret[32])
{
    uint8_t digest[CRYPTO_DIGEST_MAX];
    struct crypto_hash *hash;
    struct vfile *file;
    int r = open_file(e, path, &file);
    if (r < 0)
        return r;
    r = crypto_hash_new(CRYPTO_SHA256, &hash);
    if (r == 0) {
        r = hash_file(file, bytes, hash);
        if (r == 0)
            r = crypto_hash_end(hash, digest);
        (void)crypto_hash_free(hash);
    }
    (void)vfile_close(file);
    if (r == 0)
        memcpy(ret, digest, crypto_digest_len(CRYPTO_SHA256));
    return r;
}

/* -- names -- */

static PARKS int local_mkdir(struct endpoint *e, struct bytes path, uint32_t mode)
{
    struct local *l = local_of(e);
    struct vpath at;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    l->policy.directory_mode = mode != 0 ? mode & 0777 : 0777; /* read before it parks */
    r = vfs_mkdir(l->vfs, &at);
    vpath_done(&at);
    return r;
}

static PARKS int local_rmdir(struct endpoint *e, struct bytes path)
{
    struct vpath at;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    r = vfs_rmdir(local_of(e)->vfs, &at);
    vpath_done(&at);
    return r;
}

static PARKS int local_remove(struct endpoint *e, struct bytes path)
{
    struct vpath at;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    r = vfs_unlink(local_of(e)->vfs, &at);
    vpath_done(&at);
    return r;
}

static PARKS int local_rename(struct endpoint *e, struct bytes from, struct bytes to)
{
    struct vpath at, goal;
    int r = parse(from, &at);
    if (r < 0)
        return r;
    r = parse(to, &goal);
    if (r == 0) {
        r = vfs_rename(local_of(e)->vfs, &at, &goal);
        vpath_done(&goal);
    }
    vpath_done(&at);
    return r;
}

static PARKS int local_set(struct endpoint *e, struct bytes path,
                           const struct endpoint_facts *facts)
{
    const struct vattr attr = {
        .has_mode = facts->has_mode,
        .has_times = facts->has_times,
        .mode = facts->mode,
        .atime_us = facts->atime_us,
        .mtime_us = facts->mtime_us,
    };
    struct vpath at;
    int r = parse(path, &at);
    if (r < 0)
        return r;
    r = vfs_set(local_of(e)->vfs, &at, true, &attr);
    vpath_done(&at);
    return r;
}

static PARKS int local_home(struct endpoint *e, char *ret, size_t max)
{
    (void)e;
    if (max < sizeof("/"))
        return -FERRY_ELIMIT;
    (void)text_copy(ret, max, BYTES_LIT("/"));
    return 0;
}

static PARKS void local_free(struct endpoint *e)
{
    struct local *l = local_of(e);
    (void)vfs_free(l->vfs);
    vroot_unref(l->root);
    rights_done(&l->rights);
    mem_free(l);
}

static const struct endpoint_ops local_ops = {
    .method = "local",
    .stat = local_stat,
    .list = local_list,
    .get = local_get,
    .put = local_put,
    .mkdir = local_mkdir,
    .rmdir = local_rmdir,
    .remove = local_remove,
    .rename = local_rename,
    .set = local_set,
    .sha256 = local_sha256,
    .home = local_home,
    .free = local_free,
};

int endpoint_local_new(const char *host_directory, struct pool *pool, struct endpoint **ret)
{
    bool is_whole = strcmp(host_directory, "/") == 0;
    struct local *l = mem_new(sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    l->endpoint = (struct endpoint){
        .ops = &local_ops, .is_ordered = true, .stores_whole = true, .at_once = AT_ONCE};
    /* Modes are the umask's. */
    l->policy = (struct vfs_policy){.atomic_upload = true,
                                    .keep_partial = true,
                                    .sendfile = true,
                                    .owns_root = true,
                                    .file_mode = 0666,
                                    .directory_mode = 0777};
    rights_init(&l->rights, RIGHTS_ALL);
    int r = vroot_open(host_directory, is_whole ? VROOT_IN_ROOT : VROOT_BENEATH, &l->root);
    if (r == 0)
        r = vfs_new(l->root, &l->rights, &l->policy, NULL, pool, NULL, &l->vfs);
    if (r < 0) {
        local_free(&l->endpoint);
        return r;
    }
    *ret = &l->endpoint;
    return 0;
}

struct vfs *endpoint_vfs(struct endpoint *e)
{
    return e->ops == &local_ops ? local_of(e)->vfs : NULL;
}

struct endpoint *endpoint_free(struct endpoint *e)
{
    if (e != NULL)
        e->ops->free(e);
    return NULL;
}
