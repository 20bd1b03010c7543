#include "ftp/wire/line.h"

#include <assert.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"

/* RFC 854, "TELNET COMMAND STRUCTURE" */
enum {
    TELNET_FIRST_COMMAND = 0xf0,
    TELNET_WILL = 0xfb, /* then WONT, DO, DONT: the commands with an option */
    TELNET_IAC = 0xff,
};

enum telnet_state { TELNET_TEXT, TELNET_AFTER_IAC, TELNET_OPTION };

#define HELD_MAX   (FTP_LINE_MAX + FTP_LINE_CHUNK)
#define FIRST_ROOM (FTP_LINE_PRELOGIN_MAX + FTP_LINE_CHUNK)

static_assert(HELD_MAX < UINT16_MAX, "offsets of a line reader are 16 bits");

void ftp_line_init(struct ftp_line_reader *r)
{
    memset(r, 0, sizeof(*r));
    buf_init(&r->in, HELD_MAX);
}

void ftp_line_done(struct ftp_line_reader *r)
{
    buf_wipe(&r->in);
    ftp_line_init(r);
}

/* An IAC at the end counts: it may turn out to be a byte of the line. */
static size_t held(const struct ftp_line_reader *r)
{
    return r->in.len - r->start - r->current + (r->telnet == TELNET_AFTER_IAC);
}

static void drop_current(struct ftp_line_reader *r)
{
    if (r->current)
        mem_wipe(r->in.data + r->start, r->current);
    r->start = (uint16_t)(r->start + r->current);
    r->current = 0;
}

size_t ftp_line_room(const struct ftp_line_reader *r, size_t line_cap)
{
    size_t max = line_cap < FTP_LINE_MAX ? line_cap + FTP_LINE_CHUNK : HELD_MAX;

    return held(r) < max ? max - held(r) : 0;
}

/* Moves what is held to the front and makes room. The first allocation takes all that is held
 * before the login, so that growing never leaves a copy of a password behind. */
static int make_room(struct ftp_line_reader *r, size_t len)
{
    drop_current(r);
    len += r->telnet == TELNET_AFTER_IAC;
    if (r->start) {
        size_t gone = r->start;
        buf_consume(&r->in, gone);
        mem_wipe(r->in.data + r->in.len, gone);
        r->start = 0;
    }
    if (!r->in.data && len < FIRST_ROOM)
        len = FIRST_ROOM;
    return buf_reserve(&r->in, len);
}

static size_t put(struct ftp_line_reader *r, uint8_t c, uint8_t *out)
{
    if (!r->is_skipping) {
        *out = c;
        return 1;
    }
    if (c == '\n')
        r->is_skipping = false;
    return 0;
}

/* What follows an IAC. Returns the number of bytes written to out, at most 2. */
static size_t put_after_iac(struct ftp_line_reader *r, uint8_t c, uint8_t *out)
{
    r->telnet = TELNET_TEXT;
    if (c == TELNET_IAC)
        return put(r, c, out);
    if (c < TELNET_FIRST_COMMAND) {
        size_t n = put(r, TELNET_IAC, out);
        return n + put(r, c, out + n);
    }
    if (c >= TELNET_WILL)
        r->telnet = TELNET_OPTION;
    return 0;
}

int ftp_line_feed(struct ftp_line_reader *r, struct bytes in)
{
    if (in.len > HELD_MAX - held(r))
        return -FERRY_ELIMIT;
    int result = make_room(r, in.len);
    if (result < 0)
        return result;

    uint8_t *out = r->in.data + r->in.len;
    size_t n = 0;
    for (size_t i = 0; i < in.len; i++) {
        uint8_t c = in.data[i];
        if (r->telnet == TELNET_AFTER_IAC)
            n += put_after_iac(r, c, out + n);
        else if (r->telnet == TELNET_OPTION)
            r->telnet = TELNET_TEXT;
        else if (c == TELNET_IAC)
            r->telnet = TELNET_AFTER_IAC;
        else
            n += put(r, c, out + n);
    }
    buf_added(&r->in, n);
    return 0;
}

/* Without its end in sight a line is too long when even a CR as its last byte cannot save it.
 */
static bool is_hopeless(struct bytes part, size_t line_cap)
{
    return part.len > line_cap + 1 || (part.len == line_cap + 1 && part.data[line_cap] != '\r');
}

enum ftp_line_event ftp_line_next(struct ftp_line_reader *r, size_t line_cap,
                                  struct bytes *ret_line)
{
    drop_current(r);
    struct bytes rest = bytes_skip(buf_bytes(&r->in), r->start);
    size_t len;

    if (!bytes_find(rest, '\n', &len)) {
        bool too_long = is_hopeless(rest, line_cap);
        if (too_long)
            r->is_skipping = true;
        if (too_long || rest.len == 0) {
            buf_wipe(&r->in);
            r->start = 0;
        }
        return too_long ? FTP_LINE_TOO_LONG : FTP_LINE_NONE;
    }
    r->current = (uint16_t)(len + 1);
    if (len > 0 && rest.data[len - 1] == '\r')
        len--;
    if (len > line_cap)
        return FTP_LINE_TOO_LONG;
    if (memchr(rest.data, 0, len))
        return FTP_LINE_HAS_NUL;
    *ret_line = bytes_first(rest, len);
    return FTP_LINE_READY;
}

void ftp_line_unread(struct ftp_line_reader *r)
{
    r->current = 0;
}

bool ftp_line_is_idle(const struct ftp_line_reader *r)
{
    return r->in.len == 0 && r->telnet == TELNET_TEXT && !r->is_skipping;
}
