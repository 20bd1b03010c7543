#include "server/services.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/exec/exec.h"
#include "sftp/server.h"

/* -- subsystem sftp -- */

static const struct sftp_settings sftp_settings; /* whole accounts: rights are the account's */

struct subsystem {
    struct sftp_server *server;
    void *command; /* instead: the one that the key may run, as exec.h has it */
};

static void log_refusal(const struct session *session)
{
    struct log_record record;
    session_log_begin(session, &record, LOG_WARNING, "subsystem-refused");
    log_text(&record, "subsystem", "sftp");
    log_text(&record, "reason", "the key may run its command alone, which is not sftp");
    log_str(&record, "command", bytes_str(session->command));
    log_end(&record);
}

/* The key's own command, with its options, if it serves sftp. */
static int open_command(struct session *session, struct ssh_channel *ch, void **ret)
{
    int r = exec_open(session, ch, BYTES_LIT(""), ret);
    if (r < 0 || exec_is_sftp(*ret))
        return r;
    exec_close(*ret);
    log_refusal(session);
    return -EACCES;
}

static int sftp_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    (void)text;
    struct session *session = arg;
    struct subsystem *s = mem_new(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    int r = session->command != NULL
                ? open_command(session, ch, &s->command)
                : sftp_server_new(session, ssh_channel_stream(ch), &sftp_settings, &s->server);
    if (r < 0)
        mem_free(s);
    else
        *ret = s;
    return r;
}

static int sftp_run(void *service)
{
    struct subsystem *s = service;
    if (s->command != NULL)
        return exec_run(s->command);
    int r = sftp_server_run(s->server);
    return r == SFTP_DOZES ? SSH_SERVICE_DOZES : r;
}

static void sftp_close(void *service)
{
    struct subsystem *s = service;
    if (s->command != NULL)
        exec_close(s->command);
    (void)sftp_server_free(s->server);
    mem_free(s);
}

const struct ssh_service services_ssh[] = {
    {"sftp", true, sftp_open, sftp_run, sftp_close},
    {"", false, exec_open, exec_run, exec_close},
    {0},
};
