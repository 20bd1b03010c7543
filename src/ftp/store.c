/* STOR, STOU and APPE: the data connection into a file. What stood under the name stays until
 * the commit, and 226 is said only after it. */
#include <errno.h>

#include "base/err.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/transfer.h"
#include "ftp/wire/reply.h"
#include "io/tcp.h"

struct store {
    struct ftp_transfer transfer;
    struct vupload *upload;
};

static int begin(struct ftp_transfer *t, const struct vupload_request *request)
{
    struct store *self = (struct store *)t;
    int r = vfs_upload_begin(t->session->base.vfs, &t->path, request, &self->upload);
    if (r == 0)
        t->offset = vupload_offset(self->upload);
    return r;
}

static int begin_store(struct ftp_transfer *t)
{
    return begin(t, &(struct vupload_request){
                        .kind = t->offset != 0 ? VUPLOAD_RESUME : VUPLOAD_REPLACE,
                        .offset = t->offset,
                        .expect_bytes = t->expect_bytes,
                    });
}

static int begin_append(struct ftp_transfer *t)
{
    return begin(t, &(struct vupload_request){
                        .kind = VUPLOAD_APPEND,
                        .take_partial = t->takes_partial,
                        .expect_bytes = t->expect_bytes,
                    });
}

/* The name that STOU chose becomes the transfer's: 150, the audit record and the log tell it.
 */
static int begin_unique(struct ftp_transfer *t)
{
    struct vupload_request request = {
        .kind = VUPLOAD_UNIQUE,
        .expect_bytes = t->expect_bytes,
    };
    int r = begin(t, &request);
    if (r < 0)
        return r;
    struct vpath chosen;
    r = vpath_copy(vupload_path(((struct store *)t)->upload), &chosen);
    if (r < 0) {
        vupload_break(((struct store *)t)->upload, 0);
        return r;
    }
    vpath_done(&t->path);
    t->path = chosen;
    return 0;
}

static int announce(struct ftp_transfer *t, struct buf *out)
{
    return ftp_reply(out, 150, "Ready to receive %s.", t->argument);
}

/* RFC 1123 4.1.2.9 fixes this form. The name is as seen from the working directory. */
static int announce_unique(struct ftp_transfer *t, struct buf *out)
{
    struct bytes name = vpath_bytes(&t->path);
    if (bytes_equal(vpath_parent(&t->path), ftp_session_cwd(t->session)))
        name = vpath_name(&t->path);
    return ftp_reply(out, 150, "FILE: %.*s", (int)name.len, (const char *)name.data);
}

/* In stream mode the end of the data connection is the end of the file (RFC 959 3.4.1), and the
 * kernel closes the connections of a client that was killed as properly as any. Only its
 * control connection tells, which may be closed a moment later. So the commit comes a moment
 * later, too, and the session, whose connection ends, cancels it.
 *
 * A small file that ends with its last byte came by one write of a client that went on to its
 * next call, so it is not held up; nor is one of which all came that ALLO announced. A new file
 * costs a sixteenth of its time, or what the kernel of an idle machine needs between the two
 * ends. Where a good one would be lost, the look is as long as the upload took, up to what is
 * enough for a busy machine: a kill hardly ever comes with a long gap. The look must be a
 * sleep: the client's kernel may need our processor. */
#define LAST_LOOK_US       (5 * USEC_PER_MS)
#define LAST_LOOK_SHARE    16
#define SHORT_LOOK_US      150
#define MORE_LOOK_US       USEC_PER_MS /* where a good file stands */
#define ONE_WRITE_PAUSE_US USEC_PER_MS
#define ONE_WRITE_BYTES    (64 * 1024)

static bool came_in_one_go(const struct ftp_transfer *t)
{
    usec_t moved_at = t->progress.moved_at;
    usec_t pause_us = moved_at != 0 ? clock_now() - moved_at : t->moved.seconds_us;
    return t->moved.file_bytes <= ONE_WRITE_BYTES && pause_us < ONE_WRITE_PAUSE_US;
}

static usec_t last_look_us(struct ftp_transfer *t)
{
    bool is_all = t->is_deflate || /* its end is marked, and no kernel marks it */
                  (t->expect_bytes != 0 && t->moved.file_bytes >= t->expect_bytes);
    if (is_all || came_in_one_go(t) || t->session->is_quitting)
        return 0;
    bool replaces = vupload_replaces(((struct store *)t)->upload);
    usec_t us = replaces ? t->moved.seconds_us : t->moved.seconds_us / LAST_LOOK_SHARE;
    usec_t least_us = replaces ? MORE_LOOK_US : SHORT_LOOK_US;
    return us < least_us ? least_us : us > LAST_LOOK_US ? LAST_LOOK_US : us;
}

static int move(struct ftp_transfer *t, struct stream *data)
{
    struct xfer_request request = ftp_transfer_request(t);
    int r = xfer_receive(data, ((struct store *)t)->upload, &request, &t->moved);
    usec_t look_us = r == 0 ? last_look_us(t) : 0;
    return look_us != 0 ? task_sleep_until(clock_after(look_us)) : r;
}

/* Also while the session does not read, because a command waits for our end. */
static bool client_has_left(const struct ftp_session *s)
{
    return !s->is_quitting && tcp_has_ended(stream_fd(s->base.control));
}

/* What found no room is not kept: it would go on taking the room, under a name that no listing
 * shows, and its owner could not even see what to delete. Nor is what nobody should go on with:
 * a damaged stream shows that only behind the damage. */
static bool is_to_keep(int result)
{
    switch (result) {
    case -FERRY_EQUOTA:
    case -ENOSPC:
    case -EDQUOT:
    case -EBADMSG:
    case -FERRY_ELIMIT:
        return false;
    default:
        return true;
    }
}

static int end_upload(struct ftp_transfer *t, int result)
{
    struct vupload *upload = ((struct store *)t)->upload;
    uint64_t written_end = t->offset + t->moved.file_bytes;
    if (result >= 0 && client_has_left(t->session))
        result = -FERRY_ECLOSED;
    if (result < 0) {
        vupload_break(upload, is_to_keep(result) ? written_end : 0);
        return result;
    }
    return vupload_commit(upload, written_end);
}

static const struct ftp_transfer_kind store = {
    .verb = "STOR",
    .operation = "upload",
    .restarts = true,
    .is_upload = true,
    .size = sizeof(struct store),
    .open = begin_store,
    .announce = announce,
    .move = move,
    .close = end_upload,
};

static const struct ftp_transfer_kind append = {
    .verb = "APPE",
    .operation = "append",
    .is_upload = true,
    .size = sizeof(struct store),
    .open = begin_append,
    .announce = announce,
    .move = move,
    .close = end_upload,
};

static const struct ftp_transfer_kind store_unique = {
    .verb = "STOU",
    .operation = "upload",
    .is_upload = true,
    .size = sizeof(struct store),
    .open = begin_unique,
    .announce = announce_unique,
    .move = move,
    .close = end_upload,
};

int ftp_cmd_stor(struct ftp_session *s, const struct ftp_args *args)
{
    return ftp_transfer_start(s, &store, args->path, args->text);
}

int ftp_cmd_appe(struct ftp_session *s, const struct ftp_args *args)
{
    return ftp_transfer_start(s, &append, args->path, args->text);
}

int ftp_cmd_stou(struct ftp_session *s, const struct ftp_args *args)
{
    struct bytes name = args->text.len != 0 ? args->text : BYTES_LIT("upload");
    struct vpath path;
    int r = vpath_parse(ftp_session_cwd(s), name, &path);
    if (r < 0)
        return ftp_say_error(s, r, args->text);
    r = ftp_transfer_start(s, &store_unique, &path, name);
    vpath_done(&path);
    return r;
}
