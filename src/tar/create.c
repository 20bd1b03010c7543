/* tar c: a walk through the tree into an archive. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/chunk.h"
#include "tar/internal.h"
#include "vfs/walk.h"

#define PIECE_BYTES                                                                            \
    8192 /* compressed at a time: a third of a millisecond at gzip's level 6                   \
          */
#define ROOM_BYTES  (64 * 1024)
#define BLOCK_BYTES 10240              /* of tar; the end is filled up to one */
#define WRITE_BYTES (20 * BLOCK_BYTES) /* to the stream at a time */

/* -- libarchive writes to our stream -- */

static la_ssize_t write_output(struct archive *a, void *arg, const void *data, size_t len)
{
    struct tar *t = arg;
    if (t->error == 0)
        t->error = stream_write_bytes(t->request->stream, bytes_of(data, len));
    if (t->error == 0)
        return (la_ssize_t)len;
    archive_set_error(a, EIO, "%s", err_text(t->error));
    return ARCHIVE_FATAL;
}

static int add_filter(struct archive *a, enum tar_filter filter)
{
    switch (filter) {
    case TAR_GZIP:
        return archive_write_add_filter_gzip(a);
    case TAR_ZSTD:
        return archive_write_add_filter_zstd(a);
    case TAR_PLAIN:
        break;
    }
    return ARCHIVE_OK;
}

/* GNU's format: names are bytes in it, of any length. */
static int open_output(struct tar *t)
{
    struct archive *a = t->archive = archive_write_new();
    t->entry = archive_entry_new();
    if (a == NULL || t->entry == NULL || archive_write_set_format_gnutar(a) != ARCHIVE_OK ||
        add_filter(a, t->request->filter) < ARCHIVE_WARN)
        return -ENOMEM;
    /* behind the end of what is compressed there may be nothing */
    int last = t->request->filter == TAR_PLAIN ? BLOCK_BYTES : 1;
    if (archive_write_set_bytes_per_block(a, WRITE_BYTES) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, last) != ARCHIVE_OK)
        return -ENOMEM;
    return archive_write_open(a, t, NULL, write_output, NULL) == ARCHIVE_OK ? 0
                                                                            : tar_failure(t);
}

static PARKS int close_output(struct tar *t, int result)
{
    if (t->archive != NULL) {
        if (result < 0)
            t->error = result; /* nothing more goes out */
        if (archive_write_close(t->archive) < ARCHIVE_WARN && result == 0)
            result = tar_failure(t);
        (void)archive_write_free(t->archive);
    }
    archive_entry_free(t->entry);
    return result;
}

/* -- contents -- */

/* What is sent into it are the contents of the entry. */
struct contents {
    struct stream stream;
    struct tar *tar;
};

static int contents_room(struct stream *s, size_t want, struct room *ret)
{
    return chunk_room(s, want < ROOM_BYTES ? want : ROOM_BYTES, ret);
}

static PARKS int write_piece(struct tar *t, const uint8_t *data, size_t len)
{
    while (len > 0) {
        size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
        if (archive_write_data(t->archive, data, n) < 0)
            return tar_failure(t);
        data += n;
        len -= n;
        if (task_turn_is_over())
            task_yield();
    }
    return 0;
}

static int contents_send(struct stream *s, struct room *room, size_t len)
{
    struct contents *c = (struct contents *)(void *)s; /* its first member */
    int r = 0;
    for (unsigned i = 0; i < room->count && len > 0 && r == 0; i++) {
        size_t n = room->pieces[i].iov_len < len ? room->pieces[i].iov_len : len;
        r = write_piece(c->tar, room->pieces[i].iov_base, n);
        len -= n;
    }
    chunk_unref(room->chunk);
    return r;
}

static void contents_info(const struct stream *s, struct stream_info *ret)
{
    stream_info(((const struct contents *)(const void *)s)->tar->request->stream, ret);
}

static const struct stream_ops contents_ops = {
    .name = "tar entry",
    .room = contents_room,
    .send = contents_send,
    .info = contents_info,
};

/* -- entries -- */

/* Where a walk is, and how its names are told. */
struct tree {
    struct tar *tar;
    const char *name; /* as it was asked for */
    size_t path_len;  /* of the path that it stands for, which its names replace */
    char told[2 * PATH_LEN_MAX + 2];
};

static const char *tell(struct tree *k, struct bytes path)
{
    struct bytes rest = bytes_skip(path, k->path_len > 1 ? k->path_len : 0);
    if (rest.len == 1) /* the root */
        rest.len = 0;
    size_t len = text_copy(k->told, PATH_LEN_MAX + 1, bytes_str(k->name));
    while (len > 0 && k->told[len - 1] == '/')
        len--;
    (void)text_copy(k->told + len, sizeof(k->told) - len, rest);
    return k->told;
}

static void describe(struct tree *k, const char *name, const struct vstat *stat, unsigned type)
{
    struct archive_entry *e = k->tar->entry;
    archive_entry_clear(e);
    archive_entry_copy_pathname(e, name);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, (mode_t)stat->mode & 0777);
    archive_entry_set_uid(e, stat->uid);
    archive_entry_set_gid(e, stat->gid);
    int64_t seconds = stat->mtime_us / (int64_t)USEC_PER_S;
    if (stat->mtime_us % (int64_t)USEC_PER_S < 0)
        seconds--;
    archive_entry_set_mtime(e, seconds, 0);
    archive_entry_set_size(e, type == AE_IFREG ? (int64_t)stat->size_bytes : 0);
}

static PARKS int write_header(struct tree *k, const char *name)
{
    int r = archive_write_header(k->tar->archive, k->tar->entry);
    if (r >= ARCHIVE_WARN)
        return 0;
    int failure = tar_failure(k->tar);
    if (r == ARCHIVE_FATAL)
        return failure;
    return tar_complain(k->tar, name, -ENAMETOOLONG); /* the format cannot tell it */
}

static PARKS int write_contents(struct tree *k, struct vfile *file, struct bytes path)
{
    struct tar *t = k->tar;
    struct xfer_progress progress = {0};
    struct xfer_result moved = {0};
    struct contents contents = {{&contents_ops, t->request->stream->stall_us}, t};
    uint64_t size = vfile_stat(file)->size_bytes;
    const struct xfer_request request =
        session_transfer_begin(t->request->session, "tar", size, &progress);
    int r = size > 0 ? xfer_send(file, &contents.stream, &request, &moved) : 0;
    session_transfer_end(t->request->session, &progress);
    tar_audit(t, "download", path, &moved, r);
    if (t->error < 0)
        return t->error;
    if (r == 0 && archive_write_finish_entry(t->archive) < ARCHIVE_WARN)
        return tar_failure(t);
    return r < 0 ? tar_complain(t, k->told, r) : 0; /* the rest is filled up with zeros */
}

static PARKS int add_file(struct tree *k, const struct vpath *path)
{
    struct vfile *file;
    const char *name = tell(k, vpath_bytes(path));
    int r = vfs_open(k->tar->request->session->vfs, path, &file);
    if (r == -EISDIR)
        return r;
    if (r < 0)
        return tar_complain(k->tar, name, r);
    describe(k, name, vfile_stat(file), AE_IFREG);
    r = write_header(k, name);
    if (r == 0)
        r = write_contents(k, file, vpath_bytes(path));
    (void)vfile_close(file);
    return r;
}

static PARKS int add_link(struct tree *k, const struct vpath *path, const struct vstat *stat)
{
    struct tar *t = k->tar;
    const char *name = tell(k, vpath_bytes(path));
    int r = vfs_readlink(t->request->session->vfs, path, t->text, sizeof(t->text));
    if (r < 0)
        return tar_complain(t, name, r);
    describe(k, name, stat, AE_IFLNK);
    archive_entry_copy_symlink(t->entry, t->text);
    return write_header(k, name);
}

static PARKS int add_entry(struct tree *k, struct bytes at, const struct vstat *stat)
{
    struct vpath path;
    int r = vpath_parse(BYTES_LIT("/"), at, &path);
    if (r < 0)
        return tar_complain(k->tar, tell(k, at), r);
    if (stat->kind == VSTAT_FILE)
        r = add_file(k, &path);
    else if (stat->kind == VSTAT_LINK)
        r = add_link(k, &path, stat);
    else
        r = -FERRY_ENOTREG;
    vpath_done(&path);
    return r == -EISDIR || r == -FERRY_ENOTREG ? tar_complain(k->tar, tell(k, at), r) : r;
}

static PARKS int take_step(struct tree *k, const struct vwalk_step *step)
{
    switch (step->kind) {
    case VWALK_ENTER:
        describe(k, tell(k, step->path), &step->stat, AE_IFDIR);
        return write_header(k, k->told);
    case VWALK_ENTRY:
        return add_entry(k, step->path, &step->stat);
    case VWALK_LEAVE:
        return 0;
    case VWALK_FAILED:
        break;
    }
    return tar_complain(k->tar, tell(k, step->path), step->error);
}

static PARKS int add_tree(struct tree *k, const struct vpath *top)
{
    struct vwalk *w;
    struct vwalk_step step;
    int r = vwalk_new(k->tar->request->session->vfs, top, &w);
    if (r < 0)
        return tar_complain(k->tar, k->name, r);
    while ((r = vwalk_next(w, &step)) > 0) {
        r = take_step(k, &step);
        if (r < 0)
            break;
    }
    vwalk_free(w);
    return r;
}

/* Absolute names, and those with "..", are told as what they stand for. */
static bool is_told_as_it_is(struct bytes name)
{
    if (name.len > 0 && name.data[0] == '/')
        return false;
    while (name.len > 0)
        if (bytes_equal(bytes_take_until(&name, '/'), BYTES_LIT("..")))
            return false;
    return true;
}

static PARKS int add_named(struct tree *k, struct bytes name)
{
    struct tar *t = k->tar;
    struct vpath path;
    struct vstat stat;
    k->name = (const char *)name.data;
    int r = vpath_parse(vpath_bytes(t->request->directory), name, &path);
    if (r < 0)
        return tar_complain(t, k->name, r);
    if (!is_told_as_it_is(name))
        k->name = vpath_relative(&path);
    k->path_len = path.len;
    r = vfs_stat(t->request->session->vfs, &path, false, &stat);
    if (r < 0)
        r = tar_complain(t, k->name, r);
    else if (stat.kind == VSTAT_DIRECTORY)
        r = add_tree(k, &path);
    else
        r = add_entry(k, vpath_bytes(&path), &stat);
    vpath_done(&path);
    return r;
}

static PARKS int create(struct tar *t)
{
    struct bytes names = t->request->names;
    struct tree *k = mem_new(sizeof(*k));
    int r = k != NULL ? open_output(t) : -ENOMEM;
    if (r == 0)
        k->tar = t;
    while (r == 0 && names.len > 0)
        r = add_named(k, bytes_take_until(&names, '\0'));
    mem_free(k);
    return close_output(t, r);
}

int tar_create(const struct tar_request *request)
{
    return tar_run(request, create);
}
