/* ferry mkdir: directories, with those that lead to them. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/command.h"
#include "client/places.h"

static const struct remote_flag flags[] = {
    {'p', "parents", "also those that lead to it; one that is there is no failure"},
    {0, NULL, NULL},
};

static const struct remote_usage usage = {.line = "mkdir [-p] [OPTION]... PLACE...",
                                          .what = "Makes directories.",
                                          .flags = flags,
                                          .least = 1};

static PARKS int make(struct endpoint *e, const char *path)
{
    return e->ops->mkdir(e, bytes_str(path), 0777);
}

static PARKS int is_directory(struct endpoint *e, const char *path)
{
    struct endpoint_facts facts;
    int r = e->ops->stat(e, bytes_str(path), true, &facts);
    return r < 0 ? r : facts.kind == ENDPOINT_DIRECTORY ? 0 : -ENOTDIR;
}

/* From the first component on; path is changed meanwhile. */
static PARKS int make_all(struct endpoint *e, char *path)
{
    int r = 0;
    for (char *at = path + 1; r == 0; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char was = *at;
        *at = '\0';
        r = is_directory(e, path);
        if (r == -ENOENT)
            r = make(e, path);
        if (r == -EEXIST)
            r = is_directory(e, path);
        *at = was;
        if (was == '\0')
            break;
        while (at[1] == '/')
            at++;
    }
    return r;
}

static PARKS void mkdir_main(struct places *p)
{
    for (unsigned i = 0; i < p->options.count && p->code != EXIT_NO_LOGIN; i++) {
        const struct location *l = &p->options.at[i];
        if (!places_enter(p, l))
            continue;
        char *path = remotes_path(l);
        size_t len = path != NULL ? strlen(path) : 0;
        while (len > 1 && path[len - 1] == '/')
            path[--len] = '\0';
        int r = path == NULL         ? -ENOMEM
                : places_has(p, 'p') ? make_all(p->endpoint, path)
                                     : make(p->endpoint, path);
        if (r < 0)
            places_fail(p, l->path, r);
        mem_free(path);
        if (r == -ECANCELED)
            break;
    }
}

int command_mkdir(int argc, char **argv)
{
    return places_run(argc, argv, &usage, mkdir_main);
}
