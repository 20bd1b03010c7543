/* scp -f: files and directories of the tree to the peer. */
#include <errno.h>

#include "base/err.h"
#include "scp/internal.h"
#include "vfs/walk.h"

#define PAD_BYTES (256 * 1024)

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
        int r = stream_room(s->lines.stream, len < PAD_BYTES ? (size_t)len : PAD_BYTES, &room);
        if (r < 0)
            return r;
        wipe_room(&room);
        len -= room.len;
        r = stream_send(s->lines.stream, &room, room.len);
        if (r < 0)
            return r;
    }
    return 0;
}

static PARKS int send_body(struct scp *s, struct vfile *file, uint64_t size)
{
    struct xfer_progress progress = {0};
    struct xfer_result moved;
    const struct xfer_request request =
        session_transfer_begin(s->session, "scp", size, &progress);
    int r = size > 0 ? xfer_send(file, s->lines.stream, &request, &moved) : 0;
    session_transfer_end(s->session, &progress);
    if (size == 0)
        moved = (struct xfer_result){0};
    scp_audit(s, "download", &moved, r);
    if (xfer_lost_peer(r))
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

static PARKS int send_entry(struct scp *s, const struct vstat *stat)
{
    int r = stat->kind == VSTAT_FILE ? send_file(s) : -FERRY_ENOTREG; /* links neither */
    return r == -EISDIR || r == -FERRY_ENOTREG ? scp_complain(s, r) : r;
}

static PARKS int enter_directory(struct scp *s, struct vwalk *w, const struct vstat *stat)
{
    struct scp_line line = facts_of(SCP_LINE_DIRECTORY, stat);
    struct vpath path;
    int r = scp_path_parse(s, &path);
    if (r < 0)
        return r;
    line.text = last_name(&path);
    r = announce(s, &line);
    vpath_done(&path);
    if (r == 0)
        vwalk_skip(w);
    return r < 0 ? r : 0;
}

static PARKS int leave_directory(struct scp *s)
{
    int r = scp_say(s, &(struct scp_line){.kind = SCP_LINE_END});
    if (r == 0)
        r = scp_read_answer(s);
    return r < 0 ? r : 0;
}

static PARKS int take_step(struct scp *s, struct vwalk *w, const struct vwalk_step *step)
{
    scp_path_set(s, step->path);
    switch (step->kind) {
    case VWALK_ENTER:
        return enter_directory(s, w, &step->stat);
    case VWALK_ENTRY:
        return send_entry(s, &step->stat);
    case VWALK_LEAVE:
        return leave_directory(s);
    case VWALK_FAILED:
        break;
    }
    return scp_complain(s, step->error);
}

static PARKS int send_tree(struct scp *s, const struct vpath *top)
{
    struct vwalk *w;
    struct vwalk_step step;
    int r = vwalk_new(s->session->vfs, top, &w);
    if (r < 0)
        return scp_complain(s, r);
    while ((r = vwalk_next(w, &step)) > 0) {
        r = take_step(s, w, &step);
        if (r < 0)
            break;
    }
    vwalk_free(w);
    return r;
}

/* -- what was asked for -- */

static PARKS int send_named(struct scp *s, struct bytes name)
{
    struct vpath path;
    scp_path_set(s, name);
    int r = vpath_parse(BYTES_LIT("/"), name, &path);
    if (r < 0)
        return scp_complain(s, r);
    scp_path_set(s, vpath_bytes(&path));
    r = send_file(s);
    if (r == -EISDIR && s->options->is_recursive)
        r = send_tree(s, &path);
    else if (r == -EISDIR)
        r = scp_complain(s, -FERRY_ENOTREG);
    vpath_done(&path);
    return r;
}

int scp_send(struct session *session, struct stream *stream, const struct scp_options *options,
             struct bytes names)
{
    struct scp *s;
    int r = scp_new(session, stream, options, &s);
    if (r < 0)
        return r;
    r = scp_read_answer(s); /* the peer speaks first */
    while (r >= 0 && names.len > 0)
        r = send_named(s, bytes_take_until(&names, '\0'));
    return scp_end(s, r);
}
