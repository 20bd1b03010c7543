/* OPEN, CLOSE, fsync@openssh.com, copy-data. */
#include <errno.h>

#include "base/err.h"
#include "sftp/internal.h"

#define ALL_OPEN_FLAGS                                                                         \
    (SFTP_OPEN_READ | SFTP_OPEN_WRITE | SFTP_OPEN_APPEND | SFTP_OPEN_CREATE |                  \
     SFTP_OPEN_TRUNCATE | SFTP_OPEN_EXCLUSIVE)
#define CHANGING_FLAGS (ALL_OPEN_FLAGS & ~(unsigned)SFTP_OPEN_READ)
#define COPY_BYTES     (512 * 1024)

static struct vhandle_request request_of(const struct sftp_request *q)
{
    /* A file that is made or cut is written, whatever it is opened for. */
    bool writes = (q->flags & (SFTP_OPEN_WRITE | SFTP_OPEN_CREATE | SFTP_OPEN_TRUNCATE)) != 0;
    bool creates = (q->flags & SFTP_OPEN_CREATE) != 0;
    return (struct vhandle_request){
        .reads = (q->flags & SFTP_OPEN_READ) != 0 || !writes,
        .writes = writes,
        .append = writes && (q->flags & SFTP_OPEN_APPEND) != 0,
        .create = creates,
        .exclusive = creates && (q->flags & SFTP_OPEN_EXCLUSIVE) != 0,
        .truncate = (q->flags & SFTP_OPEN_TRUNCATE) != 0,
        .mode = (q->attributes.has & SFTP_ATTR_MODE) != 0 ? q->attributes.mode & 0777 : 0,
    };
}

/* What a reader need not ask the file for: how long it is. Of one that is written, nobody knows
 * for long. */
static uint64_t known_size(const struct vhandle_request *request, struct vhandle *file)
{
    return request->writes ? SFTP_SIZE_UNKNOWN : vfile_stat(vhandle_file(file))->size_bytes;
}

static int open_file(struct sftp_server *s, const struct sftp_request *q,
                     struct sftp_open **ret)
{
    if (s->settings.read_only && (q->flags & CHANGING_FLAGS) != 0)
        return -FERRY_ERIGHTS;
    const struct vhandle_request request = request_of(q);
    struct vpath path;
    struct vhandle *file;
    int r = sftp_path(s, q->path, &path);
    if (r < 0)
        return r;
    r = vfs_handle_open(s->session->vfs, &path, &request, &file);
    if (r == 0) {
        r = sftp_open_new(s, ret);
        if (r < 0)
            (void)vhandle_free(file);
    }
    if (r < 0) {
        vpath_done(&path);
        return r;
    }
    (*ret)->path = path;
    (*ret)->file = file;
    (*ret)->reads = request.reads;
    (*ret)->writes = request.writes;
    (*ret)->size_bytes = known_size(&request, file);
    return 0;
}

int sftp_on_open(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open;
    int r = open_file(s, q, &open);
    return r < 0 ? sftp_say_result(s, q->id, r) : sftp_say_handle(s, q->id, open);
}

int sftp_on_close(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open = sftp_open_find(s, q->handle);
    if (open == NULL)
        return sftp_say_result(s, q->id, -EBADF);
    return sftp_say_result(s, q->id, sftp_open_close(s, open, true));
}

int sftp_on_fsync(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open = sftp_open_file(s, q->handle);
    return sftp_say_result(s, q->id, open != NULL ? vhandle_sync(open->file) : -EBADF);
}

/* -- copy-data (draft-ietf-secsh-filexfer-extensions-00 section 7) -- */

struct copy {
    struct sftp_open *from, *to;
    uint64_t from_offset, to_offset;
    uint64_t left; /* UINT64_MAX: to the end */
};

/* Bytes copied; 0: the source has ended. */
static int copy_step(struct sftp_server *s, const struct copy *c, struct chunk *chunk)
{
    chunk->pieces[0] =
        (struct iovec){chunk->data, c->left < chunk->size ? (size_t)c->left : chunk->size};
    ssize_t n = xfer_read_at(vhandle_file(c->from->file), c->from_offset, chunk, chunk->pieces,
                             1, s->stall_us);
    if (n <= 0)
        return (int)n;
    uint64_t to = c->to_offset;
    chunk->pieces[0].iov_len = (size_t)n;
    int r = vhandle_reserve(c->to->file, &to, (size_t)n);
    if (r == 0)
        r = xfer_write_at(vhandle_file(c->to->file), to, chunk, chunk->pieces, 1, s->stall_us);
    if (r < 0)
        vhandle_lost(c->to->file, to);
    return r < 0 ? r : (int)n;
}

static int copy_all(struct sftp_server *s, struct copy *c)
{
    struct chunk *chunk = chunk_new(COPY_BYTES);
    int r = chunk != NULL ? 1 : -ENOMEM;
    while (r > 0 && c->left > 0) {
        if (task_is_cancelled())
            r = -ECANCELED;
        else
            r = copy_step(s, c, chunk);
        if (r <= 0)
            break;
        c->from_offset += (unsigned)r;
        c->to_offset += (unsigned)r;
        c->to->written_bytes += (unsigned)r;
        if (c->left != UINT64_MAX)
            c->left -= (unsigned)r;
        if (task_turn_is_over())
            task_yield();
    }
    chunk_unref(chunk);
    return r < 0 ? r : 0;
}

static bool passes_end(uint64_t offset, uint64_t len)
{
    return offset > INT64_MAX || len > INT64_MAX - offset;
}

/* Bytes would be copied over those that are still to be read, perhaps for ever. Two handles of
 * one file are found by what they are, since it may have many names. */
static PARKS int check_apart(const struct copy *c)
{
    struct vstat from, to;
    int r = c->from == c->to ? -EINVAL : vhandle_stat(c->from->file, &from);
    if (r == 0)
        r = vhandle_stat(c->to->file, &to);
    if (r == 0 && from.device == to.device && from.inode == to.inode)
        r = -EINVAL;
    return r;
}

int sftp_on_copy_data(struct sftp_server *s, const struct sftp_request *q)
{
    struct copy c = {
        .from = sftp_open_file(s, q->handle),
        .to = sftp_open_file(s, q->to_handle),
        .from_offset = q->offset,
        .to_offset = q->to_offset,
        .left = q->len != 0 ? q->len : UINT64_MAX,
    };
    if (c.from == NULL || c.to == NULL)
        return sftp_say_result(s, q->id, -EBADF);
    int r = passes_end(q->offset, q->len) || passes_end(q->to_offset, q->len) ? -EINVAL : 0;
    if (r == 0)
        r = check_apart(&c);
    if (r < 0)
        return sftp_say_result(s, q->id, r);
    r = copy_all(s, &c);
    if (r < 0 && c.to->result >= 0)
        c.to->result = r;
    return sftp_say_result(s, q->id, r);
}
