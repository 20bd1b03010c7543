/* scp -f: files and directories of the tree to the peer. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "scp/internal.h"

#define PAD_BYTES (256 * 1024)

/* A directory that is being sent. Its files go while it is listed, and the names of its
 * directories wait: so one listing is open at a time, however deep the tree. */
struct level {
    size_t path_len;
    size_t names_start, names_at; /* in walk.names */
};

/* Before each name in walk.names. */
struct waiting {
    struct scp_line facts;
    size_t len;
};

struct walk {
    struct scp *scp;
    struct buf names;
    unsigned depth;
    struct level levels[SCP_DEPTH_MAX];
};

/* -- lines -- */

/* T if it is wanted, then C or D. 1: go on; 0: the peer does not want it. */
static PARKS int announce(struct scp *s, struct scp_line *line)
{
    int r = 1;
    if (s->options->keeps_times) {
        struct scp_line times = *line;
        times.kind = SCP_LINE_TIMES;
        r = scp_say(s, &times);
        if (r == 0)
            r = scp_read_answer(s);
    }
    if (r <= 0)
        return r;
    r = scp_say(s, line);
    return r < 0 ? r : scp_read_answer(s);
}

static struct scp_line facts_of(enum scp_line_kind kind, const struct vstat *st)
{
    return (struct scp_line){
        .kind = kind,
        .mode = st->mode,
        .size_bytes = kind == SCP_LINE_FILE ? st->size_bytes : 0,
        .mtime_us = st->mtime_us,
        .atime_us = st->atime_us,
    };
}

/* Of the path; the root has none but this. */
static struct bytes last_name(const struct vpath *path)
{
    return vpath_is_root(path) ? BYTES_LIT(".") : vpath_name(path);
}

/* -- a file -- */

static void wipe_room(const struct room *room)
{
    for (unsigned i = 0; i < room->count; i++)
        memset(room->pieces[i].iov_base, 0, room->pieces[i].iov_len);
}

/* A file that could not be read to the end: its size was promised. */
static PARKS int pad(struct scp *s, uint64_t len)
{
    while (len > 0) {
        struct room room;
        int r = stream_room(s->stream, len < PAD_BYTES ? (size_t)len : PAD_BYTES, &room);
        if (r < 0)
            return r;
        wipe_room(&room);
        len -= room.len;
        r = stream_send(s->stream, &room, room.len);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_of_stream(int result)
{
    return result == -FERRY_ECLOSED || result == -FERRY_ESTALLED || result == -ECANCELED;
}

static PARKS int send_body(struct scp *s, struct vfile *file, uint64_t size)
{
    struct xfer_progress progress = {0};
    struct xfer_result moved;
    const struct xfer_request request = scp_moves(s, size, &progress);
    int r = size > 0 ? xfer_send(file, s->stream, &request, &moved) : 0;
    scp_moved(s);
    if (size == 0)
        moved = (struct xfer_result){0};
    scp_audit(s, "download", &moved, r);
    if (is_of_stream(r))
        return r;
    int padded = pad(s, size - moved.file_bytes);
    if (padded < 0)
        return padded;
    r = r < 0 ? scp_complain(s, r) : scp_say_done(s);
    return r < 0 ? r : scp_read_answer(s);
}

static PARKS int send_open_file(struct scp *s, struct vfile *file, struct bytes name)
{
    struct scp_line line = facts_of(SCP_LINE_FILE, vfile_stat(file));
    line.text = name;
    int r = announce(s, &line);
    if (r > 0)
        r = send_body(s, file, line.size_bytes);
    return r < 0 ? r : 0;
}

/* A directory: -EISDIR, and nothing is said. */
static PARKS int send_file(struct scp *s)
{
    struct vpath path;
    struct vfile *file;
    int r = scp_path_parse(s, &path);
    if (r < 0)
        return scp_complain(s, r);
    r = vfs_open(s->session->vfs, &path, &file);
    if (r == 0) {
        r = send_open_file(s, file, last_name(&path));
        (void)vfile_close(file);
    } else if (r != -EISDIR) {
        r = scp_complain(s, r);
    }
    vpath_done(&path);
    return r;
}

/* -- directories -- */

static int keep_name(struct walk *w, const struct ventry *entry)
{
    const struct waiting waiting = {facts_of(SCP_LINE_DIRECTORY, &entry->stat),
                                    entry->name_len};
    int r = buf_reserve(&w->names, sizeof(waiting) + entry->name_len);
    if (r == 0)
        r = buf_append(&w->names, &waiting, sizeof(waiting));
    return r < 0 ? r : buf_append(&w->names, entry->name, entry->name_len);
}

static PARKS int send_entry(struct walk *w, size_t path_len, const struct ventry *entry)
{
    struct scp *s = w->scp;
    int r = scp_path_enter(s, path_len, bytes_of(entry->name, entry->name_len));
    if (r == 0 && entry->stat.kind == VSTAT_DIRECTORY)
        r = keep_name(w, entry);
    else if (r == 0 && entry->stat.kind == VSTAT_FILE)
        return send_file(s);
    else if (r == 0) /* links are not followed: they may lead round */
        r = -FERRY_ENOTREG;
    return r < 0 ? scp_complain(s, r) : 0;
}

static PARKS int send_entries(struct walk *w, size_t path_len, struct vdir *dir)
{
    const struct ventry *entries;
    int count;
    while ((count = vdir_next(dir, &entries)) > 0)
        for (int i = 0; i < count; i++) {
            int r = send_entry(w, path_len, &entries[i]);
            if (r == -EISDIR) /* it has become one */
                r = scp_complain(w->scp, r);
            if (r < 0)
                return r;
        }
    w->scp->path_len = path_len;
    return count < 0 ? scp_complain(w->scp, count) : 0;
}

/* D and its files. It is left when its directories have been sent. */
static PARKS int enter_directory(struct walk *w, struct scp_line *line, struct vdir *dir)
{
    struct scp *s = w->scp;
    size_t path_len = s->path_len;
    int r = announce(s, line);
    if (r <= 0)
        return r;
    w->levels[w->depth++] = (struct level){path_len, w->names.len, w->names.len};
    return send_entries(w, path_len, dir);
}

static PARKS int send_directory(struct walk *w, struct scp_line *line)
{
    struct scp *s = w->scp;
    struct vpath path;
    struct vdir *dir;
    int r = w->depth == SCP_DEPTH_MAX ? -FERRY_ELIMIT : scp_path_parse(s, &path);
    if (r < 0)
        return scp_complain(s, r);
    r = vfs_dir_open(s->session->vfs, &path, &dir);
    if (r == 0) {
        line->text = last_name(&path);
        r = enter_directory(w, line, dir);
        (void)vdir_close(dir);
    } else {
        r = scp_complain(s, r);
    }
    vpath_done(&path);
    return r;
}

static PARKS int send_waiting(struct walk *w, struct level *l)
{
    struct waiting next;
    memcpy(&next, w->names.data + l->names_at, sizeof(next));
    const uint8_t *name = w->names.data + l->names_at + sizeof(next);
    int r = scp_path_enter(w->scp, l->path_len, bytes_of(name, next.len));
    l->names_at += sizeof(next) + next.len;
    return r < 0 ? scp_complain(w->scp, r) : send_directory(w, &next.facts);
}

static PARKS int leave_directory(struct walk *w)
{
    w->names.len = w->levels[--w->depth].names_start;
    int r = scp_say(w->scp, &(struct scp_line){.kind = SCP_LINE_END});
    if (r == 0)
        r = scp_read_answer(w->scp);
    return r < 0 ? r : 0;
}

static PARKS int send_tree(struct walk *w, struct scp_line *line)
{
    int r = send_directory(w, line);
    while (r == 0 && w->depth > 0) {
        struct level *l = &w->levels[w->depth - 1];
        r = l->names_at < w->names.len ? send_waiting(w, l) : leave_directory(w);
    }
    return r;
}

/* -- what was asked for -- */

/* One that is a link is followed, as everybody expects of what they name. */
static PARKS int send_named_directory(struct walk *w)
{
    struct scp *s = w->scp;
    struct vpath path;
    struct vstat st;
    if (!s->options->is_recursive)
        return scp_complain(s, -FERRY_ENOTREG);
    int r = scp_path_parse(s, &path);
    if (r < 0)
        return scp_complain(s, r);
    r = vfs_stat(s->session->vfs, &path, true, &st);
    vpath_done(&path);
    if (r < 0)
        return scp_complain(s, r);
    struct scp_line line = facts_of(SCP_LINE_DIRECTORY, &st);
    return send_tree(w, &line);
}

static PARKS int send_named(struct walk *w, struct bytes name)
{
    struct scp *s = w->scp;
    struct vpath path;
    int r = vpath_parse(BYTES_LIT("/"), name, &path);
    s->path_len = name.len < PATH_LEN_MAX ? name.len : PATH_LEN_MAX;
    memcpy(s->path, name.data, s->path_len);
    if (r < 0)
        return scp_complain(s, r);
    memcpy(s->path, path.text, path.len);
    s->path_len = path.len;
    vpath_done(&path);
    r = send_file(s);
    return r == -EISDIR ? send_named_directory(w) : r;
}

static PARKS int send_all(struct walk *w, struct bytes names)
{
    int r = scp_read_answer(w->scp); /* the peer speaks first */
    while (r >= 0 && names.len > 0)
        r = send_named(w, bytes_take_until(&names, '\0'));
    return r;
}

int scp_send(struct session *session, struct stream *stream, const struct scp_options *options,
             struct bytes names)
{
    struct scp *s;
    int r = scp_new(session, stream, options, &s);
    if (r < 0)
        return r;
    struct walk *w = mem_new(sizeof(*w));
    r = -ENOMEM;
    if (w != NULL) {
        w->scp = s;
        buf_init(&w->names, SCP_NAMES_BYTES);
        r = send_all(w, names);
        buf_done(&w->names);
    }
    mem_free(w);
    return scp_end(s, r);
}
