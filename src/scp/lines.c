#include "scp/lines.h"

#include "base/err.h"

#define LINE_OUT_MAX (SCP_LINE_MAX * 2) /* a name of newlines has each three times as long */

/* Byte by byte, since what follows a line is a file's. */
int scp_lines_read_first(struct scp_lines *l, uint8_t *ret)
{
    ssize_t n = stream_read(l->stream, ret, 1);
    return n < 0 ? (int)n : n > 0;
}

/* Up to a newline, behind the len bytes that are there. */
static int read_behind(struct scp_lines *l, size_t len, struct bytes *ret)
{
    for (;;) {
        uint8_t c;
        int r = scp_lines_read_first(l, &c);
        if (r <= 0)
            return r < 0 ? r : -FERRY_ECLOSED;
        if (c == '\n')
            break;
        if (len == sizeof(l->line))
            return -FERRY_EPROTO;
        l->line[len++] = c;
    }
    *ret = bytes_of(l->line, len);
    return 1;
}

int scp_lines_read(struct scp_lines *l, struct bytes *ret)
{
    int r = scp_lines_read_first(l, l->line);
    if (r <= 0)
        return r;
    if (l->line[0] == '\n') {
        *ret = BYTES_NONE;
        return 1;
    }
    return read_behind(l, 1, ret);
}

int scp_lines_read_rest(struct scp_lines *l, struct bytes *ret)
{
    return read_behind(l, 0, ret);
}

int scp_lines_say(struct scp_lines *l, const struct scp_line *line)
{
    struct buf out;
    buf_init(&out, LINE_OUT_MAX);
    int r = scp_line_append(&out, line);
    if (r == 0)
        r = stream_write_bytes(l->stream, buf_bytes(&out));
    buf_done(&out);
    return r;
}

int scp_lines_say_done(struct scp_lines *l)
{
    return stream_write_bytes(l->stream, BYTES_LIT("\0"));
}
