/* USER PASS ACCT REIN QUIT (RFC 959 4.1.1). */
#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"

static_assert(FTP_LINE_PRELOGIN_MAX >= sizeof("PASS ") - 1 + PASSWORD_MAX,
              "the longest password fits in a line");

static void log_out(struct ftp_session *s)
{
    if (ftp_session_is_logged_in(s))
        session_logout(&s->base);
    ftp_session_forget(s);
}

/* Every name gets the same answer: it says nothing about which accounts exist. The parameters
 * stay as they are (RFC 959 4.1.1). */
int ftp_cmd_user(struct ftp_session *s, const struct ftp_args *args)
{
    if (args->text.len > USER_NAME_MAX)
        return ftp_say(s, 501, "A user name has at most %d bytes.", USER_NAME_MAX);
    log_out(s);
    s->user = mem_new(args->text.len + 1);
    if (s->user == NULL)
        return ftp_say_error(s, -ENOMEM, BYTES_NONE);
    text_copy(s->user, args->text.len + 1, args->text);
    return ftp_say(s, 331, "Send the password with PASS.");
}

static int log_in(struct ftp_session *s, struct bytes password)
{
    struct auth_request request = {0};
    text_copy(request.user, sizeof(request.user), bytes_str(s->user));
    int r = secret_copy(password, &request.password);
    if (r == 0)
        r = session_login(&s->base, &request);
    secret_done(&request.password);
    return r;
}

int ftp_cmd_pass(struct ftp_session *s, const struct ftp_args *args)
{
    if (ftp_session_is_logged_in(s))
        return ftp_say(s, 503, "You are logged in; USER or REIN begins anew.");
    if (s->user == NULL)
        return ftp_say(s, 503, "Send USER first.");
    int r = log_in(s, args->text);
    mem_free(s->user);
    s->user = NULL;
    if (r == -FERRY_EAUTH && ++s->wrong_passwords < FTP_LOGIN_TRIES_MAX)
        return ftp_say(s, 530, "Wrong name or password.");
    if (r < 0)
        return r; /* the last words say why */
    s->commands_before_login = 0;
    return ftp_say(s, 230, "Welcome, %s.", s->base.account->name);
}

int ftp_cmd_acct(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    return ftp_say(s, 202, "Accounts are not needed here.");
}

int ftp_cmd_rein(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    log_out(s);
    ftp_session_reset(s);
    return ftp_say(s, 220, "Ready for a new user.");
}

int ftp_cmd_quit(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    s->is_quitting = true; /* 221 comes at once, or when the transfer is finished */
    return 0;
}
