/* LIST NLST MLSD over a data connection, STAT over the control connection. */
#include "ftp/listing.h"

#include "base/limits.h"
#include "ftp/handlers.h"
#include "ftp/lister.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/transfer.h"
#include "ftp/wire/list_argument.h"
#include "ftp/wire/reply.h"

struct listing {
    struct ftp_transfer transfer;
    struct ftp_lister lister;
};

/* -- in the transfer's task; the lines have their CRLF already, whatever the type -- */

static int open_lister(struct ftp_transfer *t, enum ftp_lister_form form, struct bytes name)
{
    const struct ftp_session *s = t->session;
    struct listing *self = (struct listing *)t;
    t->is_ascii = false;
    self->lister.vfs = s->base.vfs;
    self->lister.cwd = ftp_session_cwd(s); /* CWD waits for the end of the transfer */
    self->lister.form = form;
    self->lister.facts = s->facts;
    int r = ftp_lister_open(&self->lister, name);
    if (r < 0)
        ftp_lister_close(&self->lister);
    return r;
}

static int open_with_options(struct ftp_transfer *t, enum ftp_lister_form form)
{
    struct ftp_list_argument argument;
    ftp_list_argument_parse(bytes_str(t->argument), &argument);
    return open_lister(t, form, argument.path);
}

static int open_long(struct ftp_transfer *t)
{
    return open_with_options(t, FTP_LISTER_LONG);
}

static int open_names(struct ftp_transfer *t)
{
    struct ftp_list_argument argument;
    ftp_list_argument_parse(bytes_str(t->argument), &argument);
    return open_lister(t, argument.long_format ? FTP_LISTER_LONG : FTP_LISTER_NAMES,
                       argument.path);
}

static int open_facts(struct ftp_transfer *t)
{
    return open_lister(t, FTP_LISTER_FACTS, bytes_str(t->argument));
}

static int announce(struct ftp_transfer *t, struct buf *out)
{
    (void)t;
    return ftp_reply(out, 150, "The listing follows.");
}

static int move(struct ftp_transfer *t, struct stream *data)
{
    int r = ftp_lister_run(&((struct listing *)t)->lister, data);
    return r == 0 ? stream_end(data, 0) : r;
}

static int close_lister(struct ftp_transfer *t, int result)
{
    ftp_lister_close(&((struct listing *)t)->lister);
    return result;
}

static const struct ftp_transfer_kind list = {
    .verb = "LIST",
    .size = sizeof(struct listing),
    .open = open_long,
    .announce = announce,
    .move = move,
    .close = close_lister,
};

static const struct ftp_transfer_kind name_list = {
    .verb = "NLST",
    .size = sizeof(struct listing),
    .open = open_names,
    .announce = announce,
    .move = move,
    .close = close_lister,
};

static const struct ftp_transfer_kind fact_list = {
    .verb = "MLSD",
    .size = sizeof(struct listing),
    .open = open_facts,
    .announce = announce,
    .move = move,
    .close = close_lister,
};

/* -- in the session's task -- */

int ftp_cmd_list(struct ftp_session *s, const struct ftp_args *args)
{
    return ftp_transfer_start(s, &list, NULL, args->text);
}

int ftp_cmd_nlst(struct ftp_session *s, const struct ftp_args *args)
{
    return ftp_transfer_start(s, &name_list, NULL, args->text);
}

int ftp_cmd_mlsd(struct ftp_session *s, const struct ftp_args *args)
{
    return ftp_transfer_start(s, &fact_list, args->path, args->text);
}

/* The lines go out as they come, whatever FTP_REPLY_MAX says: nothing of them is kept. If it
 * breaks off, the last line says so; there is no taking back the first. */
static int say_lines(struct ftp_session *s, struct ftp_lister *lister)
{
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    int r = ftp_say_lines(s, &out, ftp_reply_open(&out, 213, "The listing:"));
    if (r < 0)
        return r;
    r = ftp_lister_run(lister, s->base.control);
    if (r == 0)
        return ftp_say(s, 213, "End");
    return ftp_say(s, 213, "Not complete: %s.", ftp_failure_of_command(r).text);
}

int ftp_say_listing(struct ftp_session *s, struct bytes text)
{
    struct ftp_list_argument argument;
    ftp_list_argument_parse(text, &argument);
    struct ftp_lister lister = {
        .vfs = s->base.vfs,
        .cwd = ftp_session_cwd(s),
        .form = FTP_LISTER_REPLY,
    };
    int r = ftp_lister_open(&lister, argument.path);
    r = r < 0 ? ftp_say_error(s, r, argument.path) : say_lines(s, &lister);
    ftp_lister_close(&lister);
    return r;
}
