#include "client/place/ssh_config_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/place/files.h"
#include "client/remote/endpoint.h"

#define INCLUDED_MAX 64 /* files that one pattern stands for */
#define SYSTEM_FILE  "/etc/ssh/ssh_config"

struct load {
    struct pool *pool;
    const char *base; /* of relative names of Include */
    mode_t forbidden; /* the user's files are for nobody else to write */
    size_t why_max;
    char *why;
};

static PARKS int include(void *arg, struct ssh_config *, const char *pattern, unsigned depth);

static int explain(const struct load *l, const char *path, int result)
{
    const char *what = result == -EPERM
                           ? "it must be yours, and nobody else may write to it: chmod go-w"
                           : err_text(result);
    (void)snprintf(l->why, l->why_max, "%.200s cannot be used: %s", path, what);
    return result;
}

static PARKS int read_file(struct load *l, struct ssh_config *c, const char *path,
                           unsigned depth)
{
    char why[SSH_CONFIG_WHY_MAX] = "";
    struct buf text;
    buf_init(&text, SSH_CONFIG_FILE_MAX + 1);
    int r = place_file_read(path, l->forbidden, &text);
    if (r == 0)
        r = ssh_config_read(c, buf_bytes(&text), path, depth, include, l, why);
    buf_done(&text);
    if (why[0] != '\0')
        (void)snprintf(l->why, l->why_max, "%s", why);
    else if (r < 0 && r != -ENOENT && r != -ENOTDIR && l->why[0] == '\0')
        (void)explain(l, path, r);
    return r;
}

/* -- Include -- */

struct matches {
    struct bytes pattern;
    uint64_t steps;
    unsigned count;
    char *names[INCLUDED_MAX];
};

static int on_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct matches *m = arg;
    (void)facts;
    if (name.data[0] == '.' || m->count == INCLUDED_MAX)
        return 0;
    int r = glob_match(m->pattern, name, &m->steps);
    if (r <= 0)
        return r;
    char *copy = mem_raw(name.len + 1);
    if (copy == NULL)
        return -ENOMEM;
    (void)text_copy(copy, name.len + 1, name);
    m->names[m->count++] = copy;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static PARKS int list_matches(struct load *l, const char *folder, struct matches *m)
{
    struct endpoint *local;
    int r = endpoint_local_new("/", l->pool, &local);
    if (r < 0)
        return r;
    r = local->ops->list(local, bytes_str(folder), on_name, m);
    (void)endpoint_free(local);
    qsort(m->names, m->count, sizeof(m->names[0]), by_name);
    return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : r;
}

static PARKS int read_one(struct load *l, struct ssh_config *c, const char *folder,
                          const char *name, unsigned depth)
{
    size_t len = strlen(folder) + strlen(name) + 2;
    char *path = mem_raw(len);
    if (path == NULL)
        return -ENOMEM;
    (void)snprintf(path, len, "%s/%s", folder, name);
    int r = read_file(l, c, path, depth);
    mem_free(path);
    return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

/* The last component alone may be a pattern. path is changed. */
static PARKS int read_matches(struct load *l, struct ssh_config *c, char *path, unsigned depth)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (!glob_has_magic(bytes_str(slash + 1)))
        return read_one(l, c, path, slash + 1, depth);
    struct matches *m = mem_new(sizeof(*m));
    if (m == NULL)
        return -ENOMEM;
    m->pattern = bytes_str(slash + 1);
    m->steps = GLOB_STEPS_MAX;
    int r = list_matches(l, path[0] != '\0' ? path : "/", m);
    for (unsigned i = 0; i < m->count; i++) {
        if (r == 0)
            r = read_one(l, c, path, m->names[i], depth);
        mem_free(m->names[i]);
    }
    mem_free(m);
    return r;
}

static PARKS int include(void *arg, struct ssh_config *c, const char *pattern, unsigned depth)
{
    struct load *l = arg;
    char *path;
    int r = ssh_config_expand(c, pattern, &path);
    if (r < 0)
        return r;
    if (path[0] != '/') {
        size_t len = strlen(l->base) + strlen(path) + 2;
        char *joined = mem_raw(len);
        if (joined != NULL)
            (void)snprintf(joined, len, "%s/%s", l->base, path);
        mem_free(path);
        path = joined;
    }
    if (path == NULL)
        return -ENOMEM;
    r = read_matches(l, c, path, depth);
    mem_free(path);
    return r;
}

/* -- the files -- */

static PARKS int load_given(struct load *l, struct ssh_config *c, const char *file)
{
    int r = read_file(l, c, file, 0);
    return r < 0 && l->why[0] == '\0' ? explain(l, file, r) : r;
}

int ssh_config_load(struct ssh_config *c, const char *file, struct pool *pool, size_t why_max,
                    char *ret_why)
{
    char *folder = place_at_home("/.ssh"), *usual = place_at_home("/.ssh/config");
    struct load l = {.pool = pool,
                     .base = folder != NULL ? folder : "/etc/ssh",
                     .why_max = why_max,
                     .why = ret_why};
    int r = 0;
    ret_why[0] = '\0';
    if (file != NULL) {
        r = strcmp(file, "none") == 0 ? 0 : load_given(&l, c, file);
    } else {
        l.forbidden = S_IWGRP | S_IWOTH;
        r = usual != NULL ? read_file(&l, c, usual, 0) : 0;
        l = (struct load){.pool = pool, .base = "/etc/ssh", .why_max = why_max, .why = ret_why};
        if (r == 0 || r == -ENOENT || r == -ENOTDIR)
            r = read_file(&l, c, SYSTEM_FILE, 0);
        if (r == -ENOENT || r == -ENOTDIR)
            r = 0;
    }
    mem_free(usual);
    mem_free(folder);
    return r;
}
