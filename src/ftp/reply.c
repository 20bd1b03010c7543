#include "ftp/reply.h"

#include <errno.h>
#include <stdarg.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "ftp/session.h"
#include "ftp/wire/reply.h"

/* What is wrong and what to do about it; the transfer's code where it is not the command's.
 * A result that is missing here has err_text()'s words. */
static const struct {
    int result;
    unsigned transfer_code; /* 0: as the command's */
    const char *text;
} failures[] = {
    {-ENOENT, 0, "no such file or directory"},
    {-ENOTDIR, 0, "not a directory"},
    {-EISDIR, 0, "is a directory"},
    {-EEXIST, 0, "already exists"},
    {-ENOTEMPTY, 0, "the directory is not empty; delete what is in it first"},
    {-EACCES, 550, "the file system does not permit this"},
    {-EPERM, 550, "the file system does not permit this"},
    {-EROFS, 550, "the file system is read-only"},
    {-EXDEV, 0, "leads out of your directory tree"},
    {-ELOOP, 0, "too many links on the way"},
    {-ENAMETOOLONG, 0, "the name is too long; choose a shorter one"},
    {-ENOSPC, 452, "the disk is full; try again when there is room"},
    {-EDQUOT, 552, "the disk quota is used up; delete something first"},
    {-EFBIG, 552, "larger than a file can be here"},
    {-EIO, 451, "the disk failed; tell the administrator"},
    {-ENOMEM, 451, "the server is out of memory; try again later"},
    {-EBUSY, 451, "the server is busy; try again"},
    {-ECANCELED, 426, "aborted"},
    {-FERRY_ERIGHTS, 550, "your account may not do this here"},
    {-FERRY_EQUOTA, 552, "your quota is used up; delete something first"},
    {-FERRY_ENOTREG, 0, "neither a file nor a directory"},
    {-FERRY_EBADNAME, 0, "no file can have this name"},
    {-FERRY_ECLOSED, 426, "the data connection was cut; the transfer can be resumed"},
    {-FERRY_ESTALLED, 426, "nothing moved for too long; the transfer can be resumed"},
    {-FERRY_ETRUNCATED, 451, "the file became shorter while it was sent; try again"},
    {-FERRY_ELIMIT, 451, "this would be too much at once; ask for less"},
    {-FERRY_EKICKED, 426, "ended by the administrator"},
    {-FERRY_ESHUTDOWN, 426, "the server is stopping; try again later"},
};

/* Of what a client sends, where that is another story. */
static const struct {
    int result;
    struct ftp_failure failure;
} upload_failures[] = {
    {-FERRY_ETRUNCATED,
     {426, "the compressed data was cut short; the transfer can be resumed"}},
    {-EBADMSG, {451, "the compressed data is damaged; send it again, or in MODE S"}},
    {-FERRY_ELIMIT, {552, "the compressed data expands without measure; send it in MODE S"}},
};

static const char *failure_text(int result, unsigned *transfer_code)
{
    for (unsigned i = 0; i < ARRAY_LEN(failures); i++) {
        if (failures[i].result != result)
            continue;
        *transfer_code = failures[i].transfer_code;
        return failures[i].text;
    }
    return err_text(result);
}

struct ftp_failure ftp_failure_of_command(int result)
{
    unsigned unused;
    return (struct ftp_failure){ftp_reply_code(result), failure_text(result, &unused)};
}

struct ftp_failure ftp_failure_of_transfer(int result)
{
    unsigned code = 0;
    const char *text = failure_text(result, &code);
    return (struct ftp_failure){code != 0 ? code : ftp_reply_code(result), text};
}

struct ftp_failure ftp_failure_of_upload(int result)
{
    for (unsigned i = 0; i < ARRAY_LEN(upload_failures); i++)
        if (upload_failures[i].result == result)
            return upload_failures[i].failure;
    return ftp_failure_of_transfer(result);
}

struct ftp_failure ftp_failure_of_connecting(int result)
{
    switch (result) {
    case -ETIMEDOUT:
    case -FERRY_ESTALLED:
        return (struct ftp_failure){425, "no data connection was made in time"};
    case -EACCES:
        return (struct ftp_failure){
            425, "the data connection came from another address; use PASV or EPSV again"};
    default:
        return (struct ftp_failure){425,
                                    "the data connection cannot be made; try passive mode"};
    }
}

int ftp_failure_append(struct buf *out, struct ftp_failure failure, struct bytes name)
{
    if (name.len == 0)
        return ftp_reply(out, failure.code, "%c%s.", text_upper(failure.text[0]),
                         failure.text + 1);
    return ftp_reply(out, failure.code, "%.*s: %s.", (int)name.len, (const char *)name.data,
                     failure.text);
}

int ftp_say_lines(struct ftp_session *s, struct buf *out, int r)
{
    if (r == 0)
        r = stream_write_bytes(s->base.control, buf_bytes(out));
    buf_done(out);
    return r;
}

int ftp_say(struct ftp_session *s, unsigned code, const char *format, ...)
{
    struct buf out;
    va_list args;
    buf_init(&out, FTP_REPLY_MAX);
    va_start(args, format);
    int r = ftp_reply_args(&out, code, format, args);
    va_end(args);
    return ftp_say_lines(s, &out, r);
}

int ftp_say_error(struct ftp_session *s, int result, struct bytes name)
{
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    int r = ftp_failure_append(&out, ftp_failure_of_command(result), name);
    return ftp_say_lines(s, &out, r);
}
