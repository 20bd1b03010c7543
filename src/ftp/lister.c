#include "ftp/lister.h"

#include <errno.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/limits.h"
#include "ftp/entry.h"
#include "ftp/wire/reply.h"

#define BATCH_BYTES      (32 * 1024)
#define LINE_MAX_BYTES   (16 * 1024) /* the longest, with the longest prefix */
#define GLOB_SPARE_STEPS 8 /* what a plain pattern costs beyond one look at each byte */
#define GLOB_LEVELS_MAX  4 /* components with wildcards; each holds a directory */

/* -- lines -- */

static int flush(struct ftp_lister *l)
{
    int r = stream_write_bytes(l->sink, buf_bytes(&l->out));
    buf_clear(&l->out);
    return r;
}

/* The entry's name with the prefix before it. Borrowed until the next call. */
static int join_prefix(struct ftp_lister *l, struct bytes *name)
{
    if (l->prefix.len == 0)
        return 0;
    buf_clear(&l->scratch);
    int r = buf_append_bytes(&l->scratch, buf_bytes(&l->prefix));
    if (r == 0)
        r = buf_append_bytes(&l->scratch, *name);
    if (r == 0)
        *name = buf_bytes(&l->scratch);
    return r;
}

/* The line of ftp_list_line() through ftp_reply_line(), which guards the reply's framing. */
static int append_reply_line(struct ftp_lister *l, const struct ftp_entry *entry)
{
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    int r = ftp_list_line(&line, entry, l->now_us);
    if (r == 0)
        r = ftp_reply_line(&l->out, "%.*s", (int)line.len - 2, (const char *)line.data);
    buf_done(&line);
    return r;
}

static int append_line(struct ftp_lister *l, struct bytes name, const struct vstat *stat,
                       const char *link_target)
{
    if (l->form == FTP_LISTER_NAMES)
        return ftp_nlst_line(&l->out, buf_bytes(&l->prefix), name);
    unsigned rights = 0;
    if (l->form == FTP_LISTER_FACTS)
        rights = vfs_rights_at_name(l->vfs, &l->target, name);
    struct ftp_entry entry = ftp_entry_of(rights, name, stat);
    if (link_target != NULL && link_target[0] != '/') /* a path of the host is not shown */
        entry.link_target = bytes_str(link_target);
    if (l->form == FTP_LISTER_FACTS)
        return ftp_mlsd_line(&l->out, &entry, l->facts);
    if (l->form == FTP_LISTER_LONG)
        return ftp_list_line(&l->out, &entry, l->now_us);
    return append_reply_line(l, &entry);
}

static int emit(struct ftp_lister *l, struct bytes name, const struct vstat *stat,
                const char *link_target)
{
    int r = 0;
    if (l->form == FTP_LISTER_LONG || l->form == FTP_LISTER_REPLY)
        r = join_prefix(l, &name);
    if (r == 0)
        r = append_line(l, name, stat, link_target);
    if (r == 0 && l->out.len >= BATCH_BYTES)
        r = flush(l);
    return r;
}

/* -- a directory -- */

static PARKS int open_directory(struct ftp_lister *l, const struct vpath *path,
                                struct vdir **ret)
{
    return l->form == FTP_LISTER_NAMES ? vfs_dir_open_names(l->vfs, path, ret)
                                       : vfs_dir_open(l->vfs, path, ret);
}

static int list_directory(struct ftp_lister *l)
{
    const struct ventry *entries;
    int count;
    while ((count = vdir_next(l->dir, &entries)) > 0) {
        for (int i = 0; i < count; i++) {
            int r = emit(l, bytes_of(entries[i].name, entries[i].name_len), &entries[i].stat,
                         entries[i].link_target);
            if (r < 0)
                return r;
        }
    }
    return count;
}

/* -- patterns -- */

static int expand(struct ftp_lister *l, struct bytes pattern, unsigned level);

static int resolve_prefix(const struct ftp_lister *l, struct bytes name, struct vpath *ret)
{
    struct buf text;
    buf_init(&text, 2 * PATH_LEN_MAX);
    int r = buf_append_bytes(&text, buf_bytes(&l->prefix));
    if (r == 0)
        r = buf_append_bytes(&text, name);
    if (r == 0 && text.len == 0)
        r = buf_append_byte(&text, '.');
    if (r == 0)
        r = vpath_parse(l->cwd, buf_bytes(&text), ret);
    buf_done(&text);
    return r;
}

/* What a pattern passes over: the name is gone, is no directory, or is not for this account.
 * Any other failure ends the listing, which else would look complete. */
static bool matches_nothing(int result)
{
    static const int quiet[] = {-ENOENT, -ENOTDIR,       -EACCES,        -ELOOP,
                                -EXDEV,  -FERRY_ERIGHTS, -FERRY_ENOTREG, -FERRY_EBADNAME};
    for (unsigned i = 0; i < ARRAY_LEN(quiet); i++)
        if (result == quiet[i])
            return true;
    return false;
}

/* The last component is a plain name: it is listed where it exists. */
static int emit_literal(struct ftp_lister *l, struct bytes name)
{
    struct vpath path;
    struct vstat stat;
    int r = resolve_prefix(l, name, &path);
    if (r < 0)
        return r;
    r = vfs_stat(l->vfs, &path, false, &stat);
    vpath_done(&path);
    if (r == 0)
        return emit(l, name, &stat, NULL);
    return matches_nothing(r) ? 0 : r;
}

static int expand_entry(struct ftp_lister *l, const struct ventry *entry, struct bytes rest,
                        unsigned level)
{
    struct bytes name = bytes_of(entry->name, entry->name_len);
    if (rest.data == NULL)
        return emit(l, name, &entry->stat, entry->link_target);
    if (entry->stat.kind != VSTAT_DIRECTORY)
        return 0;
    size_t before = l->prefix.len;
    int r = buf_append_bytes(&l->prefix, name);
    if (r == 0)
        r = buf_append_byte(&l->prefix, '/');
    if (r == 0)
        r = expand(l, rest, level + 1);
    l->prefix.len = before;
    return r;
}

/* Reading a directory once costs each of its names a look whatever the pattern, so that much is
 * free, or "*.jpg" would end early in a large directory. Patterns that try again and again, and
 * those that read directory after directory, pay from the budget. */
static void refund_steps(struct ftp_lister *l, uint64_t steps)
{
    l->glob_steps += steps;
    if (l->glob_steps > GLOB_STEPS_MAX)
        l->glob_steps = GLOB_STEPS_MAX;
}

/* Matches one component in the prefix's directory. rest: the components behind it; no data:
 * none. */
static int expand_in_directory(struct ftp_lister *l, struct bytes component, struct bytes rest,
                               unsigned level)
{
    struct vpath path;
    struct vdir *dir;
    int r = resolve_prefix(l, BYTES_NONE, &path);
    if (r < 0)
        return r;
    r = open_directory(l, &path, &dir);
    vpath_done(&path);
    if (r < 0)
        return matches_nothing(r) ? 0 : r;
    const struct ventry *entries;
    int count = 0;
    while (r >= 0 && (count = vdir_next(dir, &entries)) > 0) {
        for (int i = 0; i < count && r >= 0; i++) {
            struct bytes name = bytes_of(entries[i].name, entries[i].name_len);
            if (level == 0)
                refund_steps(l, name.len + GLOB_SPARE_STEPS);
            r = glob_match(component, name, &l->glob_steps);
            if (r > 0)
                r = expand_entry(l, &entries[i], rest, level);
        }
    }
    vdir_close(dir);
    return r < 0 ? r : count;
}

static int expand(struct ftp_lister *l, struct bytes pattern, unsigned level)
{
    size_t before = l->prefix.len, slash;
    int r = 0;
    while (r == 0 && bytes_find(pattern, '/', &slash) &&
           !glob_has_magic(bytes_first(pattern, slash))) {
        r = buf_append_bytes(&l->prefix, bytes_first(pattern, slash + 1));
        pattern = bytes_skip(pattern, slash + 1);
    }
    bool is_last = !bytes_find(pattern, '/', &slash);
    struct bytes component = is_last ? pattern : bytes_first(pattern, slash);
    if (r == 0 && level >= GLOB_LEVELS_MAX)
        r = -FERRY_ELIMIT;
    if (r == 0 && is_last && !glob_has_magic(component))
        r = emit_literal(l, component);
    else if (r == 0)
        r = expand_in_directory(l, component,
                                is_last ? BYTES_NONE : bytes_skip(pattern, slash + 1), level);
    l->prefix.len = before;
    return r;
}

/* -- the whole -- */

static int set_prefix(struct ftp_lister *l)
{
    if (l->form != FTP_LISTER_NAMES || l->name.len == 0 || bytes_equal(l->name, BYTES_LIT(".")))
        return 0;
    int r = buf_append_bytes(&l->prefix, l->name);
    if (r == 0 && l->name.data[l->name.len - 1] != '/')
        r = buf_append_byte(&l->prefix, '/');
    return r;
}

int ftp_lister_open(struct ftp_lister *l, struct bytes name)
{
    l->name = name;
    l->target = (struct vpath){0};
    l->dir = NULL;
    l->is_pattern = false;
    l->glob_steps = GLOB_STEPS_MAX;
    l->now_us = clock_wall_us();
    buf_init(&l->prefix, 2 * PATH_LEN_MAX);
    buf_init(&l->scratch, 2 * PATH_LEN_MAX);
    buf_init(&l->out, BATCH_BYTES + 2 * LINE_MAX_BYTES);
    int r = vpath_parse(l->cwd, name.len != 0 ? name : BYTES_LIT("."), &l->target);
    if (r == 0)
        r = vfs_stat(l->vfs, &l->target, true, &l->stat);
    if (r == -ENOENT && l->form != FTP_LISTER_FACTS && glob_has_magic(name)) {
        l->is_pattern = true;
        return 0;
    }
    if (r < 0)
        return r;
    if (l->stat.kind != VSTAT_DIRECTORY)
        return l->form != FTP_LISTER_FACTS ? 0 : -ENOTDIR;
    r = set_prefix(l);
    return r == 0 ? open_directory(l, &l->target, &l->dir) : r;
}

int ftp_lister_run(struct ftp_lister *l, struct stream *sink)
{
    int r;
    l->sink = sink;
    if (l->is_pattern)
        r = expand(l, l->name, 0);
    else if (l->dir != NULL)
        r = list_directory(l);
    else
        r = emit(l, l->name, &l->stat, NULL);
    return r == 0 ? flush(l) : r;
}

void ftp_lister_close(struct ftp_lister *l)
{
    l->dir = vdir_close(l->dir);
    vpath_done(&l->target);
    buf_done(&l->prefix);
    buf_done(&l->scratch);
    buf_done(&l->out);
}
