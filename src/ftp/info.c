/* NOOP SYST FEAT HELP STAT. */
#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/text.h"
#include "ftp/handlers.h"
#include "ftp/listing.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/transfer.h"
#include "ftp/wire/facts.h"
#include "ftp/wire/mode.h"
#include "ftp/wire/reply.h"

int ftp_cmd_noop(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    return ftp_say(s, 200, "Nothing was done.");
}

/* Clients choose their listing parser by this word. */
int ftp_cmd_syst(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    return ftp_say(s, 215, "UNIX Type: L8");
}

/* -- FEAT -- */

static int append_feature(const struct ftp_session *s, struct buf *out,
                          const struct ftp_command *command)
{
    if (command->feature == NULL)
        return 0;
    if (command->run != ftp_cmd_mlst)
        return ftp_reply_line(out, " %s", command->feature);
    char facts[FTP_FACTS_TEXT_MAX];
    return ftp_reply_line(out, " %s %s", command->feature, ftp_facts_feature(s->facts, facts));
}

int ftp_cmd_feat(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    unsigned count;
    const struct ftp_command *commands = ftp_commands(&count);
    int r = ftp_reply_open(&out, 211, "Extensions:");
    for (unsigned i = 0; i < count && r == 0; i++)
        r = append_feature(s, &out, &commands[i]);
    if (r == 0) /* RFC 3659 6: paths with '/', one tree, "." and ".." */
        r = ftp_reply_line(&out, " TVFS");
    if (r == 0)
        r = ftp_reply(&out, 211, "End");
    return ftp_say_lines(s, &out, r);
}

/* -- HELP -- */

static int say_command_list(struct ftp_session *s)
{
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    unsigned count;
    const struct ftp_command *commands = ftp_commands(&count);
    int r = ftp_reply_open(&out, 214, "HELP command tells more; there are:");
    for (unsigned i = 0; i < count && r == 0; i++)
        r = ftp_reply_line(&out, " %-4s %s", commands[i].verb, commands[i].help);
    if (r == 0)
        r = ftp_reply(&out, 214, "End");
    return ftp_say_lines(s, &out, r);
}

int ftp_cmd_help(struct ftp_session *s, const struct ftp_args *args)
{
    if (args->text.len == 0)
        return say_command_list(s);
    struct ftp_request request;
    const struct ftp_command *command = NULL;
    if (ftp_command_parse(args->text, &request) == 0)
        command = ftp_command_find(request.verb);
    if (command == NULL)
        return ftp_say(s, 501, "That is no command here; HELP lists them.");
    return ftp_say(s, 214, "%s %s: %s.", command->verb, command->syntax, command->help);
}

/* -- STAT -- */

#define MODE_TEXT_MAX 24

static const char *mode_text(const struct ftp_session *s, char ret[MODE_TEXT_MAX])
{
    if (!s->is_deflate)
        return "stream";
    if (s->level == FTP_MODE_LEVEL_AUTO)
        return "deflate, level auto";
    (void)snprintf(ret, MODE_TEXT_MAX, "deflate, level %d", s->level);
    return ret;
}

static int append_status(const struct ftp_session *s, struct buf *out)
{
    char peer[ADDR_TEXT_MAX], mode[MODE_TEXT_MAX];
    int r = ftp_reply_open(out, 211, "Status of ferry:");
    if (r == 0)
        r = ftp_reply_line(out, " Connected from %s", addr_format(&s->base.peer, peer));
    if (r == 0)
        r = ftp_reply_line(out, " Logged in as %s", s->base.account->name);
    if (r == 0)
        r = ftp_reply_line(out, " Type %s, structure file, mode %s",
                           s->is_ascii ? "ASCII" : "binary", mode_text(s, mode));
    if (r == 0 && s->transfer != NULL)
        r = ftp_reply_line(out, " %s %s: %" PRIu64 " bytes so far", s->transfer->kind->verb,
                           s->transfer->argument, s->transfer->progress.file_bytes);
    if (r == 0 && s->transfer == NULL)
        r = ftp_reply_line(out, " No transfer is running");
    if (r == 0)
        r = ftp_reply(out, 211, "End");
    return r;
}

int ftp_cmd_stat(struct ftp_session *s, const struct ftp_args *args)
{
    if (args->text.len != 0)
        return ftp_say_listing(s, args->text);
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    return ftp_say_lines(s, &out, append_status(s, &out));
}
