#include "client/remote/glob.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/copy/names.h"

void endpoint_names_done(struct endpoint_names *n)
{
    for (unsigned i = 0; i < n->count; i++)
        mem_free(n->names[i]);
    mem_free(n->names);
    *n = (struct endpoint_names){0};
}

/* Takes the name, also on failure. */
static int add(struct endpoint_names *n, char *name)
{
    if (name == NULL)
        return -ENOMEM;
    size_t len = strlen(name);
    int r = n->count >= EXEC_NAMES_MAX || n->bytes + len > EXEC_NAMES_BYTES ? -FERRY_ELIMIT : 0;
    if (r == 0 && (n->count & (n->count - 1)) == 0) {
        size_t room = n->count > 0 ? 2 * (size_t)n->count : 1;
        char **grown = mem_resize(n->names, room * sizeof(n->names[0]));
        r = grown == NULL ? -ENOMEM : 0;
        n->names = grown != NULL ? grown : n->names;
    }
    if (r < 0) {
        mem_free(name);
        return r;
    }
    n->names[n->count++] = name;
    n->bytes += len;
    return 0;
}

/* -- one component -- */

struct match {
    struct bytes directory, pattern;
    bool needs_directory;
    uint64_t *steps;
    struct endpoint_names *found;
};

static int on_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct match *m = arg;
    if (name.len == 0 || (name.data[0] == '.' && m->pattern.data[0] != '.'))
        return 0;
    if (m->needs_directory && (facts->kind == ENDPOINT_FILE || facts->kind == ENDPOINT_OTHER))
        return 0;
    int r = glob_match(m->pattern, name, m->steps);
    return r <= 0 ? r : add(m->found, copy_name_join(m->directory, name));
}

/* What cannot be looked into has nothing that matches. */
static PARKS int list(struct endpoint *e, struct match *m)
{
    struct bytes directory = m->directory.len > 0 ? m->directory : BYTES_LIT(".");
    int r = e->ops->list(e, directory, on_name, m);
    return r == -ENOENT || r == -ENOTDIR || r == -EACCES || r == -FERRY_EREFUSED ? 0 : r;
}

/* A link is there, wherever it leads. */
static PARKS int is_there(struct endpoint *e, struct bytes path)
{
    struct endpoint_facts facts;
    return e->ops->stat(e, path, false, &facts);
}

/* What each of the directories has of this component. */
static PARKS int extend(struct endpoint *e, const struct endpoint_names *before,
                        struct match *how)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < before->count; i++) {
        how->directory = bytes_str(before->names[i]);
        r = glob_has_magic(how->pattern)
                ? list(e, how)
                : add(how->found, copy_name_join(how->directory, how->pattern));
    }
    return r;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static PARKS int expand(struct endpoint *e, struct bytes rest, struct endpoint_names *ret)
{
    uint64_t steps = GLOB_STEPS_MAX;
    bool is_absolute = rest.len > 0 && rest.data[0] == '/';
    struct endpoint_names before = {0};
    int r = add(&before, mem_strdup(is_absolute ? "/" : ""));
    while (r == 0 && rest.len > 0) {
        struct endpoint_names found = {0};
        struct match m = {
            .pattern = bytes_take_until(&rest, '/'), .steps = &steps, .found = &found};
        m.needs_directory = rest.len > 0;
        if (m.pattern.len == 0)
            continue;
        r = extend(e, &before, &m);
        endpoint_names_done(&before);
        before = found;
    }
    *ret = before;
    return r;
}

/* Of a name that may be a pattern: servers of FTP say no more than that they refuse. */
static bool is_missing(int result)
{
    return result == -ENOENT || result == -ENOTDIR || result == -FERRY_EREFUSED ||
           result == -FERRY_EBADNAME;
}

/* Components behind the last pattern were only joined. */
static PARKS int drop_missing(struct endpoint *e, struct endpoint_names *names)
{
    unsigned kept = 0;
    int r = 0;
    for (unsigned i = 0; i < names->count; i++) {
        r = r < 0 ? r : is_there(e, bytes_str(names->names[i]));
        if (r == 0)
            names->names[kept++] = names->names[i];
        else
            mem_free(names->names[i]);
        r = is_missing(r) ? 0 : r;
    }
    names->count = kept;
    return r;
}

int endpoint_glob(struct endpoint *e, struct bytes pattern, struct endpoint_names *ret)
{
    int r = is_there(e, pattern);
    if (r == 0)
        return add(ret, copy_name_join(pattern, BYTES_NONE));
    if (!is_missing(r))
        return r;
    r = expand(e, pattern, ret);
    if (r == 0 && !glob_has_magic(copy_name_last(pattern)))
        r = drop_missing(e, ret);
    if (r == 0 && ret->count == 0)
        r = -ENOENT;
    if (r == 0)
        qsort(ret->names, ret->count, sizeof(ret->names[0]), compare);
    return r;
}
