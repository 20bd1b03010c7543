#include "server/services.h"

#include <errno.h>

#include "base/mem.h"
#include "server/exec/exec.h"
#include "sftp/server.h"

/* -- subsystem sftp -- */

static const struct sftp_settings sftp_settings; /* whole accounts: rights are the account's */

static int sftp_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    (void)text;
    struct session *session = arg;
    if (session->command != NULL)
        return -EACCES; /* the key may run that alone */
    return sftp_server_new(session, ssh_channel_stream(ch), &sftp_settings,
                           (struct sftp_server **)ret);
}

static int sftp_run(void *service)
{
    int r = sftp_server_run(service);
    return r == SFTP_DOZES ? SSH_SERVICE_DOZES : r;
}

static void sftp_close(void *service)
{
    (void)sftp_server_free(service);
}

const struct ssh_service services_ssh[] = {
    {"sftp", true, sftp_open, sftp_run, sftp_close},
    {"", false, exec_open, exec_run, exec_close},
    {0},
};
