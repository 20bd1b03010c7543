#include "ftp/wire/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"

#define TELNET_IAC 0xff

static bool is_control(uint8_t c)
{
    return c < 0x20 || c == 0x7f;
}

static size_t count_iac(const uint8_t *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == TELNET_IAC;
    return count;
}

/* Makes the bytes from text_at on the text of a line and ends it. Works backwards, because the
 * text grows: a space before it if `indented`, and a second byte for each 0xFF. */
static int finish_line(struct buf *out, size_t text_at, bool indented)
{
    size_t len = out->len - text_at;
    size_t more = (indented ? 1u : 0u) + count_iac(out->data + text_at, len);
    int result = buf_reserve(out, more + 2);
    if (result < 0)
        return result;

    uint8_t *text = out->data + text_at;
    size_t to = len + more;
    for (size_t from = len; from-- > 0;) {
        uint8_t c = text[from];
        text[--to] = is_control(c) ? '?' : c;
        if (c == TELNET_IAC)
            text[--to] = c;
    }
    if (indented)
        text[--to] = ' ';
    memcpy(text + len + more, "\r\n", 2);
    buf_added(out, more + 2);
    return 0;
}

/* Into what room there is; again only if that was too small. */
static PRINTF_LIKE(2, 0) int append_format(struct buf *out, const char *format, va_list args)
{
    size_t room = out->room - out->len;
    va_list again;
    va_copy(again, args);
    char *to = room != 0 ? (char *)out->data + out->len : NULL;
    int len = vsnprintf(to, room, format, args);
    int result = len < 0 ? -EINVAL : 0;
    if (len >= 0 && (size_t)len >= room) {
        result = buf_reserve(out, (size_t)len + 1);
        if (result == 0)
            (void)vsnprintf((char *)out->data + out->len, (size_t)len + 1, format, again);
    }
    va_end(again);
    if (result == 0)
        buf_added(out, (size_t)len);
    return result;
}

static int append_code(struct buf *out, unsigned code, char separator)
{
    const char text[] = {(char)('0' + code / 100 % 10), (char)('0' + code / 10 % 10),
                         (char)('0' + code % 10), separator};
    return buf_append(out, text, sizeof(text));
}

/* code 0: a line in the middle of a reply. */
static PRINTF_LIKE(4, 0) int append_line(struct buf *out, unsigned code, char separator,
                                         const char *format, va_list args)
{
    size_t before = out->len;
    int result = code ? append_code(out, code, separator) : 0;
    size_t text_at = out->len;

    if (result >= 0)
        result = append_format(out, format, args);
    if (result >= 0) {
        bool like_a_code = code == 0 && out->len > text_at && out->data[text_at] >= '0' &&
                           out->data[text_at] <= '9';
        result = finish_line(out, text_at, like_a_code);
    }
    if (result < 0)
        out->len = before;
    return result < 0 ? result : 0;
}

int ftp_reply_args(struct buf *out, unsigned code, const char *format, va_list args)
{
    return append_line(out, code, ' ', format, args);
}

int ftp_reply(struct buf *out, unsigned code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int result = ftp_reply_args(out, code, format, args);
    va_end(args);
    return result;
}

int ftp_reply_open(struct buf *out, unsigned code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int result = append_line(out, code, '-', format, args);
    va_end(args);
    return result;
}

int ftp_reply_line(struct buf *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int result = append_line(out, 0, ' ', format, args);
    va_end(args);
    return result;
}

static int append_quoted(struct buf *out, struct bytes path)
{
    int result = buf_append_byte(out, '"');

    while (result >= 0 && path.len > 0) {
        size_t quote;
        size_t len = bytes_find(path, '"', &quote) ? quote + 1 : path.len;
        result = buf_append_bytes(out, bytes_first(path, len));
        if (result >= 0 && path.data[len - 1] == '"')
            result = buf_append_byte(out, '"');
        path = bytes_skip(path, len);
    }
    return result < 0 ? result : buf_append_byte(out, '"');
}

int ftp_reply_path(struct buf *out, unsigned code, struct bytes path, const char *after)
{
    size_t before = out->len;
    int result = buf_printf(out, "%03u ", code);
    size_t text_at = out->len;

    if (result >= 0)
        result = append_quoted(out, path);
    if (result >= 0)
        result = buf_printf(out, " %s", after);
    if (result >= 0)
        result = finish_line(out, text_at, false);
    if (result < 0)
        out->len = before;
    return result < 0 ? result : 0;
}

static const struct reply_code {
    int result;
    unsigned code;
} reply_codes[] = {
    {-ENOENT, 550},          {-EACCES, 550},
    {-EPERM, 550},           {-EEXIST, 550},
    {-ENOTDIR, 550},         {-EISDIR, 550},
    {-ENOTEMPTY, 550},       {-EROFS, 550},
    {-EXDEV, 550}, /* a link that leaves the root */
    {-ELOOP, 550},           {-ENAMETOOLONG, 553},
    {-EINVAL, 501},          {-ENOSPC, 452},
    {-EDQUOT, 552},          {-EFBIG, 552},
    {-EBUSY, 450},           {-ETXTBSY, 450},
    {-EAGAIN, 450},          {-ECANCELED, 426},
    {-ECONNRESET, 426},      {-ECONNABORTED, 426},
    {-EPIPE, 426},           {-ETIMEDOUT, 426},
    {-FERRY_EPROTO, 500},    {-FERRY_ELIMIT, 450},
    {-FERRY_EAUTH, 530},     {-FERRY_ETRUNCATED, 451},
    {-FERRY_ECLOSED, 426},   {-FERRY_EQUOTA, 552},
    {-FERRY_ERIGHTS, 550},   {-FERRY_ENOTREG, 550},
    {-FERRY_ESTALLED, 426},  {-FERRY_EKICKED, 421},
    {-FERRY_ESHUTDOWN, 421}, {-FERRY_EBADNAME, 553},
    {-FERRY_EBANNED, 421},   {-FERRY_EREFUSED, 550},
};

unsigned ftp_reply_code(int result)
{
    for (size_t i = 0; i < ARRAY_LEN(reply_codes); i++)
        if (reply_codes[i].result == result)
            return reply_codes[i].code;
    return 451;
}
