/* Patterns on a server's side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/remotes.h"

#define NAMES_MAX 65536 /* that one pattern stands for */

struct paths {
    char **at;
    unsigned count, room;
};

static void paths_done(struct paths *p)
{
    for (unsigned i = 0; i < p->count; i++)
        mem_free(p->at[i]);
    mem_free(p->at);
    *p = (struct paths){0};
}

/* Takes the path, which may be NULL for want of memory. */
static int paths_add(struct paths *p, char *path)
{
    if (path == NULL)
        return -ENOMEM;
    if (p->count == p->room) {
        unsigned room = p->room != 0 ? 2 * p->room : 16;
        char **more = p->count < NAMES_MAX ? mem_resize(p->at, room * sizeof(*more)) : NULL;
        if (more == NULL) {
            mem_free(path);
            return p->count < NAMES_MAX ? -ENOMEM : -FERRY_ELIMIT;
        }
        p->at = more;
        p->room = room;
    }
    p->at[p->count++] = path;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct match {
    const char *directory;
    struct bytes pattern;
    bool needs_directory;
    uint64_t steps;
    struct paths *found;
};

static int on_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct match *m = arg;
    bool is_hidden = name.data[0] == '.' && m->pattern.data[0] != '.';
    if (is_hidden || (m->needs_directory && facts->kind == ENDPOINT_FILE))
        return 0;
    int r = glob_match(m->pattern, name, &m->steps);
    return r <= 0 ? r : paths_add(m->found, remotes_join(m->directory, name));
}

/* Each of the paths with the next component, which may be a pattern. */
static PARKS int expand_component(struct endpoint *e, const struct paths *from,
                                  struct bytes component, bool is_last, struct paths *to)
{
    int r = 0;
    for (unsigned i = 0; i < from->count && r == 0; i++) {
        struct match m = {.directory = from->at[i],
                          .pattern = component,
                          .needs_directory = !is_last,
                          .steps = GLOB_STEPS_MAX,
                          .found = to};
        if (!glob_has_magic(component)) {
            r = paths_add(to, remotes_join(from->at[i], component));
            continue;
        }
        r = e->ops->list(e, bytes_str(from->at[i]), on_name, &m);
        if (r == -ENOENT || r == -ENOTDIR || r == -EACCES || r == -FERRY_EREFUSED)
            r = 0; /* what cannot be looked into has nothing that matches */
    }
    return r;
}

static PARKS int expand(struct endpoint *e, struct bytes rest, struct paths *ret)
{
    bool is_absolute = rest.len > 0 && rest.data[0] == '/';
    int r = paths_add(ret, mem_strdup(is_absolute ? "/" : "."));
    while (r == 0 && rest.len > 0) {
        struct bytes component = bytes_take_until(&rest, '/');
        struct paths next = {0};
        if (component.len == 0)
            continue;
        r = expand_component(e, ret, component, rest.len == 0, &next);
        paths_done(ret);
        *ret = next;
    }
    if (ret->count > 1)
        qsort(ret->at, ret->count, sizeof(*ret->at), by_name);
    return r;
}

/* What has no pattern behind the last one need not be there. */
static PARKS int call_each(struct endpoint *e, const struct paths *p, remotes_path_fn *fn,
                           void *arg)
{
    unsigned called = 0;
    int r = 0;
    for (unsigned i = 0; i < p->count && r == 0; i++) {
        struct endpoint_facts facts;
        if (e->ops->stat(e, bytes_str(p->at[i]), false, &facts) == -ENOENT)
            continue;
        r = fn(arg, p->at[i]);
        called++;
    }
    return r < 0 || called > 0 ? r : -ENOENT;
}

int remotes_expand(struct endpoint *e, const char *path, remotes_path_fn *fn, void *arg)
{
    struct endpoint_facts facts;
    struct paths found = {0};
    if (e->host == NULL || !glob_has_magic(bytes_str(path)))
        return fn(arg, path);
    int r = e->ops->stat(e, bytes_str(path), false, &facts);
    if (r == 0)
        return fn(arg, path);
    if (r != -ENOENT && r != -FERRY_EREFUSED && r != -FERRY_EBADNAME)
        return r;
    r = expand(e, bytes_str(path), &found);
    if (r == 0)
        r = call_each(e, &found, fn, arg);
    paths_done(&found);
    return r;
}
