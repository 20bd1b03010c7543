#include "scp/wire/line.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#define MODE_DIGITS  4
#define SECONDS_MAX  (INT64_MAX / USEC_PER_S - 1)
#define FRACTION_MAX 999999

/* -- parsing -- */

static int take_number(struct bytes *rest, uint8_t end, uint64_t max, uint64_t *ret)
{
    size_t at;
    if (!bytes_find(*rest, end, &at))
        return -FERRY_EPROTO;
    if (text_u64(bytes_first(*rest, at), 10, max, ret) < 0)
        return -FERRY_EPROTO;
    *rest = bytes_skip(*rest, at + 1);
    return 0;
}

static int check_name(struct bytes name)
{
    size_t at;
    bool is_bad = name.len == 0 || bytes_equal(name, BYTES_LIT(".")) ||
                  bytes_equal(name, BYTES_LIT("..")) || bytes_find(name, '/', &at) ||
                  bytes_find(name, '\0', &at);
    return is_bad ? -FERRY_EBADNAME : 0;
}

static int parse_entry(struct bytes rest, struct scp_line *line)
{
    uint64_t mode;
    if (rest.len <= MODE_DIGITS || rest.data[MODE_DIGITS] != ' ' ||
        text_u64(bytes_first(rest, MODE_DIGITS), 8, 07777, &mode) < 0)
        return -FERRY_EPROTO;
    rest = bytes_skip(rest, MODE_DIGITS + 1);
    int r = take_number(&rest, ' ', INT64_MAX, &line->size_bytes);
    if (r < 0)
        return r;
    line->mode = (uint32_t)mode;
    line->text = rest;
    return check_name(rest);
}

static int take_time(struct bytes *rest, uint8_t end, int64_t *ret_us)
{
    uint64_t seconds, fraction;
    int r = take_number(rest, ' ', SECONDS_MAX, &seconds);
    if (r == 0 && end != '\0')
        r = take_number(rest, end, FRACTION_MAX, &fraction);
    else if (r == 0 && text_u64(*rest, 10, FRACTION_MAX, &fraction) < 0)
        r = -FERRY_EPROTO;
    if (r == 0)
        *ret_us = (int64_t)(seconds * USEC_PER_S + fraction);
    return r;
}

static int parse_times(struct bytes rest, struct scp_line *line)
{
    int r = take_time(&rest, ' ', &line->mtime_us);
    return r < 0 ? r : take_time(&rest, '\0', &line->atime_us);
}

int scp_line_parse(struct bytes text, struct scp_line *ret)
{
    if (text.len == 0)
        return -FERRY_EPROTO;
    struct bytes rest = bytes_skip(text, 1);
    struct scp_line line = {.text = BYTES_NONE};
    int r = 0;
    switch (text.data[0]) {
    case 'C':
        line.kind = SCP_LINE_FILE;
        r = parse_entry(rest, &line);
        break;
    case 'D':
        line.kind = SCP_LINE_DIRECTORY;
        r = parse_entry(rest, &line);
        break;
    case 'E': /* whatever follows, as everybody takes it */
        line.kind = SCP_LINE_END;
        break;
    case 'T':
        line.kind = SCP_LINE_TIMES;
        r = parse_times(rest, &line);
        break;
    case '\1':
    case '\2':
        line.kind = text.data[0] == '\1' ? SCP_LINE_WARNING : SCP_LINE_FATAL;
        line.text = rest;
        break;
    default:
        r = -FERRY_EPROTO;
    }
    if (r == 0)
        *ret = line;
    return r;
}

/* -- formatting -- */

static int append_name(struct buf *out, struct bytes name)
{
    size_t at;
    if (!bytes_find(name, '\n', &at))
        return buf_append_bytes(out, name);
    int r = 0;
    for (size_t i = 0; i < name.len && r == 0; i++) {
        if (name.data[i] == '\n')
            r = buf_append_str(out, "\\^J");
        else if (name.data[i] == '\\')
            r = buf_append_str(out, "\\\\");
        else
            r = buf_append_byte(out, name.data[i]);
    }
    return r;
}

static int append_complaint(struct buf *out, uint8_t kind, struct bytes text)
{
    int r = buf_append_byte(out, kind);
    if (r == 0)
        r = buf_reserve(out, text.len + 1);
    if (r == 0)
        buf_added(out, text_copy_printable((char *)out->data + out->len, text.len + 1, text));
    return r;
}

static int append_entry(struct buf *out, const struct scp_line *line)
{
    int r = buf_printf(out, "%c%04o %llu ", line->kind == SCP_LINE_FILE ? 'C' : 'D',
                       line->mode & 07777u, (unsigned long long)line->size_bytes);
    return r < 0 ? r : append_name(out, line->text);
}

static unsigned long long seconds_of(int64_t us)
{
    return us < 0 ? 0 : (uint64_t)us / USEC_PER_S;
}

static int append_times(struct buf *out, const struct scp_line *line)
{
    return buf_printf(out, "T%llu 0 %llu 0", seconds_of(line->mtime_us),
                      seconds_of(line->atime_us));
}

int scp_line_append(struct buf *out, const struct scp_line *line)
{
    size_t before = out->len;
    int r = 0;
    switch (line->kind) {
    case SCP_LINE_FILE:
    case SCP_LINE_DIRECTORY:
        r = append_entry(out, line);
        break;
    case SCP_LINE_END:
        r = buf_append_byte(out, 'E');
        break;
    case SCP_LINE_TIMES:
        r = append_times(out, line);
        break;
    case SCP_LINE_WARNING:
    case SCP_LINE_FATAL:
        r = append_complaint(out, line->kind == SCP_LINE_WARNING ? 1 : 2, line->text);
        break;
    }
    if (r == 0)
        r = buf_append_byte(out, '\n');
    if (r < 0)
        out->len = before;
    return r;
}
