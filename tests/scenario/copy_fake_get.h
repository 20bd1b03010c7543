/* What the server of copy_fake_files.h tells and gives. */
#pragma once
#include "copy_fake_files.h"

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
