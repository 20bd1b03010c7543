/* The server of copy_fake_files.h as an endpoint. */
#pragma once
#include "copy_fake_get.h"

static inline void fake_append(struct fake_file *f, const uint8_t *data, size_t len)
{
    if (f->len + len > f->room) {
        f->room = 2 * (f->len + len);
        f->data = mem_resize(f->data, f->room);
        TASK_ASSERT(f->data != NULL);
    }
    memcpy(f->data + f->len, data, len);
    f->len += len;
}

static inline ssize_t fake_read_source(const struct endpoint_put *put, uint64_t offset,
                                       struct chunk *chunk)
{
    struct iovec piece = {chunk->data, FAKE_PIECE};
    return put->file != NULL ? xfer_read_at(put->file, offset, chunk, &piece, 1, USEC_PER_S)
                             : put->fill(put->arg, offset, chunk, &piece, 1);
}

static inline int fake_store(struct endpoint *e, struct bytes path,
                             const struct endpoint_put *put, uint64_t *ret_bytes)
{
    struct fake_endpoint *x = fake_of(e);
    struct fake_server *s = x->server;
    *ret_bytes = 0;
    if (x->is_broken)
        return -FERRY_ECLOSED;
    struct fake_file *f = fake_find(s, path);
    if (put->offset > 0 && (f == NULL || f->len < put->offset))
        return -ENOENT;
    if (put->offset == 0) {
        f = fake_add(s, path);
        f->facts = (struct endpoint_facts){
            .kind = ENDPOINT_FILE, .has_mode = true, .mode = put->mode, .has_times = true};
        s->puts_at_zero++;
    } else {
        f->len = put->offset;
    }
    struct chunk *chunk = chunk_new(FAKE_PIECE);
    TASK_ASSERT(chunk != NULL);
    ssize_t n = 1;
    while (n > 0 && !x->is_broken) {
        n = fake_read_source(put, put->offset + *ret_bytes, chunk);
        if (n <= 0)
            break;
        size_t passed = fake_pass(x, (size_t)n);
        fake_append(f, chunk->data, passed);
        /* what came last may not be confirmed any more */
        *ret_bytes += x->is_broken && s->drops_tail ? passed / 2 : passed;
        fake_moved(put->progress, *ret_bytes);
        f->facts.mtime_us = clock_wall_us();
        task_yield();
        if (task_is_cancelled())
            n = -ECANCELED;
    }
    chunk_unref(chunk);
    int r = x->is_broken ? -FERRY_ECLOSED : n < 0 ? (int)n : 0;
    if (r < 0 && s->stores_whole && put->offset == 0)
        f->is_there = false; /* under a hidden name */
    return r;
}

static inline int fake_mkdir(struct endpoint *e, struct bytes path, uint32_t mode)
{
    struct fake_endpoint *x = fake_of(e);
    char text[64] = "";
    if (x->is_broken)
        return -FERRY_ECLOSED;
    if (fake_find(x->server, path) != NULL)
        return -EEXIST;
    memcpy(text, path.data, path.len);
    fake_directory(x->server, text)->facts.mode = mode;
    return 0;
}

static inline int fake_remove(struct endpoint *e, struct bytes path)
{
    struct fake_endpoint *x = fake_of(e);
    struct fake_file *f = fake_find(x->server, path);
    if (x->is_broken)
        return -FERRY_ECLOSED;
    if (f == NULL)
        return -ENOENT;
    f->is_there = false;
    return 0;
}

static inline int fake_rename(struct endpoint *e, struct bytes from, struct bytes to)
{
    struct fake_endpoint *x = fake_of(e);
    if (x->is_broken)
        return -FERRY_ECLOSED;
    struct fake_file *f = fake_find(x->server, from), *old = fake_find(x->server, to);
    if (f == NULL)
        return -ENOENT;
    if (old != NULL)
        old->is_there = false;
    memset(f->path, 0, sizeof(f->path));
    memcpy(f->path, to.data, to.len);
    return 0;
}

static inline int fake_set(struct endpoint *e, struct bytes path,
                           const struct endpoint_facts *facts)
{
    struct fake_endpoint *x = fake_of(e);
    struct fake_file *f = fake_find(x->server, path);
    if (x->is_broken)
        return -FERRY_ECLOSED;
    if (f == NULL)
        return -ENOENT;
    if (facts->has_mode)
        f->facts.mode = facts->mode;
    if (facts->has_times)
        f->facts.mtime_us = facts->mtime_us;
    return 0;
}

/* A digest of the test's own: it is only compared. */
static inline int fake_sha256(struct endpoint *e, struct bytes path, uint64_t bytes,
                              uint8_t ret[32])
{
    struct fake_endpoint *x = fake_of(e);
    struct fake_file *f = fake_find(x->server, path);
    if (x->is_broken)
        return -FERRY_ECLOSED;
    if (!x->server->has_sha256)
        return -EOPNOTSUPP;
    if (f == NULL || f->len < bytes)
        return -ENOENT;
    uint64_t sum = 5381;
    for (uint64_t i = 0; i < bytes; i++)
        sum = sum * 33 + f->data[i];
    memset(ret, 0, 32);
    memcpy(ret, &sum, sizeof(sum));
    return 0;
}

static inline void fake_free(struct endpoint *e)
{
    mem_free(e);
}

static const struct endpoint_ops fake_ops = {
    .method = "fake",
    .stat = fake_stat,
    .list = fake_list,
    .get = fake_get,
    .put = fake_store,
    .mkdir = fake_mkdir,
    .remove = fake_remove,
    .rename = fake_rename,
    .set = fake_set,
    .sha256 = fake_sha256,
    .free = fake_free,
};

/* A copy_open_fn; arg: the server. */
static inline int fake_open(void *arg, char *ret_why, struct endpoint **ret)
{
    struct fake_server *s = arg;
    s->opened++;
    if (s->refuses > 0) {
        s->refuses--;
        strcpy(ret_why, "fake: connection refused");
        return -ECONNREFUSED;
    }
    struct fake_endpoint *x = mem_new(sizeof(*x));
    TASK_ASSERT(x != NULL);
    x->endpoint = (struct endpoint){.ops = &fake_ops,
                                    .host = "fake",
                                    .is_ordered = !s->is_unordered,
                                    .stores_whole = s->stores_whole,
                                    .at_once = 4};
    x->server = s;
    x->left = s->breaks_after;
    *ret = &x->endpoint;
    return 0;
}
