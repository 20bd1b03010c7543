#include "client/copy/tar_peer.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"
#include "client/remote/sftp.h"
#include "ssh/transport.h"

#define COMMAND_MAX (5 * PATH_LEN_MAX)
#define VERSION_MAX 64

/* -- is there one? -- */

/* Some servers run something else for any command, so it must say its name. */
static bool is_tar(struct bytes said)
{
    static const char *const names[] = {"tar ", "bsdtar "};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (bytes_start_with(said, bytes_str(names[i])))
            return true;
    return false;
}

static PARKS int read_version(struct ssh_channel *channel)
{
    struct stream *s = ssh_channel_stream(channel);
    char text[VERSION_MAX], rest[256];
    size_t len = 0;
    int r = stream_end(s, 0);
    ssize_t n = r == 0 ? 1 : r;
    while (n > 0) {
        n = len < sizeof(text) ? stream_read(s, text + len, sizeof(text) - len)
                               : stream_read(s, rest, sizeof(rest));
        len += n > 0 && len < sizeof(text) ? (size_t)n : 0;
    }
    if (n < 0)
        return (int)n;
    int status = ssh_channel_status(channel, clock_after(DEFAULT_STALL_US));
    if (status == -ECANCELED)
        return status;
    return status == 0 && is_tar(bytes_of(text, len)) ? 0 : -EOPNOTSUPP;
}

int copy_tar_find(const struct ssh_link *link)
{
    struct ssh_channel *channel;
    if (link->is_ferry) /* which has it and no version of it */
        return 0;
    int r = ssh_channel_open_session(link->connection, false, BYTES_LIT("tar --version"),
                                     clock_after(DEFAULT_CONNECT_US), &channel);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
    r = read_version(channel);
    (void)ssh_channel_close(channel);
    return r;
}

/* -- its run -- */

int copy_tar_start(const struct ssh_link *link, bool keeps_modes, const char *directory,
                   struct ssh_channel **ret)
{
    struct buf command;
    buf_init(&command, COMMAND_MAX);
    int r = buf_append_str(&command, keeps_modes ? "tar -x -p " : "tar -x ");
    if (r == 0)
        r = buf_append_str(&command, "-f - -C ");
    if (r == 0)
        r = sftp_quote_word(bytes_str(directory), &command);
    if (r == 0)
        r = ssh_channel_open_session(link->connection, false, buf_bytes(&command),
                                     clock_after(DEFAULT_CONNECT_US), ret);
    buf_done(&command);
    return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
}

/* A slow disk may have much to do yet, and says nothing meanwhile; a machine that is gone says
 * nothing either. So it is asked for an answer once a wait was in vain. */
static PARKS int wait_status(const struct ssh_link *link, struct ssh_channel *channel,
                             usec_t deadline)
{
    struct ssh_transport *t = ssh_client_transport(link->client);
    usec_t stall_us = ssh_channel_stream(channel)->stall_us;
    uint64_t heard = UINT64_MAX; /* before it was asked */
    for (;;) {
        usec_t next = clock_after(stall_us > 0 ? stall_us : DEFAULT_STALL_US);
        int r = ssh_channel_status(channel, next < deadline ? next : deadline);
        if (r != -ETIMEDOUT)
            return r;
        uint64_t received = ssh_transport_traffic(t).received_bytes;
        if (clock_now() >= deadline || received == heard)
            return -FERRY_ESTALLED;
        heard = received;
        r = ssh_connection_ping(link->connection);
        if (r < 0)
            return r;
    }
}

int copy_tar_status(const struct ssh_link *link, struct ssh_channel *channel, usec_t deadline,
                    char ret[COPY_TAR_WORDS_MAX])
{
    int r = wait_status(link, channel, deadline);
    (void)text_copy_printable(ret, COPY_TAR_WORDS_MAX, ssh_channel_errors(channel));
    return r;
}
