#include "client/copy/progress.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "task/sys.h"

#define NAME_LEAST 4 /* columns; less says nothing */

void copy_amount_text(uint64_t bytes, char ret[COPY_AMOUNT_MAX])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    unsigned unit = 0;
    double value = (double)bytes;
    while (value >= 999.95 && unit + 1 < ARRAY_LEN(units)) {
        value /= 1000;
        unit++;
    }
    snprintf(ret, COPY_AMOUNT_MAX, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value,
             units[unit]);
}

/* -- characters and their columns -- */

static const struct range {
    uint32_t first, last;
} narrow[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
              {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
              {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}},
  wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
            {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
            {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}},
  /* what would turn or break the line */
    hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x200e, 0x200f},
                {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};

static bool is_in(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static uint32_t code_of(struct bytes s, size_t len)
{
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = s.data[0] & masks[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s.data[i] & 0x3f);
    return c;
}

struct character {
    size_t len;
    unsigned columns;
    bool is_shown; /* else as '?' */
};

static struct character character_at(struct bytes s)
{
    size_t len = text_utf8_len(s);
    if (len == 0)
        return (struct character){1, 1, false};
    uint32_t c = code_of(s, len);
    if (is_in(hidden, ARRAY_LEN(hidden), c))
        return (struct character){len, 1, false};
    unsigned columns = is_in(narrow, ARRAY_LEN(narrow), c) ? 0
                       : is_in(wide, ARRAY_LEN(wide), c)   ? 2
                                                           : 1;
    return (struct character){len, columns, true};
}

static unsigned columns_of(struct bytes s)
{
    unsigned columns = 0;
    while (s.len > 0) {
        struct character c = character_at(s);
        columns += c.columns;
        s = bytes_skip(s, c.len);
    }
    return columns;
}

/* The characters of s that begin in columns [from, to) and end there; what they take. */
static unsigned put_columns(struct bytes s, unsigned from, unsigned to, char **at)
{
    unsigned column = 0, put = 0;
    while (s.len > 0) {
        struct character c = character_at(s);
        if (column >= from && column + c.columns <= to) {
            if (c.is_shown)
                memcpy(*at, s.data, c.len);
            else
                **at = '?';
            *at += c.is_shown ? c.len : 1;
            put += c.columns;
        }
        column += c.columns;
        s = bytes_skip(s, c.len);
    }
    return put;
}

/* Both ends of a long name, since many begin alike; exactly `width` columns. */
static void put_name(struct bytes name, unsigned width, char **at)
{
    /* of a name that no line could hold, its end */
    if (name.len > COPY_LINE_MAX * 2)
        name = bytes_skip(name, name.len - COPY_LINE_MAX * 2);
    unsigned all = columns_of(name), put;
    if (all <= width) {
        put = put_columns(name, 0, all, at);
    } else {
        unsigned head = (width - 2) / 2, tail = width - 2 - head;
        put = put_columns(name, 0, head, at);
        memcpy(*at, "..", 2);
        *at += 2;
        put += 2 + put_columns(name, all - tail, all, at);
    }
    for (; put < width; put++)
        *(*at)++ = ' ';
}

/* -- a line -- */

/* A blank, and the text at the right. */
static void put_field(const char *text, unsigned width, char **at)
{
    size_t len = strlen(text);
    len = len < width ? len : width;
    memset(*at, ' ', width + 1 - len);
    memcpy(*at + width + 1 - len, text, len);
    *at += width + 1;
}

static void share_text(const struct copy_line *line, char ret[COPY_AMOUNT_MAX])
{
    if (!line->has_size) {
        copy_amount_text(line->done_bytes, ret);
        return;
    }
    double share = line->of_bytes > 0 ? (double)line->done_bytes / (double)line->of_bytes : 1;
    snprintf(ret, COPY_AMOUNT_MAX, "%3u%%", share < 1 ? (unsigned)(share * 100) : 100u);
}

static void left_text(const struct copy_line *line, char ret[COPY_AMOUNT_MAX])
{
    ret[0] = '\0';
    if (!line->has_size || line->bytes_per_s == 0)
        return;
    uint64_t bytes = line->of_bytes > line->done_bytes ? line->of_bytes - line->done_bytes : 0;
    uint64_t s = bytes / line->bytes_per_s;
    if (s >= 360000)
        return;
    if (s >= 3600)
        snprintf(ret, COPY_AMOUNT_MAX, "%u:%02u:%02u", (unsigned)(s / 3600),
                 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    else
        snprintf(ret, COPY_AMOUNT_MAX, "%02u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

unsigned copy_line_layout(const struct copy_line *line, unsigned width,
                          char ret[COPY_LINE_MAX * 4])
{
    /* in the order in which they are left out, the last first; widths are fixed, so that
     * nothing jumps */
    char share[COPY_AMOUNT_MAX], left[COPY_AMOUNT_MAX],
        rate[COPY_AMOUNT_MAX + 2] = "", amount[COPY_AMOUNT_MAX] = "";

    struct {
        const char *text;
        unsigned width;
    } fields[] = {{share, line->has_size ? 4 : 8}, {left, 8}, {rate, 10}, {amount, 8}};

    unsigned count = line->has_size ? 4 : 3;
    width = width < COPY_LINE_MAX ? width : COPY_LINE_MAX;
    share_text(line, share);
    left_text(line, left);
    copy_amount_text(line->done_bytes, amount);
    if (line->bytes_per_s > 0) {
        copy_amount_text(line->bytes_per_s, rate);
        memcpy(rate + strlen(rate), "/s", 3);
    }
    char *at = ret;
    unsigned used = 0, shown = 0, least = NAME_LEAST;
    for (;
         shown < count && used + fields[shown].width + (shown > 0 ? 1 : 0) + least + 1 <= width;
         shown++, least = NAME_LEAST * 3)
        used += fields[shown].width + (shown > 0 ? 1 : 0);
    *at = '\0';
    if (shown == 0) { /* the share alone, or nothing */
        if (fields[0].width > width)
            return 0;
        return (unsigned)snprintf(ret, COPY_LINE_MAX, "%*s", (int)fields[0].width, share);
    }
    put_name(line->name, width - used - 1, &at);
    for (unsigned i = 0; i < shown; i++)
        put_field(fields[i].text, fields[i].width, &at);
    *at = '\0';
    return width;
}

/* -- the terminal -- */

void copy_progress_init(struct copy_progress *p, int fd)
{
    usec_t now = clock_now();
    *p = (struct copy_progress){.fd = fd, .began_at = now, .before_at = now};
}

/* A terminal that was stopped takes nothing: a picture less, not a wait. */
static bool takes_bytes(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    return sys_poll(&wanted, 1, 0) == 1 && (wanted.revents & POLLOUT) != 0;
}

/* To the beginning of what was drawn. A terminal that has become narrower has broken the lines
 * anew. */
static size_t put_clear(struct copy_progress *p, unsigned width, char *at, size_t max)
{
    unsigned up = 0;
    if (p->rows == 0)
        return 0;
    for (unsigned i = 0; i < p->rows; i++)
        up += p->columns[i] > width && width > 0 ? (p->columns[i] - 1) / width : 0;
    up += p->rows - 1;
    p->rows = 0;
    int n = up > 0 ? snprintf(at, max, "\r\033[%uA\033[J", up) : snprintf(at, max, "\r\033[J");
    return (size_t)n;
}

void copy_progress_clear(struct copy_progress *p)
{
    char text[32];
    size_t len = put_clear(p, sys_terminal_width(p->fd), text, sizeof(text));
    if (len > 0)
        (void)(sys_write(p->fd, text, len) < 0);
}

static uint64_t moved_by(const struct copy_file *f)
{
    return f->moved_bytes + atomic_load_explicit(&f->progress.file_bytes, memory_order_relaxed);
}

static void count_rate(struct copy_progress *p, uint64_t moved, usec_t now)
{
    usec_t took = now - p->before_at;
    if (took < USEC_PER_S)
        return;
    uint64_t bytes = moved > p->before_bytes ? moved - p->before_bytes : 0;
    uint64_t rate = (uint64_t)((double)bytes * (double)USEC_PER_S / (double)took);
    p->bytes_per_s = p->bytes_per_s == 0 ? rate : (p->bytes_per_s * 3 + rate) / 4;
    p->before_bytes = moved;
    p->before_at = now;
}

static void line_of_file(const struct copy_file *f, uint64_t bytes_per_s, struct copy_line *ret)
{
    const char *path = f->source_path != NULL ? f->source_path : f->target_path;
    const char *last = path != NULL ? strrchr(path, '/') : NULL;
    *ret = (struct copy_line){
        .name = bytes_str(last != NULL && last[1] != '\0' ? last + 1
                          : path != NULL                  ? path
                                                          : "-"),
        .done_bytes =
            f->began_at + atomic_load_explicit(&f->progress.file_bytes, memory_order_relaxed),
        .of_bytes = f->facts.size_bytes,
        .has_size = f->facts.has_size,
        .bytes_per_s = bytes_per_s};
}

#define RUNNING_MAX COPY_AT_ONCE_MAX

void copy_progress_draw(struct copy_progress *p, const struct copy *copy)
{
    static char text[2 * (COPY_LINE_MAX * 4) + 64]; /* one terminal, one thread */
    const struct copy_totals *totals = copy_totals(copy);
    const struct copy_file *running[RUNNING_MAX];
    unsigned count = copy_running(copy, running, RUNNING_MAX);
    uint64_t moved = totals->bytes, done = totals->bytes;
    usec_t now = clock_now();
    for (unsigned i = 0; i < count && i < RUNNING_MAX; i++) {
        moved += moved_by(running[i]);
        done += running[i]->began_at + atomic_load(&running[i]->progress.file_bytes);
    }
    count_rate(p, moved, now);
    if (now - p->began_at < COPY_PROGRESS_FIRST_US || count == 0 || !takes_bytes(p->fd))
        return;
    unsigned width = sys_terminal_width(p->fd);
    struct copy_line lines[2];
    unsigned rows = totals->found_files > 1 ? 2 : 1;
    char name[48];
    line_of_file(running[0], rows == 1 ? p->bytes_per_s : 0, &lines[0]);
    snprintf(name, sizeof(name), "%llu of %llu%s files", (unsigned long long)totals->files,
             (unsigned long long)totals->found_files, totals->has_found_all ? "" : "+");
    lines[1] = (struct copy_line){.name = bytes_str(name),
                                  .done_bytes = done,
                                  .of_bytes = totals->found_bytes,
                                  .has_size = totals->has_found_all,
                                  .bytes_per_s = p->bytes_per_s};
    size_t len = put_clear(p, width, text, sizeof(text));
    for (unsigned i = 0; i < rows; i++) {
        if (i > 0)
            text[len++] = '\n';
        /* not to the last column, where terminals differ */
        p->columns[i] = copy_line_layout(&lines[i], width > 0 ? width - 1 : 0, text + len);
        len += strlen(text + len);
    }
    p->rows = rows;
    p->was_drawn = true;
    (void)(sys_write(p->fd, text, len) < 0);
}
