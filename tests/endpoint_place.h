/* An endpoint under test and the folder behind it, and files of text on both sides. */
#pragma once
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "client/remote/endpoint.h"
#include "runtime_fixture.h"

struct endpoint_place {
    struct endpoint *e;
    struct vfs *vfs;    /* of the same folder, for uploads and files; or NULL */
    const char *prefix; /* of the endpoint's paths: "", "/srv" */
    const char *folder; /* of this machine */
    bool has_no_set;    /* -EOPNOTSUPP */
    bool has_no_sha256; /* likewise */
};

/* -- paths and files -- */

static inline struct bytes at(const struct endpoint_place *p, const char *name)
{
    static char text[4][256];
    static unsigned turn;
    turn = (turn + 1) % 4;
    (void)snprintf(text[turn], sizeof(text[0]), "%s/%s", p->prefix, name);
    return bytes_str(text[turn]);
}

static inline const char *host_path(const struct endpoint_place *p, const char *name)
{
    static char text[4][256];
    static unsigned turn;
    turn = (turn + 1) % 4;
    (void)snprintf(text[turn], sizeof(text[0]), "%s/%s", p->folder, name);
    return text[turn];
}

static inline void write_host(const struct endpoint_place *p, const char *name,
                              const char *text)
{
    FILE *f = fopen(host_path(p, name), "we");
    TASK_ASSERT(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static inline bool host_has(const struct endpoint_place *p, const char *name, const char *text)
{
    char is[256] = "";
    FILE *f = fopen(host_path(p, name), "re");
    if (f == NULL)
        return false;
    size_t n = fread(is, 1, sizeof(is) - 1, f);
    (void)fclose(f);
    return n == strlen(text) && memcmp(is, text, n) == 0;
}

static inline bool host_lacks(const struct endpoint_place *p, const char *name)
{
    struct stat st;
    return lstat(host_path(p, name), &st) < 0;
}

/* -- what takes and what fills -- */

struct text_sink {
    char text[256];
    uint64_t end;
    int fails; /* with this, when something comes */
};

static PARKS int take_text(void *arg, uint64_t offset, struct chunk *chunk,
                           const struct iovec *pieces, unsigned count)
{
    struct text_sink *s = arg;
    (void)chunk;
    if (s->fails < 0)
        return s->fails;
    for (unsigned i = 0; i < count; i++) {
        TASK_ASSERT(offset + pieces[i].iov_len < sizeof(s->text));
        memcpy(s->text + offset, pieces[i].iov_base, pieces[i].iov_len);
        offset += pieces[i].iov_len;
    }
    s->end = offset > s->end ? offset : s->end;
    return 0;
}

struct text_source {
    const char *text;
    uint64_t fails_at; /* 0: never */
};

static PARKS ssize_t fill_text(void *arg, uint64_t offset, struct chunk *chunk,
                               const struct iovec *pieces, unsigned count)
{
    const struct text_source *s = arg;
    (void)chunk, (void)count;
    size_t len = strlen(s->text);
    if (s->fails_at != 0 && offset >= s->fails_at)
        return -EIO;
    if (s->fails_at != 0 && len > s->fails_at)
        len = s->fails_at;
    size_t left = offset < len ? len - offset : 0;
    size_t n = left < pieces[0].iov_len ? left : pieces[0].iov_len;
    memcpy(pieces[0].iov_base, s->text + offset, n);
    return (ssize_t)n;
}

static PARKS inline int get_text(const struct endpoint_place *p, const char *name,
                                 uint64_t offset, struct text_sink *ret,
                                 struct endpoint_got *got)
{
    const struct endpoint_get get = {.offset = offset, .take = take_text, .arg = ret};
    return p->e->ops->get(p->e, at(p, name), &get, got);
}

static PARKS inline int put_text(const struct endpoint_place *p, const char *name,
                                 uint64_t offset, struct text_source *source,
                                 uint64_t *ret_bytes)
{
    struct endpoint_put put = {
        .offset = offset, .fill = fill_text, .arg = source, .size_bytes = strlen(source->text)};
    return p->e->ops->put(p->e, at(p, name), &put, ret_bytes);
}
