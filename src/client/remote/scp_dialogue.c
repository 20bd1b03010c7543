#include "client/remote/scp_dialogue.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"

#define COMMAND_MAX       (5 * PATH_LEN_MAX)
#define STATUS_US         (5 * USEC_PER_S) /* of a command that has ended already */
#define FULL_PAUSE_US     (10 * USEC_PER_MS)
#define FULL_PAUSE_MAX_US USEC_PER_S
#define NOT_RUN           126 /* a shell's exit status, and */
#define NOT_FOUND         127

void scp_channels_init(struct scp_channels *c, struct ssh_link *link)
{
    *c = (struct scp_channels){.link = link, .most = SCP_AT_ONCE};
    copy_condition_init(&c->closed);
}

/* Those that are open may have large files to move: each has deadlines of its own, and ends. */
static PARKS int wait_for_room(struct scp_channels *c)
{
    int r = 0;
    while (r == 0 && c->open >= c->most)
        r = copy_condition_wait(&c->closed, USEC_NEVER);
    return r;
}

/* A channel that could not be opened is none. */
static PARKS int try_open(struct scp_call *call, struct bytes command)
{
    struct scp_channels *c = call->channels;
    c->open++;
    int r = ssh_channel_open_session(c->link->connection, false, command,
                                     clock_after(DEFAULT_CONNECT_US), &call->channel);
    if (r < 0) {
        c->open--;
        copy_condition_tell(&c->closed);
    }
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

/* A server may allow fewer than we thought (MaxSessions of sshd_config(5)), and one that was
 * closed counts until it has seen to its end. */
static PARKS int open_channel(struct scp_call *call, struct bytes command)
{
    struct scp_channels *c = call->channels;
    usec_t pause = FULL_PAUSE_US;
    for (;;) {
        int r = wait_for_room(c);
        if (r < 0)
            return r;
        r = try_open(call, command);
        if (r == 0) {
            c->has_served = true;
            return 0;
        }
        if (r != -FERRY_EREFUSED || !c->has_served || pause > FULL_PAUSE_MAX_US)
            return r;
        c->most = c->open > 0 ? c->open : 1;
        r = c->open > 0 ? 0 : task_sleep_until(clock_after(pause));
        pause *= c->open > 0 ? 1 : 2;
        if (r < 0)
            return r;
    }
}

int scp_call_open(struct scp_call *call, struct scp_channels *channels,
                  const struct scp_request *request, bool puts)
{
    struct buf command;
    call->channels = channels;
    buf_init(&command, COMMAND_MAX);
    int r = puts ? scp_client_put_command(request, &command)
                 : scp_client_get_command(request, &command);
    if (r == 0)
        r = open_channel(call, buf_bytes(&command));
    buf_done(&command);
    if (r == -FERRY_EREFUSED)
        (void)text_copy(call->why, sizeof(call->why), BYTES_LIT("it runs no command for us"));
    return r;
}

struct stream *scp_call_stream(const struct scp_call *call)
{
    return ssh_channel_stream(call->channel);
}

void scp_call_complaint(void *arg, const char *text)
{
    struct scp_call *call = arg;
    if (call->complaints++ == 0)
        (void)text_copy(call->why, sizeof(call->why), bytes_str(text));
    if (call->heard != NULL)
        call->heard(call->arg, text);
}

static void say(struct scp_call *call, const char *text)
{
    (void)text_copy(call->why, sizeof(call->why), bytes_str(text));
}

/* A command that could not be run, or that ended in the middle, and a connection that is gone,
 * all close the stream. */
static PARKS int look_at_end(struct scp_call *call, int result)
{
    int status = ssh_channel_status(call->channel, clock_after(STATUS_US));
    if (status == -ECANCELED)
        return status;
    if (status < 0 && ssh_client_result(call->channels->link->client) < 0)
        return -FERRY_ECLOSED;
    if (status == NOT_RUN || status == NOT_FOUND) {
        say(call, "the server has no scp that it could run");
        return -EOPNOTSUPP;
    }
    if (call->complaints > 0)
        return scp_complaint_result(bytes_str(call->why));
    struct bytes errors = ssh_channel_errors(call->channel);
    if (errors.len > 0)
        (void)text_copy_printable(call->why, sizeof(call->why), errors);
    else
        say(call, result == -FERRY_EPROTO ? "what it says is not scp's protocol"
                                          : "the server's scp ended too early");
    return -FERRY_EREFUSED;
}

/* The command ends by itself when all is said. A channel that is closed before it has counts as
 * one for some servers still, and dropbear has been seen to mistake the next one for it. */
static PARKS void wait_for_end(struct scp_call *call)
{
    if (stream_end(scp_call_stream(call), 0) == 0)
        (void)(ssh_channel_status(call->channel, clock_after(STATUS_US)) < 0);
}

static PARKS int meaning(struct scp_call *call, int result)
{
    switch (result) {
    case 0:
        wait_for_end(call);
        return result;
    case SCP_NOT_ALL:
        wait_for_end(call);
        return scp_complaint_result(bytes_str(call->why));
    case -FERRY_EPROTO:
        (void)(stream_end(scp_call_stream(call), 0) < 0);
        return look_at_end(call, result);
    case -FERRY_ECLOSED:
    case -FERRY_EREFUSED:
        return look_at_end(call, result);
    case -FERRY_EBADNAME:
        say(call, "the server sends a name that was not asked for");
        return result;
    default:
        return result;
    }
}

int scp_call_end(struct scp_call *call, int result)
{
    if (call->channel == NULL)
        return result;
    result = meaning(call, result);
    (void)ssh_channel_close(call->channel);
    call->channel = NULL;
    call->channels->open--;
    copy_condition_tell(&call->channels->closed);
    return result;
}
