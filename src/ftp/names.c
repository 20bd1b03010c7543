/* CWD CDUP PWD MKD RMD DELE RNFR RNTO (RFC 959 4.1). */
#include "ftp/names.h"

#include <errno.h>

#include "base/limits.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/wire/reply.h"

int ftp_say_change(struct ftp_session *s, const struct audit *change, struct bytes name,
                   unsigned code, const char *text)
{
    session_audit(&s->base, change);
    if (change->result < 0)
        return ftp_say_error(s, change->result, name);
    return ftp_say(s, code, "%s", text);
}

static int say_path(struct ftp_session *s, unsigned code, struct bytes path, const char *after)
{
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    return ftp_say_lines(s, &out, ftp_reply_path(&out, code, path, after));
}

/* -- where the session is -- */

static int change_directory(struct ftp_session *s, const struct vpath *path, struct bytes name)
{
    struct vstat stat;
    struct vpath cwd;
    int r = vfs_stat(s->base.vfs, path, true, &stat);
    if (r == 0 && stat.kind != VSTAT_DIRECTORY)
        r = -ENOTDIR;
    if (r == 0)
        r = vpath_copy(path, &cwd);
    if (r < 0)
        return ftp_say_error(s, r, name);
    vpath_done(&s->cwd);
    s->cwd = cwd;
    return say_path(s, 250, vpath_bytes(&s->cwd), "is the working directory.");
}

int ftp_cmd_cwd(struct ftp_session *s, const struct ftp_args *args)
{
    return change_directory(s, args->path, args->text);
}

int ftp_cmd_cdup(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    struct vpath parent;
    int r = vpath_parse(ftp_session_cwd(s), BYTES_LIT(".."), &parent);
    if (r < 0)
        return ftp_say_error(s, r, BYTES_NONE);
    r = change_directory(s, &parent, BYTES_LIT(".."));
    vpath_done(&parent);
    return r;
}

int ftp_cmd_pwd(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    return say_path(s, 257, ftp_session_cwd(s), "is the working directory.");
}

/* -- making and removing -- */

int ftp_cmd_mkd(struct ftp_session *s, const struct ftp_args *args)
{
    int r = vfs_mkdir(s->base.vfs, args->path);
    struct bytes path = vpath_bytes(args->path);
    session_audit(&s->base, &(struct audit){.operation = "mkdir", .path = path, .result = r});
    if (r < 0)
        return ftp_say_error(s, r, args->text);
    return say_path(s, 257, path, "was made.");
}

int ftp_cmd_rmd(struct ftp_session *s, const struct ftp_args *args)
{
    struct audit change = {
        .operation = "rmdir",
        .path = vpath_bytes(args->path),
        .result = vfs_rmdir(s->base.vfs, args->path),
    };
    return ftp_say_change(s, &change, args->text, 250, "The directory was removed.");
}

int ftp_cmd_dele(struct ftp_session *s, const struct ftp_args *args)
{
    struct audit change = {
        .operation = "delete",
        .path = vpath_bytes(args->path),
        .result = vfs_unlink(s->base.vfs, args->path),
    };
    return ftp_say_change(s, &change, args->text, 250, "The file was deleted.");
}

/* -- renaming -- */

int ftp_cmd_rnfr(struct ftp_session *s, const struct ftp_args *args)
{
    struct vstat stat;
    struct vpath from;
    int r = vfs_stat(s->base.vfs, args->path, false, &stat);
    if (r == 0)
        r = vpath_copy(args->path, &from);
    if (r < 0)
        return ftp_say_error(s, r, args->text);
    s->rename_from = from; /* an older one is gone, see ftp_command_run() */
    return ftp_say(s, 350, "Send the new name with RNTO.");
}

int ftp_cmd_rnto(struct ftp_session *s, const struct ftp_args *args)
{
    if (s->rename_from.text == NULL)
        return ftp_say(s, 503, "Send RNFR right before RNTO.");
    struct audit change = {
        .operation = "rename",
        .path = vpath_bytes(&s->rename_from),
        .to = vpath_bytes(args->path),
        .result = vfs_rename(s->base.vfs, &s->rename_from, args->path),
    };
    return ftp_say_change(s, &change, args->text, 250, "It was renamed.");
}
