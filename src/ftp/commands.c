#include "ftp/commands.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/transfer.h"

#define ANYTIME FTP_BEFORE_LOGIN
#define PATH    FTP_TAKES_PATH
#define STORING (RIGHT_WRITE | RIGHT_OVERWRITE | RIGHT_APPEND)

static const struct ftp_command commands[] = {
    /* access (RFC 959 4.1.1) */
    {"USER", ANYTIME | FTP_TAKES_TEXT, 0, ftp_cmd_user, "name", "log in, the password follows",
     NULL},
    {"PASS", ANYTIME, 0, ftp_cmd_pass, "password", "after USER", NULL},
    {"ACCT", ANYTIME, 0, ftp_cmd_acct, "account", "not needed here", NULL},
    {"REIN", ANYTIME, 0, ftp_cmd_rein, "", "log out, stay connected", NULL},
    {"QUIT", ANYTIME | FTP_DURING_TRANSFER, 0, ftp_cmd_quit, "",
     "leave, after the running transfer", NULL},
    /* directories and names */
    {"CWD", PATH, 0, ftp_cmd_cwd, "directory", "change to it", NULL},
    {"XCWD", PATH, 0, ftp_cmd_cwd, "directory", "as CWD", NULL},
    {"CDUP", 0, 0, ftp_cmd_cdup, "", "change to the parent directory", NULL},
    {"XCUP", 0, 0, ftp_cmd_cdup, "", "as CDUP", NULL},
    {"PWD", 0, 0, ftp_cmd_pwd, "", "tell the working directory", NULL},
    {"XPWD", 0, 0, ftp_cmd_pwd, "", "as PWD", NULL},
    {"MKD", PATH, RIGHT_MKDIR, ftp_cmd_mkd, "directory", "make it", NULL},
    {"XMKD", PATH, RIGHT_MKDIR, ftp_cmd_mkd, "directory", "as MKD", NULL},
    {"RMD", PATH, RIGHT_DELETE, ftp_cmd_rmd, "directory", "remove it, it must be empty", NULL},
    {"XRMD", PATH, RIGHT_DELETE, ftp_cmd_rmd, "directory", "as RMD", NULL},
    {"DELE", PATH, RIGHT_DELETE, ftp_cmd_dele, "file", "delete it", NULL},
    {"RNFR", PATH, RIGHT_RENAME, ftp_cmd_rnfr, "path", "rename it, RNTO follows", NULL},
    {"RNTO", PATH, RIGHT_RENAME, ftp_cmd_rnto, "path", "the new name", NULL},
    /* parameters */
    {"TYPE", FTP_TAKES_TEXT, 0, ftp_cmd_type, "A | I | L 8", "representation of data", NULL},
    {"STRU", FTP_TAKES_TEXT, 0, ftp_cmd_stru, "F", "structure of files", NULL},
    {"MODE", FTP_TAKES_TEXT, 0, ftp_cmd_mode, "S | Z", "mode of transfers, Z compresses",
     "MODE Z"},
    {"OPTS", ANYTIME | FTP_TAKES_TEXT, 0, ftp_cmd_opts, "UTF8 ON | MLST facts | MODE Z LEVEL n",
     "set an option", "UTF8"},
    /* data connections (RFC 959, RFC 2428) */
    {"PASV", 0, 0, ftp_cmd_pasv, "", "listen for a data connection, IPv4", NULL},
    {"EPSV", 0, 0, ftp_cmd_epsv, "[1 | 2 | ALL]", "listen for a data connection", "EPSV"},
    {"PORT", FTP_TAKES_TEXT, 0, ftp_cmd_port, "h1,h2,h3,h4,p1,p2", "connect there for data",
     NULL},
    {"EPRT", FTP_TAKES_TEXT, 0, ftp_cmd_eprt, "|family|address|port|", "connect there for data",
     "EPRT"},
    /* transfers */
    {"RETR", PATH, RIGHT_READ, ftp_cmd_retr, "file", "send it to you", NULL},
    {"STOR", PATH, STORING, ftp_cmd_stor, "file", "store what you send", NULL},
    {"STOU", 0, 0, ftp_cmd_stou, "[file]", "store under a name that is not taken", NULL},
    {"APPE", PATH, STORING, ftp_cmd_appe, "file", "append what you send", NULL},
    {"REST", FTP_TAKES_TEXT, 0, ftp_cmd_rest, "offset", "begin the next transfer there",
     "REST STREAM"},
    {"ALLO", FTP_TAKES_TEXT, 0, ftp_cmd_allo, "bytes", "room that the next upload needs", NULL},
    {"ABOR", FTP_DURING_TRANSFER, 0, ftp_cmd_abor, "", "abort the running transfer", NULL},
    /* listings */
    {"LIST", 0, 0, ftp_cmd_list, "[-la] [path | pattern]", "list as ls -l", NULL},
    {"NLST", 0, 0, ftp_cmd_nlst, "[path | pattern]", "list names", NULL},
    {"MLSD", FTP_MAY_TAKE_PATH, 0, ftp_cmd_mlsd, "[directory]", "list facts for programs",
     NULL},
    {"MLST", FTP_MAY_TAKE_PATH, 0, ftp_cmd_mlst, "[path]", "facts for programs", "MLST"},
    {"SIZE", PATH, 0, ftp_cmd_size, "file", "its size in bytes", "SIZE"},
    {"MDTM", PATH, 0, ftp_cmd_mdtm, "file", "its time of modification, UTC", "MDTM"},
    {"MFMT", FTP_TAKES_TEXT, 0, ftp_cmd_mfmt, "YYYYMMDDhhmmss file", "set that time", "MFMT"},
    {"SITE", FTP_TAKES_TEXT, 0, ftp_cmd_site, "CHMOD mode path | HELP",
     "special to this server", NULL},
    /* information */
    {"SYST", ANYTIME, 0, ftp_cmd_syst, "", "tell the kind of system", NULL},
    {"STAT", FTP_DURING_TRANSFER, 0, ftp_cmd_stat, "[path]", "tell the state, or list here",
     NULL},
    {"FEAT", ANYTIME, 0, ftp_cmd_feat, "", "tell the extensions", NULL},
    {"HELP", ANYTIME, 0, ftp_cmd_help, "[command]", "tell what there is", NULL},
    {"NOOP", ANYTIME | FTP_DURING_TRANSFER, 0, ftp_cmd_noop, "", "do nothing", NULL},
};

const struct ftp_command *ftp_commands(unsigned *ret_count)
{
    *ret_count = ARRAY_LEN(commands);
    return commands;
}

const struct ftp_command *ftp_command_find(const char *verb)
{
    for (unsigned i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].verb, verb) == 0)
            return &commands[i];
    return NULL;
}

static int run_with_path(struct ftp_session *s, const struct ftp_command *command,
                         struct bytes text)
{
    struct vpath path;
    int r = vpath_parse(ftp_session_cwd(s), text.len != 0 ? text : BYTES_LIT("."), &path);
    if (r < 0)
        return ftp_say_error(s, r, text);
    if (command->rights != 0 && (vfs_rights_at(s->base.vfs, &path) & command->rights) == 0)
        r = ftp_say_error(s, -FERRY_ERIGHTS, text);
    else
        r = command->run(s, &(struct ftp_args){text, &path});
    vpath_done(&path);
    return r;
}

static int run(struct ftp_session *s, const struct ftp_command *command, struct bytes text)
{
    if (!ftp_session_is_logged_in(s) && (command->flags & FTP_BEFORE_LOGIN) == 0)
        return ftp_say(s, 530, "Log in with USER and PASS first.");
    if (text.len == 0 && (command->flags & (FTP_TAKES_TEXT | FTP_TAKES_PATH)) != 0)
        return ftp_say(s, 501, "Use %s %s.", command->verb, command->syntax);
    if ((command->flags & (FTP_TAKES_PATH | FTP_MAY_TAKE_PATH)) != 0)
        return run_with_path(s, command, text);
    return command->run(s, &(struct ftp_args){text, NULL});
}

/* Pipelined commands are answered in order, so all but a few wait for the transfer. Those few
 * come behind its 150, or their replies would be taken for it, and behind the replies to an
 * ABOR. ABOR and QUIT themselves are heard at any time: the file may lie on a disk that has
 * stopped. */
static bool must_wait(const struct ftp_transfer *t, const struct ftp_command *command)
{
    if (command == NULL || (command->flags & FTP_DURING_TRANSFER) == 0)
        return true;
    if (command->run == ftp_cmd_quit)
        return false;
    return t->is_aborted || (!t->is_announced && command->run != ftp_cmd_abor);
}

int ftp_command_run(struct ftp_session *s, struct bytes line)
{
    struct ftp_request request;
    const struct ftp_command *command = NULL;
    if (ftp_command_parse(line, &request) == 0)
        command = ftp_command_find(request.verb);
    if (s->transfer != NULL && must_wait(s->transfer, command)) {
        ftp_line_unread(&s->lines);
        s->is_holding = true;
        return 0;
    }
    if (command == NULL)
        return ftp_say(s, 500, "That is no command here; HELP lists them.");
    /* RNTO follows RNFR at once, or not at all; a refused RNFR leaves no older one. */
    if (command->run != ftp_cmd_rnto && (command->flags & FTP_DURING_TRANSFER) == 0)
        vpath_done(&s->rename_from);
    int r = run(s, command, request.argument);
    s->base.active_at = clock_now();
    if (command->run == ftp_cmd_rnto)
        vpath_done(&s->rename_from);
    return r;
}
