/* A digest that the server computes: sha256sum in a channel of the same connection. */
#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"
#include "client/place/login.h"
#include "client/remote/sftp.h"

#define COMMAND_MAX (5 * PATH_LEN_MAX)
#define DIGITS      64
#define LINE_MAX    (DIGITS + 1)
/* A digest of all of a large file may take long, and nothing is heard meanwhile. */
#define HASH_US (3600 * USEC_PER_S)

int sftp_quote_word(struct bytes word, struct buf *ret)
{
    size_t at;
    if (bytes_find(word, '\0', &at))
        return -EINVAL;
    int r = buf_append_byte(ret, '\'');
    while (r == 0 && bytes_find(word, '\'', &at)) {
        r = buf_append_bytes(ret, bytes_first(word, at));
        if (r == 0)
            r = buf_append_str(ret, "'\\''");
        word = bytes_skip(word, at + 1);
    }
    if (r == 0)
        r = buf_append_bytes(ret, word);
    return r < 0 ? r : buf_append_byte(ret, '\'');
}

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int sftp_sha256_line(struct bytes line, uint8_t ret[32])
{
    uint8_t digest[DIGITS / 2];
    if (line.len > 0 && line.data[0] == '\\') /* its name is escaped */
        line = bytes_skip(line, 1);
    if (line.len < DIGITS || (line.len > DIGITS && line.data[DIGITS] != ' '))
        return -FERRY_EPROTO;
    for (unsigned i = 0; i < DIGITS / 2; i++) {
        int high = digit(line.data[(size_t)2 * i]), low = digit(line.data[(size_t)2 * i + 1]);
        if (high < 0 || low < 0)
            return -FERRY_EPROTO;
        digest[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(ret, digest, sizeof(digest));
    return 0;
}

/* ferryd has no shell, and its sha256sum knows whole files alone. */
static int make_command(struct bytes path, uint64_t bytes, uint64_t size_bytes,
                        struct buf *command)
{
    int r = bytes < size_bytes ? buf_printf(command, "head -c %" PRIu64 " -- ", bytes)
                               : buf_append_str(command, "sha256sum -- ");
    if (r == 0)
        r = sftp_quote_word(path, command);
    if (r == 0 && bytes < size_bytes)
        r = buf_append_str(command, " | sha256sum");
    return r;
}

/* What comes first, as much as a digest has; the rest is thrown away. */
static PARKS int read_line(struct stream *s, char *line, size_t *ret_len)
{
    size_t len = 0;
    for (;;) {
        char rest[256];
        ssize_t n = len < LINE_MAX ? stream_read(s, line + len, LINE_MAX - len)
                                   : stream_read(s, rest, sizeof(rest));
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        if (len < LINE_MAX)
            len += (size_t)n;
    }
    *ret_len = len;
    return 0;
}

static PARKS int ask(struct ssh_channel *channel, size_t why_max, char *why, uint8_t ret[32])
{
    struct stream *s = ssh_channel_stream(channel);
    char line[LINE_MAX];
    size_t len = 0;
    s->stall_us = HASH_US;
    int r = stream_end(s, 0); /* a server that runs something else sees that it is over */
    if (r == 0)
        r = read_line(s, line, &len);
    int status = r == 0 ? ssh_channel_status(channel, clock_after(DEFAULT_STALL_US)) : r;
    if (status == 0)
        r = sftp_sha256_line(bytes_of(line, len), ret);
    if (status != 0 || r == -FERRY_EPROTO) {
        (void)text_copy_printable(why, why_max, ssh_channel_errors(channel));
        return status == -ECANCELED ? status : -EOPNOTSUPP;
    }
    return r;
}

int sftp_ask_sha256(struct ssh_link *link, struct bytes path, uint64_t bytes,
                    uint64_t size_bytes, size_t why_max, char *why, uint8_t ret[32])
{
    struct ssh_channel *channel;
    struct buf command;
    if (link == NULL || bytes > size_bytes || (bytes < size_bytes && link->is_ferry))
        return -EOPNOTSUPP;
    buf_init(&command, COMMAND_MAX);
    int r = make_command(path, bytes, size_bytes, &command);
    if (r == 0)
        r = ssh_channel_open_session(link->connection, false, buf_bytes(&command),
                                     clock_after(DEFAULT_CONNECT_US), &channel);
    buf_done(&command);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
    r = ask(channel, why_max, why, ret);
    (void)ssh_channel_close(channel);
    return r;
}
