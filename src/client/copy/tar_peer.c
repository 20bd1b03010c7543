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
#define ANSWER_MAX  ((size_t)64 * 1024) /* of which the first is looked at */

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

/* Packers by the filter of an archive: the option of tar, and the codec. */
static const struct packer {
    const char *option, *probe;
    enum codec codec;
} packers[] = {
    [TAR_PLAIN] = {"", "tar --version", CODEC_NONE},
    [TAR_GZIP] = {"-z ", "tar --version; tar -z -tf -", CODEC_GZIP},
    [TAR_ZSTD] = {"--zstd ", "tar --version; tar --zstd -tf -", CODEC_ZSTD},
};

struct answer {
    bool is_tar, unpacks;
};

/* An archive of nothing, to be listed. */
static PARKS int send_probe(struct stream *s, enum codec codec)
{
    static const uint8_t empty[1024];
    struct coder *coder;
    struct buf packed;
    if (codec == CODEC_NONE)
        return 0;
    int r = coder_new(codec, 1, &coder);
    if (r < 0)
        return r;
    buf_init(&packed, coder_bound(coder, sizeof(empty)));
    r = coder_step(coder, bytes_of(empty, sizeof(empty)), CODER_END, &packed);
    if (r == 0)
        r = stream_write_bytes(s, buf_bytes(&packed));
    (void)coder_free(coder);
    buf_done(&packed);
    return r == -FERRY_ECLOSED ? 0 : r; /* nobody wants it: what follows says why */
}

/* What talks on and on, or word by word for ever, is no tar. */
static PARKS int read_answer(struct ssh_channel *channel, struct answer *ret)
{
    struct stream *s = ssh_channel_stream(channel);
    char text[VERSION_MAX], rest[256];
    size_t len = 0, said = 0;
    ssize_t n = 1;
    usec_t until = clock_after(DEFAULT_STALL_US);
    while (n > 0 && said < ANSWER_MAX && clock_now() < until) {
        n = len < sizeof(text) ? stream_read(s, text + len, sizeof(text) - len)
                               : stream_read(s, rest, sizeof(rest));
        len += n > 0 && len < sizeof(text) ? (size_t)n : 0;
        said += n > 0 ? (size_t)n : 0;
    }
    if (n != 0)
        return n < 0 ? (int)n : 0;
    int status = ssh_channel_status(channel, clock_after(DEFAULT_STALL_US));
    ret->is_tar = is_tar(bytes_of(text, len));
    ret->unpacks = ret->is_tar && status == 0;
    return status == -ECANCELED ? status : 0;
}

static PARKS int open_probe(const struct ssh_link *link, enum tar_filter filter,
                            struct ssh_channel **ret)
{
    return ssh_channel_open_session(link->connection, false, bytes_str(packers[filter].probe),
                                    clock_after(DEFAULT_CONNECT_US), ret);
}

/* Closes the channel. */
static PARKS int hear(struct ssh_channel *channel, enum tar_filter filter, struct answer *ret)
{
    int r = send_probe(ssh_channel_stream(channel), packers[filter].codec);
    if (r == 0)
        r = stream_end(ssh_channel_stream(channel), 0);
    if (r == 0)
        r = read_answer(channel, ret);
    (void)ssh_channel_close(channel);
    return r;
}

static PARKS int ask(const struct ssh_link *link, enum tar_filter filter, struct answer *ret)
{
    struct ssh_channel *channel;
    *ret = (struct answer){link->is_ferry, link->is_ferry}; /* it has all, and no version */
    if (link->is_ferry)
        return 0;
    int r = open_probe(link, filter, &channel);
    if (r < 0)
        return r == -FERRY_EREFUSED ? 0 : r;
    return hear(channel, filter, ret);
}

/* The filters that would do, the best first; what remains is TAR_PLAIN. */
static unsigned wanted(const struct ssh_link *link, const struct copy_packing *packing,
                       enum tar_filter ret[2])
{
    bool is_packed = strcmp(link->compression, "none") != 0;
    unsigned count = 0;
    if (packing->codec == CODEC_ZSTD || packing->is_any_fine)
        ret[count++] = TAR_ZSTD;
    if (packing->codec == CODEC_ZLIB && !is_packed)
        ret[count++] = TAR_GZIP;
    return count;
}

int copy_tar_find(const struct ssh_link *link, const struct copy_packing *packing,
                  enum tar_filter *ret, const char **ret_why)
{
    enum tar_filter filters[2];
    unsigned count = wanted(link, packing, filters);
    struct answer answer = {false, false};
    int r = 0;
    *ret = TAR_PLAIN;
    *ret_why = "";
    for (unsigned i = 0; i < count; i++) {
        r = ask(link, filters[i], &answer);
        if (r < 0)
            return r;
        if (answer.unpacks) {
            *ret = filters[i];
            return 0;
        }
    }
    if (count == 0)
        r = ask(link, TAR_PLAIN, &answer);
    if (r < 0)
        return r;
    if (!answer.is_tar || (count == 0 && !answer.unpacks))
        return -EOPNOTSUPP;
    if (packing->codec != CODEC_ZSTD)
        return 0;
    *ret_why = "the server's tar cannot unpack zstd; --compress auto, zlib or none";
    return -EOPNOTSUPP;
}

/* -- its run -- */

static PARKS int start(const struct ssh_link *link, struct buf *command, const char *rest,
                       struct bytes directory, const char *names, struct ssh_channel **ret)
{
    int r = buf_append_str(command, rest);
    if (r == 0)
        r = sftp_quote_word(directory, command);
    if (r == 0)
        r = buf_append_str(command, names);
    if (r == 0)
        r = ssh_channel_open_session(link->connection, false, buf_bytes(command),
                                     clock_after(DEFAULT_CONNECT_US), ret);
    return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
}

static PARKS int start_unpacking(const struct ssh_link *link, enum tar_filter filter,
                                 bool keeps_modes, const char *directory,
                                 struct ssh_channel **ret)
{
    struct buf command;
    buf_init(&command, COMMAND_MAX);
    int r = buf_append_str(&command, keeps_modes ? "tar -x -p " : "tar -x ");
    if (r == 0)
        r = buf_append_str(&command, packers[filter].option);
    if (r == 0)
        r = start(link, &command, "-f - -C ", bytes_str(directory), "", ret);
    buf_done(&command);
    return r;
}

/* Some shells take a fifth of a second to begin, so both begin at once. A server may allow one
 * session less: then one after the other. */
static PARKS int start_while_asking(const struct ssh_link *link, bool keeps_modes,
                                    const char *directory, struct ssh_channel **ret)
{
    struct ssh_channel *probe, *run = NULL;
    struct answer answer = {false, false};
    int r = open_probe(link, TAR_PLAIN, &probe);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
    int started = start_unpacking(link, TAR_PLAIN, keeps_modes, directory, &run);
    r = hear(probe, TAR_PLAIN, &answer);
    if (r == 0 && !answer.unpacks)
        r = -EOPNOTSUPP;
    /* sshd still counts the session that has ended when it reads the next request, but not when
     * it reads the one after */
    for (unsigned tries = 0; tries < 2 && r == 0 && started == -EOPNOTSUPP; tries++)
        started = start_unpacking(link, TAR_PLAIN, keeps_modes, directory, &run);
    if (r == 0)
        r = started;
    if (r < 0)
        (void)ssh_channel_close(run); /* nothing was sent to it */
    else
        *ret = run;
    return r;
}

/* dropbear (2022.83) at times drops the connection over it. */
static bool runs_two_at_once(const struct ssh_link *link)
{
    const struct ssh_transport *t = ssh_client_transport(link->client);
    return bytes_start_with(bytes_str(ssh_transport_peer_ident(t)->text),
                            BYTES_LIT("SSH-2.0-OpenSSH"));
}

int copy_tar_find_and_start(const struct ssh_link *link, const struct copy_packing *packing,
                            bool keeps_modes, const char *directory, struct copy_tar_found *ret)
{
    enum tar_filter filters[2];
    if (wanted(link, packing, filters) == 0 && runs_two_at_once(link)) {
        *ret = (struct copy_tar_found){.filter = TAR_PLAIN, .why = ""};
        return start_while_asking(link, keeps_modes, directory, &ret->channel);
    }
    int r = copy_tar_find(link, packing, &ret->filter, &ret->why);
    if (r == 0)
        r = start_unpacking(link, ret->filter, keeps_modes, directory, &ret->channel);
    return r;
}

int copy_tar_start_packing(const struct ssh_link *link, struct bytes directory,
                           struct ssh_channel **ret)
{
    struct buf command;
    buf_init(&command, COMMAND_MAX);
    int r = start(link, &command, "tar -c -f - -C ", directory, " .", ret);
    buf_done(&command);
    return r;
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
