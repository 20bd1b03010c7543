#include "tar/writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "base/err.h"
#include "io/chunk.h"
#include "task/runtime.h"

#define PIECE_BYTES 8192 /* copied at a time */
#define ROOM_BYTES  (64 * 1024)
#define BLOCK_BYTES 10240              /* of tar; the end is filled up to one */
#define WRITE_BYTES (20 * BLOCK_BYTES) /* to the stream at a time */

static int failure_of(const struct tar_writer *w)
{
    if (w->error < 0)
        return w->error;
    return archive_errno(w->archive) == ENOMEM ? -ENOMEM : -EBADMSG;
}

/* -- libarchive writes to our stream -- */

static la_ssize_t write_output(struct archive *a, void *arg, const void *data, size_t len)
{
    struct tar_writer *w = arg;
    if (w->error == 0)
        w->error = stream_write_bytes(w->out, bytes_of(data, len));
    if (w->error == 0) {
        w->written_bytes += len;
        return (la_ssize_t)len;
    }
    archive_set_error(a, EIO, "%s", err_text(w->error));
    return ARCHIVE_FATAL;
}

static int pack(struct tar_writer *w, const struct tar_packing *packing)
{
    static const enum codec codecs[] = {
        [TAR_PLAIN] = CODEC_NONE, [TAR_GZIP] = CODEC_GZIP, [TAR_ZSTD] = CODEC_ZSTD};
    const struct compress_settings settings = {
        .codec = codecs[packing->filter],
        .level = packing->level,
        .pool = runtime_codec_pool(runtime_self()),
        .borrows = true,
        .decided = packing->decided,
        .arg = packing->arg,
    };
    if (settings.codec == CODEC_NONE)
        return 0;
    int r = compress_stream_new(w->out, &settings, &w->packed);
    if (r == 0)
        w->out = w->packed;
    return r;
}

/* -- contents -- */

static int contents_room(struct stream *s, size_t want, struct room *ret)
{
    return chunk_room(s, want < ROOM_BYTES ? want : ROOM_BYTES, ret);
}

static PARKS int write_piece(struct tar_writer *w, const uint8_t *data, size_t len)
{
    while (len > 0) {
        size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
        if (archive_write_data(w->archive, data, n) < 0)
            return failure_of(w);
        data += n;
        len -= n;
        if (task_turn_is_over())
            task_yield();
    }
    return 0;
}

static PARKS int contents_send(struct stream *s, struct room *room, size_t len)
{
    struct tar_writer *w = (struct tar_writer *)(void *)s; /* its first member */
    int r = 0;
    for (unsigned i = 0; i < room->count && len > 0 && r == 0; i++) {
        size_t n = room->pieces[i].iov_len < len ? room->pieces[i].iov_len : len;
        r = write_piece(w, room->pieces[i].iov_base, n);
        len -= n;
    }
    chunk_unref(room->chunk);
    return r;
}

/* Asked for with every file: the streams below would each time ask the kernel. */
static void contents_info(const struct stream *s, struct stream_info *ret)
{
    const struct tar_writer *w = (const struct tar_writer *)(const void *)s;
    if (w->packed != NULL)
        stream_info(w->packed, ret);
    else
        *ret = (struct stream_info){.sent_bytes = w->written_bytes};
}

static const struct stream_ops contents_ops = {
    .name = "tar entry",
    .room = contents_room,
    .send = contents_send,
    .info = contents_info,
};

/* -- the archive -- */

/* GNU's format: names are bytes in it, of any length. */
int tar_writer_open(struct tar_writer *w, struct stream *out, const struct tar_packing *packing)
{
    *w = (struct tar_writer){.contents = {&contents_ops, out->stall_us}, .out = out};
    struct archive *a = w->archive = archive_write_new();
    w->entry = archive_entry_new();
    if (a == NULL || w->entry == NULL || archive_write_set_format_gnutar(a) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(a, WRITE_BYTES) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, BLOCK_BYTES) != ARCHIVE_OK)
        return -ENOMEM;
    int r = pack(w, packing);
    if (r < 0)
        return r;
    return archive_write_open(a, w, NULL, write_output, NULL) == ARCHIVE_OK ? 0 : failure_of(w);
}

static void describe(struct archive_entry *e, const struct tar_member *m)
{
    static const unsigned types[] = {[TAR_MEMBER_FILE] = AE_IFREG,
                                     [TAR_MEMBER_DIRECTORY] = AE_IFDIR,
                                     [TAR_MEMBER_LINK] = AE_IFLNK};
    archive_entry_clear(e);
    archive_entry_copy_pathname(e, m->name);
    archive_entry_set_filetype(e, types[m->kind]);
    archive_entry_set_perm(e, (mode_t)m->mode & 0777);
    archive_entry_set_uid(e, m->uid);
    archive_entry_set_gid(e, m->gid);
    int64_t seconds = m->mtime_us / (int64_t)USEC_PER_S;
    if (m->mtime_us % (int64_t)USEC_PER_S < 0)
        seconds--;
    archive_entry_set_mtime(e, seconds, 0);
    archive_entry_set_size(e, m->kind == TAR_MEMBER_FILE ? (int64_t)m->size_bytes : 0);
    if (m->kind == TAR_MEMBER_LINK)
        archive_entry_copy_symlink(e, m->target);
}

int tar_writer_begin(struct tar_writer *w, const struct tar_member *member)
{
    describe(w->entry, member);
    int r = archive_write_header(w->archive, w->entry);
    if (r >= ARCHIVE_WARN)
        return 0;
    return r == ARCHIVE_FATAL ? failure_of(w) : -ENAMETOOLONG;
}

int tar_writer_finish(struct tar_writer *w)
{
    return archive_write_finish_entry(w->archive) < ARCHIVE_WARN ? failure_of(w) : 0;
}

int tar_writer_close(struct tar_writer *w, int result)
{
    if (w->archive != NULL) {
        if (result < 0)
            w->error = result; /* nothing more goes out */
        if (archive_write_close(w->archive) < ARCHIVE_WARN && result == 0)
            result = failure_of(w);
        (void)archive_write_free(w->archive);
    }
    if (result == 0 && w->packed != NULL)
        result = stream_end(w->packed, 0);
    w->packed = stream_free(w->packed);
    archive_entry_free(w->entry);
    return result;
}
