/* RETR: a file to the data connection. */
#include <errno.h>
#include <inttypes.h>

#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/transfer.h"
#include "ftp/wire/reply.h"

struct retrieve {
    struct ftp_transfer transfer;
    struct vfile *file;
    uint64_t size_bytes; /* of the file at its open */
};

static int open_file(struct ftp_transfer *t)
{
    struct retrieve *self = (struct retrieve *)t;
    int r = vfs_open(t->session->base.vfs, &t->path, &self->file);
    if (r < 0)
        return r;
    self->size_bytes = vfile_stat(self->file)->size_bytes;
    if (t->offset > self->size_bytes) {
        self->file = vfile_close(self->file);
        return -EINVAL;
    }
    return 0;
}

/* The count in parentheses is what clients show progress by; curl and others read it. In the
 * ASCII type nobody knows it yet. */
static int announce(struct ftp_transfer *t, struct buf *out)
{
    if (t->is_ascii)
        return ftp_reply(out, 150, "Opening ASCII data connection for %s.", t->argument);
    return ftp_reply(out, 150, "Opening BINARY data connection for %s (%" PRIu64 " bytes).",
                     t->argument, ((struct retrieve *)t)->size_bytes - t->offset);
}

static int move(struct ftp_transfer *t, struct stream *data)
{
    struct xfer_request request = ftp_transfer_request(t);
    int r = xfer_send(((struct retrieve *)t)->file, data, &request, &t->moved);
    if (r < 0)
        return r;
    /* Half close, then close: the kernel has every byte and sends it before the FIN, and no
     * reset can overtake it, because a client that receives sends nothing we would leave
     * unread. Waiting for the client's end too would hang with those that close after 226. */
    return stream_end(data, 0);
}

static int close_file(struct ftp_transfer *t, int result)
{
    struct retrieve *self = (struct retrieve *)t;
    self->file = vfile_close(self->file);
    return result;
}

static const struct ftp_transfer_kind retrieve = {
    .verb = "RETR",
    .operation = "download",
    .restarts = true,
    .size = sizeof(struct retrieve),
    .open = open_file,
    .announce = announce,
    .move = move,
    .close = close_file,
};

int ftp_cmd_retr(struct ftp_session *s, const struct ftp_args *args)
{
    return ftp_transfer_start(s, &retrieve, args->path, args->text);
}
