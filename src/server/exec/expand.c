#include "server/exec/expand.h"

#include <errno.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"

#define SPARE_STEPS                                                                            \
    8 /* a name of the first directory with a pattern is looked at for nothing */

struct expansion {
    struct vfs *vfs;
    struct bytes cwd;
    struct bytes component; /* of the pattern */
    bool is_last;
    bool is_first_magic;
    uint64_t steps;
    struct buf found; /* beginnings of paths, each with a NUL; the next component's input */
    unsigned count;
};

/* -- one component -- */

static int add(struct expansion *x, struct bytes prefix, struct bytes name)
{
    if (prefix.len + name.len > PATH_LEN_MAX)
        return 0; /* no file has such a path */
    if (x->count++ == EXEC_NAMES_MAX)
        return -FERRY_ELIMIT;
    int r = buf_append_bytes(&x->found, prefix);
    if (r == 0)
        r = buf_append_bytes(&x->found, name);
    if (r == 0 && !x->is_last)
        r = buf_append_byte(&x->found, '/');
    return r < 0 ? r : buf_append_byte(&x->found, '\0');
}

static int look_at(struct expansion *x, struct bytes prefix, const struct ventry *entry)
{
    struct bytes name = bytes_of(entry->name, entry->name_len);
    if (name.data[0] == '.' && x->component.data[0] != '.')
        return 0;
    if (!x->is_last && entry->stat.kind != VSTAT_DIRECTORY && entry->stat.kind != VSTAT_LINK)
        return 0;
    if (x->is_first_magic && x->steps < GLOB_STEPS_MAX)
        x->steps += name.len + SPARE_STEPS;
    int r = glob_match(x->component, name, &x->steps);
    return r <= 0 ? r : add(x, prefix, name);
}

/* A directory that cannot be listed has no match. */
static bool is_no_match(int result)
{
    return result != -ECANCELED && result != -ENOMEM && result != -EBUSY;
}

static PARKS int list(struct expansion *x, struct bytes prefix)
{
    struct vpath path;
    struct vdir *dir;
    int r = vpath_parse(x->cwd, prefix, &path);
    if (r < 0)
        return is_no_match(r) ? 0 : r;
    r = vfs_dir_open_names(x->vfs, &path, &dir);
    vpath_done(&path);
    if (r < 0)
        return is_no_match(r) ? 0 : r;
    const struct ventry *entries;
    int count = 0;
    while (r >= 0 && (count = vdir_next(dir, &entries)) > 0)
        for (int i = 0; i < count && r >= 0; i++)
            r = look_at(x, prefix, &entries[i]);
    (void)vdir_close(dir);
    if (r < 0)
        return r;
    return is_no_match(count) ? 0 : count;
}

/* A plain name. Behind a pattern it counts only if there is such a file. */
static PARKS int try_name(struct expansion *x, struct bytes prefix)
{
    size_t before = x->found.len;
    int r = add(x, prefix, x->component);
    if (r < 0 || !x->is_last || x->found.len == before)
        return r;
    struct vpath path;
    struct vstat st;
    r = vpath_parse(BYTES_LIT("/"), bytes_of(x->found.data + before, x->found.len - before - 1),
                    &path);
    if (r == 0) {
        r = vfs_stat(x->vfs, &path, false, &st);
        vpath_done(&path);
    }
    if (r < 0 && is_no_match(r)) {
        x->found.len = before;
        x->count--;
        return 0;
    }
    return r;
}

/* All that was found so far, each with this component behind it. */
static PARKS int expand_component(struct expansion *x)
{
    bool has_magic = glob_has_magic(x->component);
    struct buf before = x->found;
    struct bytes prefixes = buf_bytes(&before);
    int r = 0;
    buf_init(&x->found, EXEC_NAMES_BYTES);
    x->count = 0;
    while (r >= 0 && prefixes.len > 0) {
        struct bytes prefix = bytes_take_until(&prefixes, '\0');
        r = has_magic ? list(x, prefix) : try_name(x, prefix);
    }
    buf_done(&before);
    x->is_first_magic = x->is_first_magic && !has_magic;
    return r < 0 ? r : 0;
}

/* -- in order -- */

/* One pass of a merge sort: runs of `width` become runs of twice that. Thousands of names are
 * sorted in several turns. */
static PARKS void merge_runs(const char **from, const char **to, unsigned count, unsigned width)
{
    for (unsigned start = 0; start < count; start += 2 * width) {
        unsigned middle = start + width < count ? start + width : count;
        unsigned end = start + 2 * width < count ? start + 2 * width : count;
        unsigned a = start, b = middle;
        for (unsigned i = start; i < end; i++) {
            bool takes_a = a < middle && (b == end || strcmp(from[a], from[b]) <= 0);
            to[i] = takes_a ? from[a++] : from[b++];
            if (i % 256 == 0 && task_turn_is_over())
                task_yield();
        }
    }
}

static PARKS int append_sorted(struct bytes names, unsigned count, struct buf *ret)
{
    const char **all = mem_raw(2 * (size_t)count * sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    const char **from = all, **to = all + count;
    for (unsigned i = 0; i < count; i++)
        from[i] = (const char *)bytes_take_until(&names, '\0').data;
    for (unsigned width = 1; width < count; width *= 2) {
        merge_runs(from, to, count, width);
        const char **swap = from;
        from = to;
        to = swap;
    }
    int r = 0;
    for (unsigned i = 0; i < count && r == 0; i++)
        r = buf_append(ret, from[i], strlen(from[i]) + 1);
    mem_free(all);
    return r;
}

int expand_pattern(struct vfs *vfs, struct bytes cwd, struct bytes pattern, struct buf *ret)
{
    struct expansion x = {
        .vfs = vfs, .cwd = cwd, .is_first_magic = true, .steps = GLOB_STEPS_MAX};
    buf_init(&x.found, EXEC_NAMES_BYTES);
    int r = buf_append(&x.found, "/", pattern.len > 0 && pattern.data[0] == '/');
    if (r == 0)
        r = buf_append_byte(&x.found, '\0');
    while (r == 0 && pattern.len > 0) {
        size_t at;
        x.is_last = !bytes_find(pattern, '/', &at);
        x.component = bytes_take_until(&pattern, '/');
        if (x.component.len > 0)
            r = expand_component(&x);
    }
    if (r == 0 && x.count > 0)
        r = append_sorted(buf_bytes(&x.found), x.count, ret);
    buf_done(&x.found);
    return r;
}
