/* SIZE MDTM MFMT MLST (RFC 3659, draft-somers-ftp-mfxx). */
#include <inttypes.h>

#include "base/limits.h"
#include "ftp/entry.h"
#include "ftp/handlers.h"
#include "ftp/names.h"
#include "ftp/reply.h"
#include "ftp/wire/reply.h"
#include "ftp/wire/timeval.h"

/* -- entries -- */

static const struct {
    unsigned right;
    unsigned perm; /* the wire code shows those that fit the kind */
} perms[] = {
    {RIGHT_APPEND, FTP_PERM_APPEND},
    {RIGHT_WRITE, FTP_PERM_CREATE},
    {RIGHT_DELETE, FTP_PERM_DELETE | FTP_PERM_PURGE},
    {RIGHT_LIST, FTP_PERM_LIST | FTP_PERM_ENTER},
    {RIGHT_RENAME, FTP_PERM_RENAME},
    {RIGHT_MKDIR, FTP_PERM_MKDIR},
    {RIGHT_READ, FTP_PERM_READ},
    {RIGHT_OVERWRITE, FTP_PERM_WRITE},
};

static enum ftp_entry_kind kind_of(enum vstat_kind kind)
{
    switch (kind) {
    case VSTAT_FILE:
        return FTP_ENTRY_FILE;
    case VSTAT_DIRECTORY:
        return FTP_ENTRY_DIRECTORY;
    case VSTAT_LINK:
        return FTP_ENTRY_LINK;
    case VSTAT_OTHER:
        break;
    }
    return FTP_ENTRY_OTHER;
}

struct ftp_entry ftp_entry_of(unsigned rights, struct bytes name, const struct vstat *stat)
{
    struct ftp_entry entry = {
        .name = name,
        .kind = kind_of(stat->kind),
        .mode = stat->mode,
        .links = stat->links,
        .size_bytes = stat->size_bytes,
        .inode = stat->inode,
        .device = stat->device,
        .mtime_us = stat->mtime_us,
    };
    for (unsigned i = 0; i < ARRAY_LEN(perms); i++)
        if ((rights & perms[i].right) != 0)
            entry.perm |= perms[i].perm;
    if (entry.kind == FTP_ENTRY_LINK) /* what it leads to has rights of its own */
        entry.perm &= FTP_PERM_DELETE | FTP_PERM_RENAME;
    return entry;
}

/* -- commands -- */

/* The size is what a transfer would move (RFC 3659 4), which in the ASCII type nobody knows
 * without reading the file. Of an upload that broke off it is what was kept; a following APPE
 * of that name then goes on there. */
int ftp_cmd_size(struct ftp_session *s, const struct ftp_args *args)
{
    if (s->is_ascii)
        return ftp_say(s, 550, "SIZE is not known in ASCII type; send TYPE I first.");
    struct vstat stat;
    bool is_partial;
    struct vpath partial = {0};
    int r = vfs_stat_resumable(s->base.vfs, args->path, &stat, &is_partial);
    if (r == 0 && is_partial)
        r = vpath_copy(args->path, &partial);
    if (r < 0)
        return ftp_say_error(s, r, args->text);
    vpath_done(&s->partial);
    s->partial = partial;
    return ftp_say(s, 213, "%" PRIu64, stat.size_bytes);
}

static const char *format_whole_seconds(int64_t us, char dst[FTP_TIMEVAL_TEXT_MAX])
{
    int64_t part = us % (int64_t)USEC_PER_S;
    if (part < 0)
        part += (int64_t)USEC_PER_S;
    return ftp_timeval_format(us - part, dst);
}

int ftp_cmd_mdtm(struct ftp_session *s, const struct ftp_args *args)
{
    struct vstat stat;
    int r = vfs_stat(s->base.vfs, args->path, true, &stat);
    if (r < 0)
        return ftp_say_error(s, r, args->text);
    char text[FTP_TIMEVAL_TEXT_MAX];
    return ftp_say(s, 213, "%s", format_whole_seconds(stat.mtime_us, text));
}

int ftp_cmd_mfmt(struct ftp_session *s, const struct ftp_args *args)
{
    int64_t mtime_us;
    struct bytes name;
    if (ftp_timeval_split(args->text, &mtime_us, &name) < 0)
        return ftp_say(s, 501, "Use MFMT YYYYMMDDhhmmss file.");
    struct vpath path;
    int r = vpath_parse(ftp_session_cwd(s), name, &path);
    if (r < 0)
        return ftp_say_error(s, r, name);
    r = vfs_set_mtime(s->base.vfs, &path, mtime_us);
    struct vstat stat;
    if (r == 0 && vfs_stat(s->base.vfs, &path, true, &stat) == 0)
        mtime_us = stat.mtime_us; /* a disk cannot keep every time: say what it kept */
    session_audit(&s->base, &(struct audit){
                                .operation = "mtime", .path = vpath_bytes(&path), .result = r});
    vpath_done(&path);
    if (r < 0)
        return ftp_say_error(s, r, name);
    char text[FTP_TIMEVAL_TEXT_MAX];
    return ftp_say(s, 213, "Modify=%s; %.*s", ftp_timeval_format(mtime_us, text), (int)name.len,
                   (const char *)name.data);
}

int ftp_cmd_mlst(struct ftp_session *s, const struct ftp_args *args)
{
    struct vstat stat;
    int r = vfs_stat(s->base.vfs, args->path, true, &stat);
    if (r < 0)
        return ftp_say_error(s, r, args->text);
    struct ftp_entry entry =
        ftp_entry_of(vfs_rights_at(s->base.vfs, args->path), vpath_bytes(args->path), &stat);
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    r = ftp_reply_open(&out, 250, "Facts:");
    if (r == 0)
        r = ftp_mlst_line(&out, &entry, s->facts);
    if (r == 0)
        r = ftp_reply(&out, 250, "End");
    return ftp_say_lines(s, &out, r);
}
