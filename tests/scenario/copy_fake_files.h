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
    size_t len, room;
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
