/* ferry mv: renames what is on one server. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/command.h"
#include "client/places.h"

static const struct remote_flag flags[] = {{0, NULL, NULL}};

static const struct remote_usage usage = {
    .line = "mv [OPTION]... FROM... TO",
    .what = "Renames files and directories, over what stands there; into TO, if that is a "
            "directory.\nAll are of one server and login, or of this machine.",
    .flags = flags,
    .least = 2};

struct target {
    char *path;
    bool is_directory;
};

static struct bytes last_component(const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    size_t from = len;
    while (from > 0 && path[from - 1] != '/')
        from--;
    return bytes_of(path + from, len - from);
}

struct move {
    struct places *places;
    const struct target *target;
};

static PARKS int move_one(void *arg, const char *from)
{
    struct move *m = arg;
    struct places *p = m->places;
    char *to = m->target->is_directory ? remotes_join(m->target->path, last_component(from))
                                       : mem_strdup(m->target->path);
    int r = to == NULL ? -ENOMEM
                       : p->endpoint->ops->rename(p->endpoint, bytes_str(from), bytes_str(to));
    if (r < 0)
        places_fail(p, from, r);
    mem_free(to);
    return places_is_over(r) ? r : 0;
}

static PARKS void move_all(struct places *p, struct target *target)
{
    struct endpoint *there = p->endpoint;
    struct move m = {p, target};
    for (unsigned i = 0; i + 1 < p->options.count; i++) {
        const struct location *from = &p->options.at[i];
        if (!places_enter(p, from))
            return;
        if (p->endpoint != there) {
            fprintf(stderr,
                    "ferry mv: both must be on one server, by one login: use ferry cp, then "
                    "ferry rm\n");
            p->code = EXIT_USAGE;
            return;
        }
        char *path = remotes_path(from);
        int r = path != NULL ? remotes_expand(there, path, move_one, &m) : -ENOMEM;
        if (r < 0 && !places_is_over(r))
            places_fail(p, from->path, r);
        mem_free(path);
        if (places_is_over(r))
            return;
    }
}

static PARKS void mv_main(struct places *p)
{
    const struct location *to = &p->options.at[p->options.count - 1];
    struct target target = {0};
    struct endpoint_facts facts;
    if (!places_enter(p, to))
        return;
    target.path = remotes_path(to);
    int r = target.path == NULL
                ? -ENOMEM
                : p->endpoint->ops->stat(p->endpoint, bytes_str(target.path), true, &facts);
    target.is_directory = r == 0 && facts.kind == ENDPOINT_DIRECTORY;
    if (r == -ENOENT && !to->is_directory && p->options.count == 2)
        r = 0;
    else if (r == 0 && !target.is_directory && (to->is_directory || p->options.count > 2))
        r = -ENOTDIR;
    if (r < 0)
        places_fail(p, to->path, r);
    else
        move_all(p, &target);
    mem_free(target.path);
}

int command_mv(int argc, char **argv)
{
    return places_run(argc, argv, &usage, mv_main);
}
