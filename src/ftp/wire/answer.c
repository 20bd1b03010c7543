#include "ftp/wire/answer.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"

#define CODE_LEN 3

void ftp_answer_init(struct ftp_answer_reader *r)
{
    memset(r, 0, sizeof(*r));
    ftp_line_init(&r->in);
    buf_init(&r->lines, FTP_REPLY_MAX);
}

void ftp_answer_done(struct ftp_answer_reader *r)
{
    ftp_line_done(&r->in);
    buf_done(&r->lines);
    ftp_answer_init(r);
}

static void end_last(struct ftp_answer_reader *r)
{
    if (r->is_given)
        buf_done(&r->lines);
    r->is_given = false;
}

size_t ftp_answer_room(const struct ftp_answer_reader *r)
{
    return ftp_line_room(&r->in, FTP_LINE_MAX);
}

int ftp_answer_feed(struct ftp_answer_reader *r, struct bytes in)
{
    end_last(r);
    return ftp_line_feed(&r->in, in);
}

void ftp_answer_drop(struct ftp_answer_reader *r)
{
    end_last(r);
    struct ftp_line_reader *in = &r->in;
    if (in->in.len == (size_t)in->start + in->current && in->telnet == 0 && !in->is_skipping)
        ftp_line_done(in);
}

/* -- replies -- */

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The code at the start of a line, and what stands behind it: a space, '-', or 0 for nothing.
 */
static bool parse_code(struct bytes line, unsigned *ret_code, uint8_t *ret_mark)
{
    unsigned code = 0;

    if (line.len < CODE_LEN)
        return false;
    for (size_t i = 0; i < CODE_LEN; i++) {
        if (!is_digit(line.data[i]))
            return false;
        code = code * 10 + (line.data[i] - (unsigned)'0');
    }
    uint8_t mark = line.len > CODE_LEN ? line.data[CODE_LEN] : 0;
    if (code < 100 || code > 599 || (mark != 0 && mark != ' ' && mark != '-'))
        return false;
    *ret_code = code;
    *ret_mark = mark;
    return true;
}

static int keep_line(struct ftp_answer_reader *r, struct bytes line)
{
    int result = buf_append_bytes(&r->lines, line);
    if (result >= 0)
        result = buf_append_byte(&r->lines, '\n');
    return result < 0 ? result : 0;
}

static int on_line(struct ftp_answer_reader *r, struct bytes line, struct ftp_answer *ret)
{
    unsigned code = 0;
    uint8_t mark = 0;
    bool has_code = parse_code(line, &code, &mark);

    if (r->code == 0 && !has_code)
        return -FERRY_EPROTO;
    if (++r->count > FTP_ANSWER_LINES_MAX || r->lines.len + line.len > FTP_REPLY_MAX)
        return -FERRY_ELIMIT;
    bool is_last = has_code && mark != '-' && (r->code == 0 || r->code == code);
    if (!is_last) {
        if (r->code == 0)
            r->code = (uint16_t)code;
        return keep_line(r, line);
    }
    r->code = 0;
    r->count = 0;
    r->is_given = true;
    ret->code = code;
    ret->text = bytes_skip(line, CODE_LEN + 1);
    ret->lines = buf_bytes(&r->lines);
    return 1;
}

static int next(struct ftp_answer_reader *r, struct ftp_answer *ret)
{
    for (;;) {
        struct bytes line = BYTES_NONE;
        switch (ftp_line_next(&r->in, FTP_LINE_MAX, &line)) {
        case FTP_LINE_NONE:
            return 0;
        case FTP_LINE_TOO_LONG:
            return -FERRY_ELIMIT;
        case FTP_LINE_HAS_NUL:
            return -FERRY_EPROTO;
        case FTP_LINE_READY:
            break;
        }
        int result = on_line(r, line, ret);
        if (result != 0)
            return result;
    }
}

int ftp_answer_next(struct ftp_answer_reader *r, struct ftp_answer *ret)
{
    end_last(r);
    if (r->error == 0) {
        int result = next(r, ret);
        if (result >= 0)
            return result;
        r->error = result;
    }
    return r->error;
}

/* -- arguments -- */

static size_t run_of_numbers(struct bytes text)
{
    size_t len = 0;
    while (len < text.len && (is_digit(text.data[len]) || text.data[len] == ','))
        len++;
    return len;
}

int ftp_answer_pasv(struct bytes text, struct ftp_address *ret)
{
    while (text.len > 0) {
        size_t len = run_of_numbers(text);
        struct bytes numbers = bytes_first(text, len);
        if (len > 0 && numbers.data[len - 1] == ',') /* "1,2,3,4,5,6, go on" */
            numbers.len--;
        struct ftp_address address;
        if (ftp_port_parse(numbers, &address) == 0) {
            if (address.port == 0)
                return -FERRY_EPROTO;
            *ret = address;
            return 0;
        }
        text = bytes_skip(text, len + 1);
    }
    return -FERRY_EPROTO;
}

int ftp_answer_epsv(struct bytes text, uint16_t *ret_port)
{
    size_t open, end;
    uint64_t port;

    if (!bytes_find(text, '(', &open))
        return -FERRY_EPROTO;
    text = bytes_skip(text, open + 1);
    if (text.len < 4 || text.data[0] < 33 || text.data[0] > 126 || is_digit(text.data[0]))
        return -FERRY_EPROTO;
    uint8_t delimiter = text.data[0];
    if (text.data[1] != delimiter || text.data[2] != delimiter)
        return -FERRY_EPROTO;
    text = bytes_skip(text, 3);
    if (!bytes_find(text, delimiter, &end) || end > 5 || end + 1 >= text.len ||
        text.data[end + 1] != ')')
        return -FERRY_EPROTO;
    if (text_u64(bytes_first(text, end), 10, UINT16_MAX, &port) < 0 || port == 0)
        return -FERRY_EPROTO;
    *ret_port = (uint16_t)port;
    return 0;
}

int ftp_answer_size(struct bytes text, uint64_t *ret)
{
    uint64_t size;

    if (text_u64(text, 10, INT64_MAX, &size) < 0)
        return -FERRY_EPROTO;
    *ret = size;
    return 0;
}
