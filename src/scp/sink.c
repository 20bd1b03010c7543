/* scp -t: lines and files from the peer into the tree. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "scp/internal.h"

#define CLOSE_US        (30 * USEC_PER_S)
#define CLOSE_BROKEN_US (5 * USEC_PER_S)

/* A directory that the peer is in; the first is the target itself. */
struct level {
    size_t path_len;
    bool is_new;
    uint32_t mode;
    bool has_times;
    int64_t mtime_us, atime_us;
};

struct sink {
    struct scp *scp;
    bool has_directory;    /* the target is one: names go into it */
    bool has_times;        /* a T line came, for the next C or D */
    struct scp_line times; /* it */
    unsigned depth;        /* levels above the target */
    struct level levels[SCP_DEPTH_MAX + 1];
};

static struct vfs *vfs_of(const struct sink *k)
{
    return k->scp->session->vfs;
}

/* The path that a name of a line stands for. Without a directory, that of the target. */
static int enter(struct sink *k, struct bytes name, struct vpath *ret)
{
    struct scp *s = k->scp;
    size_t len = k->levels[k->depth].path_len;
    int r = 0;
    if (k->depth > 0 || k->has_directory)
        r = scp_path_enter(s, len, name);
    else
        s->path_len = len;
    return r < 0 ? r : scp_path_parse(s, ret);
}

/* -- mode and times, with -p -- */

static PARKS int set_attributes(struct sink *k, uint32_t mode, const struct scp_line *times)
{
    struct vattr attr = {.has_mode = true, .mode = mode & 0777};
    if (times != NULL) {
        attr.has_times = true;
        attr.mtime_us = times->mtime_us;
        attr.atime_us = times->atime_us;
    }
    struct vpath path;
    int r = scp_path_parse(k->scp, &path);
    if (r < 0)
        return r;
    r = vfs_set(vfs_of(k), &path, true, &attr);
    vpath_done(&path);
    return r;
}

/* -- a file -- */

/* What found no room is not kept (its owner could not see what to delete), nor what its sender
 * took back. */
static PARKS int end_upload(struct vupload *u, int result, uint64_t written)
{
    task_shield_begin(clock_after(result < 0 ? CLOSE_BROKEN_US : CLOSE_US));
    if (result < 0)
        vupload_break(u, xfer_lost_peer(result) ? written : 0);
    else
        result = vupload_commit(u, written);
    task_shield_end();
    return result;
}

/* The body, and what its sender says of it. 1: whole; 0: the sender took it back. What failed
 * here goes to *ret_error: the bytes are taken all the same, so that the dialogue can go on. */
static PARKS int receive_body(struct sink *k, struct vupload *u, uint64_t size,
                              struct xfer_result *moved, int *ret_error)
{
    struct scp *s = k->scp;
    struct xfer_progress progress = {0};
    struct scp_body body;
    scp_body_init(&body, s->lines.stream, size);
    const struct xfer_request request =
        session_transfer_begin(s->session, "scp", size, &progress);
    int r = xfer_receive(&body.stream, u, &request, moved);
    session_transfer_end(s->session, &progress);
    if (xfer_lost_peer(r))
        return r;
    *ret_error = r;
    r = scp_body_drain(&body);
    if (r == 0)
        r = scp_read_word(s);
    /* libssh2, and so curl, ends the channel instead of saying that the file was whole. All of
     * it is here, and a connection that broke is no such end. */
    return r == SCP_NO_WORD ? 1 : r;
}

/* Into the upload and to its end. 1: stored; 0: not, and *ret_error is what the peer has not
 * heard of, if that is so. */
static PARKS int receive_file(struct sink *k, struct vupload *u, uint64_t size, int *ret_error)
{
    struct xfer_result moved = {0};
    int r = scp_say_done(k->scp);
    if (r == 0)
        r = receive_body(k, u, size, &moved, ret_error);
    int result = r < 0 ? r : r == 0 ? -FERRY_ETRUNCATED : *ret_error;
    result = end_upload(u, result, moved.file_bytes);
    scp_audit(k->scp, "upload", &moved, result);
    if (r > 0)
        *ret_error = result;
    return r < 0 ? r : result == 0;
}

static PARKS int take_file(struct sink *k, const struct scp_line *line)
{
    struct scp *s = k->scp;
    struct vpath path;
    struct vupload *u;
    bool keeps = s->options->keeps_times;
    int r = enter(k, line->text, &path);
    if (r < 0)
        return scp_complain(s, r);
    const struct vupload_request request = {
        .kind = VUPLOAD_REPLACE,
        .expect_bytes = line->size_bytes,
        .mode = line->mode & vfs_mode_mask(vfs_of(k)),
    };
    r = vfs_upload_begin(vfs_of(k), &path, &request, &u);
    vpath_done(&path);
    if (r < 0)
        return scp_complain(s, r);
    int error = 0;
    r = receive_file(k, u, line->size_bytes, &error);
    if (r < 0)
        return r;
    if (r > 0 && keeps)
        error = set_attributes(k, line->mode, k->has_times ? &k->times : NULL);
    return error < 0 ? scp_complain(s, error) : scp_say_done(s);
}

/* -- directories -- */

static PARKS int make_directory(struct sink *k, const struct vpath *path, bool *ret_is_new)
{
    struct vstat st;
    int r = vfs_stat(vfs_of(k), path, true, &st);
    if (r == 0) {
        *ret_is_new = false;
        return st.kind == VSTAT_DIRECTORY ? 0 : -ENOTDIR;
    }
    if (r != -ENOENT)
        return r;
    r = vfs_mkdir(vfs_of(k), path);
    scp_audit(k->scp, "mkdir", &(struct xfer_result){0}, r);
    *ret_is_new = true;
    return r;
}

static PARKS int take_directory(struct sink *k, const struct scp_line *line)
{
    struct scp *s = k->scp;
    struct vpath path;
    bool is_new = false;
    if (!s->options->is_recursive)
        return scp_refuse(s, "received directory without -r");
    int r = enter(k, line->text, &path);
    if (r < 0)
        return scp_complain(s, r);
    r = k->depth == SCP_DEPTH_MAX ? -FERRY_ELIMIT : make_directory(k, &path, &is_new);
    vpath_done(&path);
    if (r < 0)
        return scp_complain(s, r);
    k->levels[++k->depth] = (struct level){
        .path_len = s->path_len,
        .is_new = is_new,
        .mode = line->mode,
        .has_times = k->has_times,
        .mtime_us = k->times.mtime_us,
        .atime_us = k->times.atime_us,
    };
    return scp_say_done(s);
}

/* Times and mode come last: what was made in it has changed the first, and the second may allow
 * nothing to be made. Without -p, only a new directory gets less than the usual bits. */
static PARKS int leave_directory(struct sink *k)
{
    struct scp *s = k->scp;
    const struct level *l = &k->levels[k->depth--];
    bool keeps = s->options->keeps_times;
    mode_t usual = vfs_mode_mask(vfs_of(k));
    int r = 0;
    s->path_len = l->path_len;
    if (keeps) {
        struct scp_line times = {.mtime_us = l->mtime_us, .atime_us = l->atime_us};
        r = set_attributes(k, l->mode, l->has_times ? &times : NULL);
    } else if (l->is_new && (l->mode & usual) != usual) {
        (void)set_attributes(k, l->mode & usual, NULL);
    }
    return r < 0 ? scp_complain(s, r) : scp_say_done(s);
}

/* -- the dialogue -- */

/* What was said wrong. The first line may be a message of a program that is no scp. */
static PARKS int refuse_line(struct scp *s, int error)
{
    return scp_refuse(s, error == -FERRY_EBADNAME ? "unexpected filename"
                                                  : "protocol error: expected control record");
}

/* 1: go on; 0: the end. */
static PARKS int take_line(struct sink *k, const struct scp_line *line)
{
    struct scp *s = k->scp;
    int r = 0;
    switch (line->kind) {
    case SCP_LINE_FILE:
        r = take_file(k, line);
        k->has_times = false;
        break;
    case SCP_LINE_DIRECTORY:
        r = take_directory(k, line);
        k->has_times = false;
        break;
    case SCP_LINE_TIMES:
        k->times = *line;
        k->has_times = true;
        r = scp_say_done(s);
        break;
    case SCP_LINE_END:
        if (k->depth == 0) {
            r = scp_say_done(s);
            return r < 0 ? r : 0;
        }
        r = leave_directory(k);
        break;
    case SCP_LINE_WARNING: /* the peer's own affair: its next line follows */
        s->has_failed = true;
        break;
    case SCP_LINE_FATAL:
        return -FERRY_EREFUSED;
    }
    return r < 0 ? r : 1;
}

static PARKS int take_lines(struct sink *k)
{
    struct bytes text;
    struct scp_line line;
    int r;
    do {
        r = scp_read_line(k->scp, &text);
        if (r < 0 && r != -FERRY_EPROTO)
            return r;
        if (r == 0) { /* within a directory something is missing */
            k->scp->has_failed |= k->depth > 0;
            return 0;
        }
        if (r > 0)
            r = scp_line_parse(text, &line);
        r = r < 0 ? refuse_line(k->scp, r) : take_line(k, &line);
    } while (r > 0);
    return r;
}

/* Is the target a directory, a file, or a name that is not there yet? */
static PARKS int look_at_target(struct sink *k, const char *target)
{
    struct scp *s = k->scp;
    struct vpath path;
    struct vstat st;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(target), &path);
    if (r < 0)
        return scp_refuse(s, err_text(r));
    scp_path_set(s, vpath_bytes(&path));
    k->levels[0].path_len = path.len;
    r = vfs_stat(vfs_of(k), &path, true, &st);
    vpath_done(&path);
    if (r == -ECANCELED)
        return r;
    k->has_directory = r == 0 && st.kind == VSTAT_DIRECTORY;
    if (r == 0 && s->options->needs_directory && !k->has_directory)
        r = -ENOTDIR;
    if (r < 0 && (r != -ENOENT || s->options->needs_directory))
        return scp_refuse(s, err_text(r));
    return scp_say_done(s);
}

int scp_receive(struct session *session, struct stream *stream,
                const struct scp_options *options, const char *target)
{
    struct scp *s;
    int r = scp_new(session, stream, options, &s);
    if (r < 0)
        return r;
    struct sink *k = mem_new(sizeof(*k));
    r = -ENOMEM;
    if (k != NULL) {
        k->scp = s;
        r = look_at_target(k, target);
        if (r == 0)
            r = take_lines(k);
    }
    mem_free(k);
    return scp_end(s, r);
}
