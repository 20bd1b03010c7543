#include "client/probe/data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/copy/names.h"
#include "client/copy/tree.h"
#include "client/remotes.h"
#include "xfer/piece.h"

#define INVENTED_BYTES (1024 * 1024)
#define KEPT_MAX       4096 /* files that are known by name at a time */
#define STRIDE         13   /* of pieces: the first few are from all over it, too */

void probe_sample_init(struct probe_sample *s)
{
    *s = (struct probe_sample){.files = 0};
    buf_init(&s->bytes, PROBE_SAMPLE_BYTES);
}

void probe_sample_done(struct probe_sample *s)
{
    buf_done(&s->bytes);
}

/* -- made up -- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

int probe_sample_invent(struct probe_sample *s)
{
    static const char *const words[] = {
        "accepted", "connection", "from",    "client",  "request", "for",     "file",
        "session",  "opened",     "closed",  "user",    "by",      "timeout", "after",
        "warning:", "error:",     "retried", "started", "stopped", "cache",   "updated",
    };
    uint32_t state = 1;
    unsigned second = 0;
    int r = 0;
    while (r == 0 && s->bytes.len + 256 < INVENTED_BYTES) {
        second += next_random(&state) % 3;
        r = buf_printf(&s->bytes, "2026-01-%02u %02u:%02u:%02u host%u daemon[%u]:",
                       second / 86400 % 28 + 1, second / 3600 % 24, second / 60 % 60,
                       second % 60, next_random(&state) % 8, 1000 + next_random(&state) % 9000);
        unsigned count = 4 + next_random(&state) % 6;
        for (unsigned i = 0; r == 0 && i < count; i++)
            r = buf_printf(&s->bytes, " %s",
                           words[next_random(&state) % (sizeof(words) / sizeof(*words))]);
        if (r == 0)
            r = buf_printf(&s->bytes, " 10.%u.%u.%u id=%06x\n", next_random(&state) % 4,
                           next_random(&state) % 256, next_random(&state) % 256,
                           (unsigned)next_random(&state) & 0xffffffu);
    }
    return r;
}

/* -- which files -- */

struct kept {
    char *path;
    uint64_t bytes;
};

struct taker {
    struct probe_sample *sample;
    struct pool *pool;
    char *top;
    struct copy_end end;
    struct chunk *chunk;
    struct kept files[KEPT_MAX]; /* every n-th one */
    unsigned count;
    uint64_t every, seen;
    uint64_t kept_bytes; /* of those files */
};

static PARKS int open_local(void *arg, char why[COPY_WHY_MAX], struct endpoint **ret)
{
    struct taker *t = arg;
    int r = endpoint_local_new("/", t->pool, ret);
    if (r < 0)
        (void)snprintf(why, COPY_WHY_MAX, "%s", err_text(r));
    return r;
}

static void thin_out(struct taker *t)
{
    unsigned kept = 0;
    t->kept_bytes = 0;
    for (unsigned i = 0; i < t->count; i++) {
        if (i % 2 != 0) {
            mem_free(t->files[i].path);
            continue;
        }
        t->kept_bytes += t->files[i].bytes;
        t->files[kept++] = t->files[i];
    }
    t->count = kept;
    t->every *= 2;
}

static int keep(struct taker *t, struct bytes path, uint64_t bytes)
{
    t->sample->files++;
    t->sample->total_bytes += bytes;
    if (bytes == 0 || t->seen++ % t->every != 0)
        return 0;
    if (t->count == KEPT_MAX)
        thin_out(t);
    char *whole = copy_name_join(bytes_str(t->top), path);
    if (whole == NULL)
        return -ENOMEM;
    t->files[t->count++] = (struct kept){whole, bytes};
    t->kept_bytes += bytes;
    return 0;
}

static PARKS int walk(struct taker *t, const struct endpoint_facts *facts)
{
    struct probe_sample *s = t->sample;
    struct copy_tree *tree;
    struct copy_tree_step step;
    int r = copy_tree_new(&t->end, bytes_str(t->top), facts, &tree);
    if (r < 0)
        return r;
    while ((r = copy_tree_next(tree, &step)) > 0) {
        s->unread_files += step.kind == COPY_TREE_FAILED;
        r = step.kind == COPY_TREE_FILE ? keep(t, step.path, step.facts.size_bytes) : 0;
        s->is_cut = s->files == PROBE_FILES_MAX;
        if (r < 0 || s->is_cut)
            break;
    }
    copy_tree_free(tree);
    return r < 0 ? r : 0;
}

/* -- what is in them -- */

/* At most len bytes of one file from an offset on. */
static PARKS int read_part(struct taker *t, const char *path, uint64_t offset, size_t len)
{
    struct vpath at;
    struct vfile *file;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(path), &at);
    if (r < 0)
        return r;
    r = vfs_open(endpoint_vfs(t->end.endpoint), &at, &file);
    vpath_done(&at);
    if (r < 0)
        return r;
    ssize_t n = 1;
    while (n > 0 && len > 0) {
        struct iovec piece = {t->chunk->data, len < t->chunk->size ? len : t->chunk->size};
        n = xfer_read_at(file, offset, t->chunk, &piece, 1, DEFAULT_STALL_US);
        if (n <= 0)
            break;
        r = buf_append(&t->sample->bytes, t->chunk->data, (size_t)n);
        n = r < 0 ? r : n;
        offset += n > 0 ? (uint64_t)n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    (void)vfile_close(file);
    return n < 0 ? (int)n : 0;
}

static bool is_fatal(int result)
{
    return result == -ECANCELED || result == -ENOMEM || result == -FERRY_ELIMIT;
}

/* One piece, from so many bytes of all on: of small files several, as they follow each other.
 */
static PARKS int read_piece(struct taker *t, uint64_t from, size_t len)
{
    unsigned i = 0;
    while (i < t->count && from >= t->files[i].bytes)
        from -= t->files[i++].bytes;
    for (; i < t->count && len > 0; i++, from = 0) {
        uint64_t left = t->files[i].bytes - from;
        size_t part = left < len ? (size_t)left : len;
        int r = read_part(t, t->files[i].path, from, part);
        if (is_fatal(r))
            return r;
        t->sample->unread_files += r < 0;
        len -= part;
    }
    return 0;
}

/* One piece from each part of the whole, at no regular distance: data may repeat itself. */
static PARKS int read_all(struct taker *t)
{
    uint64_t all = t->kept_bytes;
    if (all <= PROBE_SAMPLE_BYTES)
        return read_piece(t, 0, (size_t)all);
    uint64_t part = (all - PROBE_PIECE_BYTES) / PROBE_PIECES;
    uint32_t state = 1;
    int r = 0;
    for (unsigned i = 0; r == 0 && i < PROBE_PIECES; i++) {
        uint64_t from = part * (i * STRIDE % PROBE_PIECES);
        double into = (double)next_random(&state) / (double)(1u << 24);
        r = read_piece(t, from + (uint64_t)(into * (double)part), PROBE_PIECE_BYTES);
    }
    return r;
}

/* -- the whole -- */

static PARKS int find_files(struct taker *t, struct endpoint *e)
{
    struct endpoint_facts facts;
    int r = e->ops->stat(e, bytes_str(t->top), true, &facts);
    if (r < 0)
        return r;
    t->sample->is_tree = facts.kind == ENDPOINT_DIRECTORY;
    if (t->sample->is_tree)
        return walk(t, &facts);
    return facts.kind == ENDPOINT_FILE ? keep(t, BYTES_NONE, facts.size_bytes) : -FERRY_ENOTREG;
}

int probe_sample_take(struct probe_sample *s, const char *path, struct pool *pool)
{
    struct taker *t = mem_new(sizeof(*t));
    struct endpoint *e;
    if (t == NULL)
        return -ENOMEM;
    t->sample = s;
    t->pool = pool;
    t->every = 1;
    t->top = remotes_absolute(path);
    t->chunk = chunk_new(PROBE_SAMPLE_BYTES);
    copy_end_init(&t->end, &(struct copy_end_settings){.open = open_local, .arg = t});
    int r = t->top == NULL || t->chunk == NULL ? -ENOMEM : copy_end_enter(&t->end, &e);
    if (r == 0) {
        r = find_files(t, e);
        if (r == 0)
            r = read_all(t);
        if (r == 0 && s->bytes.len == 0)
            r = -ENODATA;
        copy_end_leave(&t->end, r);
    }
    copy_end_done(&t->end);
    for (unsigned i = 0; i < t->count; i++)
        mem_free(t->files[i].path);
    chunk_unref(t->chunk);
    mem_free(t->top);
    mem_free(t);
    return r;
}
