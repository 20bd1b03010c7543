/* A server of files in memory, as an endpoint: it can break off after any number of bytes, hand
 * out bytes in no order, and list what no file system would. */
#pragma once
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/remote/endpoint.h"
#include "runtime_fixture.h"
#include "xfer/piece.h"

#define FAKE_FILES_MAX 64
#define FAKE_PIECE     1000

struct fake_file {
    bool is_there, is_directory, is_link_up; /* a link to the directory that it is in */
    char path[64];
    uint8_t *data;
    size_t len;
    struct endpoint_facts facts;
};

struct fake_server {
    struct fake_file files[FAKE_FILES_MAX];
    uint64_t breaks_after; /* bytes of contents of each connection; UINT64_MAX: never */
    bool stores_whole, is_unordered, has_sha256, drops_tail;
    unsigned opened, refuses; /* connections; how many are refused at first */
    uint64_t claims_size;     /* of each file in stat; 0: the truth */
    uint64_t endless;         /* names in each listing; 0: the truth */
    unsigned puts_at_zero;    /* that began a file anew */
};

struct fake_endpoint {
    struct endpoint endpoint; /* first */
    struct fake_server *server;
    uint64_t left;
    bool is_broken;
};

static inline struct fake_endpoint *fake_of(struct endpoint *e)
{
    return (struct fake_endpoint *)e;
}

static inline bool fake_is(const struct fake_file *f, struct bytes path)
{
    return f->is_there && strlen(f->path) == path.len &&
           memcmp(f->path, path.data, path.len) == 0;
}

static inline struct fake_file *fake_find(struct fake_server *s, struct bytes path)
{
    for (unsigned i = 0; i < FAKE_FILES_MAX; i++)
        if (fake_is(&s->files[i], path))
            return &s->files[i];
    return NULL;
}

static inline struct fake_file *fake_add(struct fake_server *s, struct bytes path)
{
    struct fake_file *f = fake_find(s, path);
    for (unsigned i = 0; f == NULL && i < FAKE_FILES_MAX; i++)
        if (!s->files[i].is_there)
            f = &s->files[i];
    TASK_ASSERT(f != NULL && path.len < sizeof(f->path));
    mem_free(f->data);
    *f = (struct fake_file){.is_there = true};
    memcpy(f->path, path.data, path.len);
    return f;
}

static inline struct fake_file *fake_put(struct fake_server *s, const char *path,
                                         const uint8_t *data, size_t len, int64_t mtime_s)
{
    struct fake_file *f = fake_add(s, bytes_str(path));
    f->data = len > 0 ? mem_dup(data, len) : NULL;
    f->len = len;
    f->facts = (struct endpoint_facts){.kind = ENDPOINT_FILE,
                                       .has_mode = true,
                                       .mode = 0640,
                                       .has_times = true,
                                       .mtime_us = mtime_s * 1000000,
                                       .atime_us = mtime_s * 1000000};
    return f;
}

static inline struct fake_file *fake_directory(struct fake_server *s, const char *path)
{
    struct fake_file *f = fake_add(s, bytes_str(path));
    f->is_directory = true;
    f->facts = (struct endpoint_facts){
        .kind = ENDPOINT_DIRECTORY, .has_mode = true, .mode = 0755, .has_times = true};
    return f;
}

static inline void fake_server_done(struct fake_server *s)
{
    for (unsigned i = 0; i < FAKE_FILES_MAX; i++)
        mem_free(s->files[i].data);
}

/* -- the endpoint -- */

static inline void fake_facts(const struct fake_server *s, const struct fake_file *f,
                              struct endpoint_facts *ret)
{
    *ret = f->facts;
    ret->has_size = !f->is_directory;
    ret->size_bytes = s->claims_size != 0 ? s->claims_size : f->len;
}

static inline int fake_stat(struct endpoint *e, struct bytes path, bool follow,
                            struct endpoint_facts *ret)
{
    struct fake_endpoint *x = fake_of(e);
    if (x->is_broken)
        return -FERRY_ECLOSED;
    struct fake_file *f = fake_find(x->server, path);
    if (f == NULL)
        return -ENOENT;
    fake_facts(x->server, f, ret);
    if (f->is_link_up)
        ret->kind = follow ? ENDPOINT_DIRECTORY : ENDPOINT_LINK;
    return 0;
}

static inline int fake_list(struct endpoint *e, struct bytes path, endpoint_name_fn *fn,
                            void *arg)
{
    struct fake_endpoint *x = fake_of(e);
    struct fake_server *s = x->server;
    int r = 0;
    if (x->is_broken)
        return -FERRY_ECLOSED;
    for (uint64_t i = 0; r == 0 && i < s->endless; i++) {
        char name[200];
        struct endpoint_facts facts = {.kind = ENDPOINT_FILE};
        int len = snprintf(name, sizeof(name), "%0180llu", (unsigned long long)i);
        r = fn(arg, bytes_of(name, (size_t)len), &facts);
    }
    for (unsigned i = 0; r == 0 && i < FAKE_FILES_MAX; i++) {
        struct fake_file *f = &s->files[i];
        struct bytes rest = bytes_str(f->path);
        struct endpoint_facts facts;
        if (!f->is_there || rest.len <= path.len + 1 || !bytes_start_with(rest, path) ||
            rest.data[path.len] != '/')
            continue;
        rest = bytes_skip(rest, path.len + 1);
        if (memchr(rest.data, '/', rest.len) != NULL)
            continue;
        fake_facts(s, f, &facts);
        if (f->is_link_up)
            facts.kind = ENDPOINT_LINK;
        r = fn(arg, rest, &facts);
    }
    return r;
}

/* How many of these bytes still go over the connection. */
static inline size_t fake_pass(struct fake_endpoint *x, size_t len)
{
    if (x->left == UINT64_MAX)
        return len;
    if (len >= x->left) {
        len = (size_t)x->left;
        x->is_broken = true;
    }
    x->left -= len;
    return len;
}

static inline int fake_hand_out(const struct endpoint_get *get, const struct fake_file *f,
                                uint64_t offset, size_t len)
{
    struct chunk *chunk = chunk_new(FAKE_PIECE);
    TASK_ASSERT(chunk != NULL && len <= FAKE_PIECE);
    memcpy(chunk->data, f->data + offset, len);
    struct iovec piece = {chunk->data, len};
    int r = 0;
    if (get->upload != NULL)
        r = xfer_write_at(vupload_file(get->upload), offset, chunk, &piece, 1, USEC_PER_S);
    else
        r = get->take(get->arg, offset, chunk, &piece, 1);
    chunk_unref(chunk);
    return r;
}

static inline void fake_moved(struct xfer_progress *progress, uint64_t bytes)
{
    if (progress != NULL)
        atomic_store(&progress->file_bytes, bytes);
}

/* Out of order: the second piece of each two before the first. */
static inline int fake_get(struct endpoint *e, struct bytes path,
                           const struct endpoint_get *get, struct endpoint_got *ret)
{
    struct fake_endpoint *x = fake_of(e);
    struct fake_server *s = x->server;
    *ret = (struct endpoint_got){0};
    if (x->is_broken)
        return -FERRY_ECLOSED;
    struct fake_file *f = fake_find(s, path);
    if (f == NULL)
        return -ENOENT;
    if (f->is_directory)
        return -EISDIR;
    fake_facts(s, f, &ret->facts);
    ret->facts.size_bytes = f->len;
    uint64_t at = get->offset;
    int r = 0;
    while (r == 0 && at < f->len) {
        size_t first = f->len - at < FAKE_PIECE ? f->len - at : FAKE_PIECE;
        size_t second = f->len - at - first < FAKE_PIECE ? f->len - at - first : FAKE_PIECE;
        if (!s->is_unordered)
            second = 0;
        if (second > 0) {
            size_t n = fake_pass(x, second);
            if (n > 0)
                r = fake_hand_out(get, f, at + first, n);
            if (x->is_broken)
                break;
        }
        size_t n = fake_pass(x, first);
        if (r == 0 && n > 0)
            r = fake_hand_out(get, f, at, n);
        at += n;
        if (!x->is_broken)
            at += second;
        ret->bytes = at - get->offset;
        fake_moved(get->progress, ret->bytes);
        if (x->is_broken)
            break;
        task_yield();
        if (task_is_cancelled())
            r = -ECANCELED;
    }
    return r < 0 ? r : x->is_broken ? -FERRY_ECLOSED : 0;
}

static inline void fake_append(struct fake_file *f, const uint8_t *data, size_t len)
{
    f->data = mem_resize(f->data, f->len + len + 1);
    TASK_ASSERT(f->data != NULL);
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
    return x->is_broken ? -FERRY_ECLOSED : n < 0 ? (int)n : 0;
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
