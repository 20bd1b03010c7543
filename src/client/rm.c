/* ferry rm: files, and with -r whole directories. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/command.h"
#include "client/places.h"

static const struct remote_flag flags[] = {
    {'r', "recursive", "directories, with all that is in them"},
    {'f', "force", "what is not there is no failure"},
    {0, NULL, NULL},
};

static const struct remote_usage usage = {.line = "rm [-r] [-f] [OPTION]... PLACE...",
                                          .what =
                                              "Removes files. Links are removed themselves.",
                                          .flags = flags,
                                          .least = 1};

/* -- one directory's names -- */

struct name {
    struct name *next;
    enum endpoint_kind kind;
    char text[];
};

struct names {
    struct name *first;
};

static int on_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct names *names = arg;
    struct name *n = mem_raw(sizeof(*n) + name.len + 1);
    if (n == NULL)
        return -ENOMEM;
    n->kind = facts->kind;
    memcpy(n->text, name.data, name.len);
    n->text[name.len] = '\0';
    n->next = names->first;
    names->first = n;
    return 0;
}

static void names_done(struct names *names)
{
    while (names->first != NULL) {
        struct name *n = names->first;
        names->first = n->next;
        mem_free(n);
    }
}

static PARKS int remove_tree(struct places *p, const char *path, unsigned depth);

static PARKS int remove_entry(struct places *p, const char *directory, const struct name *n,
                              unsigned depth)
{
    struct endpoint *e = p->endpoint;
    char *path = remotes_join(directory, bytes_str(n->text));
    struct endpoint_facts facts = {.kind = n->kind};
    int r = path == NULL ? -ENOMEM : 0;
    if (r == 0 && facts.kind == ENDPOINT_UNKNOWN)
        r = e->ops->stat(e, bytes_str(path), false, &facts);
    if (r == 0)
        r = facts.kind == ENDPOINT_DIRECTORY ? remove_tree(p, path, depth + 1)
                                             : e->ops->remove(e, bytes_str(path));
    if (r < 0 && path != NULL && !places_is_over(r)) {
        places_fail(p, path, r);
        r = 0; /* the others go */
    }
    mem_free(path);
    return r;
}

/* What is in it first. A link is no directory here, so nothing outside is reached. */
static PARKS int remove_tree(struct places *p, const char *path, unsigned depth)
{
    struct endpoint *e = p->endpoint;
    struct names names = {0};
    if (depth >= WALK_DEPTH_MAX)
        return -FERRY_ELIMIT;
    int r = e->ops->list(e, bytes_str(path), on_name, &names);
    while (r == 0 && names.first != NULL) {
        struct name *n = names.first;
        names.first = n->next;
        r = task_is_cancelled() ? -ECANCELED : remove_entry(p, path, n, depth);
        mem_free(n);
    }
    names_done(&names);
    return r < 0 ? r : e->ops->rmdir(e, bytes_str(path));
}

/* "." and ".." and "/" are what nobody means. */
static bool is_careless(const char *path)
{
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    size_t from = len;
    while (from > 0 && path[from - 1] != '/')
        from--;
    struct bytes last = bytes_of(path + from, len - from);
    return last.len == 0 || bytes_equal(last, BYTES_LIT(".")) ||
           bytes_equal(last, BYTES_LIT(".."));
}

static PARKS int remove_path(struct places *p, const char *path)
{
    struct endpoint *e = p->endpoint;
    struct endpoint_facts facts;
    if (is_careless(path))
        return -EINVAL;
    int r = e->ops->stat(e, bytes_str(path), false, &facts);
    if (r == -ENOENT && places_has(p, 'f'))
        return 0;
    if (r < 0)
        return r;
    if (facts.kind != ENDPOINT_DIRECTORY)
        return e->ops->remove(e, bytes_str(path));
    return places_has(p, 'r') ? remove_tree(p, path, 0) : -EISDIR;
}

static PARKS void rm_main(struct places *p)
{
    places_each(p, remove_path);
}

int command_rm(int argc, char **argv)
{
    return places_run(argc, argv, &usage, rm_main);
}
