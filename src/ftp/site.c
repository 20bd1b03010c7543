/* SITE: commands of this server's own (RFC 959 4.1.3). */
#include "ftp/wire/site.h"

#include "ftp/handlers.h"
#include "ftp/names.h"
#include "ftp/reply.h"

static int site_chmod(struct ftp_session *s, struct bytes argument)
{
    uint32_t mode;
    struct bytes name;
    if (ftp_chmod_parse(argument, &mode, &name) < 0)
        return ftp_say(s, 501, "Use SITE CHMOD mode path, the mode in octal.");
    struct vpath path;
    int r = vpath_parse(ftp_session_cwd(s), name, &path);
    if (r < 0)
        return ftp_say_error(s, r, name);
    struct audit change = {
        .operation = "chmod",
        .path = vpath_bytes(&path),
        .result = vfs_chmod(s->base.vfs, &path, mode),
    };
    r = ftp_say_change(s, &change, name, 200, "The mode was changed.");
    vpath_done(&path);
    return r;
}

static int site_help(struct ftp_session *s, struct bytes argument)
{
    (void)argument;
    return ftp_say(s, 214, "There are SITE CHMOD mode path and SITE HELP.");
}

static const struct {
    const char *verb;
    PARKS int (*run)(struct ftp_session *, struct bytes argument);
} commands[] = {{"CHMOD", site_chmod}, {"HELP", site_help}};

int ftp_cmd_site(struct ftp_session *s, const struct ftp_args *args)
{
    struct ftp_request request;
    if (ftp_command_parse(args->text, &request) == 0)
        for (unsigned i = 0; i < ARRAY_LEN(commands); i++)
            if (strcmp(commands[i].verb, request.verb) == 0)
                return commands[i].run(s, request.argument);
    return ftp_say(s, 504, "Only SITE CHMOD and SITE HELP are known.");
}
