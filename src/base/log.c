#include "base/log.h"

#include <stdatomic.h>

#include "base/civil.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

/* What ends a line is kept free while the record grows, so that a cut line is still whole. */
#define TAIL_MAX (sizeof(",\"cut\":true}\n") - 1)
#define BODY_MAX (LOG_LINE_MAX - TAIL_MAX)

static const char *const level_names[LOG_LEVEL_COUNT] = {
    [LOG_ERROR] = "error",
    [LOG_WARNING] = "warning",
    [LOG_INFO] = "info",
    [LOG_DEBUG] = "debug",
};

/* Set at start and on reload, read by every thread. */
static void (*_Atomic the_sink)(const char *line, size_t len);
static _Atomic int the_format;
static _Atomic int the_max_level;

void log_setup(enum log_format format, enum log_level max, void (*sink)(const char *, size_t))
{
    atomic_store(&the_format, (int)format);
    atomic_store(&the_max_level, (int)max);
    atomic_store(&the_sink, sink);
}

/* -- the line: all or nothing is put, and the first thing that does not fit marks the record --
 */

static bool put(struct log_record *r, const char *data, size_t len)
{
    if (len > BODY_MAX - r->len) {
        r->cut = true;
        return false;
    }
    memcpy(r->line + r->len, data, len);
    r->len = (uint16_t)(r->len + len);
    return true;
}

static bool put_str(struct log_record *r, const char *s)
{
    return put(r, s, strlen(s));
}

static bool put_key(struct log_record *r, const char *key)
{
    if (r->format == LOG_JSON)
        return put_str(r, ",\"") && put_str(r, key) && put_str(r, "\":");
    return put_str(r, " ") && put_str(r, key) && put_str(r, "=");
}

/* A value without quotes: a number, or a word of ours. */
static void put_plain(struct log_record *r, const char *key, const char *value)
{
    uint16_t start = r->len;
    if (!put_key(r, key) || !put_str(r, value))
        r->len = start;
}

/* How many bytes at the start stand for themselves. */
static size_t plain_len(struct bytes s)
{
    size_t len = 0;
    while (len < s.len && s.data[len] >= 0x20 && s.data[len] < 0x7f && s.data[len] != '"' &&
           s.data[len] != '\\')
        len++;
    return len;
}

/* Quoted and escaped in both formats, with room for the last quote at each step. */
static void put_quoted(struct log_record *r, const char *key, struct bytes s)
{
    uint16_t start = r->len;
    if (!put_key(r, key) || !put_str(r, "\"\"")) {
        r->len = start;
        return;
    }
    r->len--;
    uint16_t limit = BODY_MAX - 1;
    if (limit - r->len > LOG_VALUE_MAX)
        limit = (uint16_t)(r->len + LOG_VALUE_MAX);
    while (s.len != 0) {
        size_t plain = plain_len(bytes_first(s, (size_t)(limit - r->len)));
        (void)put(r, (const char *)s.data, plain);
        s = bytes_skip(s, plain);
        if (s.len == 0)
            break;
        char escaped[TEXT_JSON_CHAR_MAX];
        size_t used;
        size_t len = text_json_char(s, escaped, &used);
        if (len > (size_t)(limit - r->len)) {
            r->cut = true;
            break;
        }
        (void)put(r, escaped, len);
        s = bytes_skip(s, used);
    }
    (void)put_str(r, "\"");
}

/* At least `width` digits. Not printf(): numbers are most of what a record costs. */
static char *write_digits(char *to, uint64_t n, unsigned width)
{
    unsigned count = 1;
    for (uint64_t rest = n / 10; rest != 0; rest /= 10)
        count++;
    if (count < width)
        count = width;
    for (unsigned i = count; i-- > 0; n /= 10)
        to[i] = (char)('0' + n % 10);
    return to + count;
}

static void put_head(struct log_record *r, enum log_level level, const char *event)
{
    struct civil t;
    clock_utc(clock_wall_us(), &t);
    bool is_json = r->format == LOG_JSON;
    char stamp[40], *at = stamp;

    const struct {
        unsigned n, width;
        char after;
    } parts[] = {{t.year, 4, '-'},     {t.month, 2, '-'},  {t.day, 2, 'T'},
                 {t.hour, 2, ':'},     {t.minute, 2, ':'}, {t.second, 2, is_json ? '.' : 'Z'},
                 {t.us / 1000, 3, 'Z'}};

    for (unsigned i = 0; i < (is_json ? 7 : 6); i++) {
        at = write_digits(at, parts[i].n, parts[i].width);
        *at++ = parts[i].after;
    }
    if (is_json)
        (void)put_str(r, "{\"ts\":\"");
    (void)put(r, stamp, (size_t)(at - stamp));
    (void)put_str(r, is_json ? "\",\"level\":\"" : " ");
    (void)put_str(r, level_names[level]);
    if (is_json) {
        (void)put_str(r, "\"");
        put_quoted(r, "event", bytes_str(event));
        return;
    }
    (void)put_str(r, " ");
    (void)put_str(r, event);
}

/* -- records -- */

void log_begin_as(struct log_record *r, enum log_format format, enum log_level level,
                  const char *event)
{
    r->len = 0;
    r->format = (uint8_t)format;
    r->wanted = true;
    r->cut = false;
    put_head(r, level, event);
}

void log_begin(struct log_record *r, enum log_level level, const char *event)
{
    /* An unwanted record costs two loads: debug records stand on hot paths. */
    r->wanted = (int)level <= atomic_load(&the_max_level) && atomic_load(&the_sink) != NULL;
    if (r->wanted)
        log_begin_as(r, (enum log_format)atomic_load(&the_format), level, event);
}

void log_str(struct log_record *r, const char *key, struct bytes s)
{
    if (r->wanted)
        put_quoted(r, key, s);
}

void log_text(struct log_record *r, const char *key, const char *s)
{
    if (r->wanted && s != NULL)
        put_quoted(r, key, bytes_str(s));
}

void log_u64(struct log_record *r, const char *key, uint64_t n)
{
    if (!r->wanted)
        return;
    char digits[24];
    *write_digits(digits, n, 1) = '\0';
    put_plain(r, key, digits);
}

void log_us(struct log_record *r, const char *key, uint64_t us)
{
    if (!r->wanted)
        return;
    char digits[32], *at = write_digits(digits, us / USEC_PER_S, 1);
    *at++ = '.';
    *write_digits(at, us / 1000 % 1000, 3) = '\0';
    put_plain(r, key, digits);
}

void log_err(struct log_record *r, int result)
{
    log_text(r, "error", err_name(result));
    log_text(r, "reason", err_text(result));
}

struct bytes log_finish(struct log_record *r)
{
    if (!r->wanted)
        return BYTES_NONE;
    const char *tail = "\n";
    if (r->format == LOG_JSON)
        tail = r->cut ? ",\"cut\":true}\n" : "}\n";
    else if (r->cut)
        tail = " cut=true\n";
    size_t len = strlen(tail);
    memcpy(r->line + r->len, tail, len);
    r->len = (uint16_t)(r->len + len);
    return bytes_of(r->line, r->len);
}

void log_end(struct log_record *r)
{
    struct bytes line = log_finish(r);
    void (*sink)(const char *, size_t) = atomic_load(&the_sink);
    if (line.len != 0 && sink != NULL)
        sink((const char *)line.data, line.len);
}

void log_event(enum log_level level, const char *event, const char *key, const char *value)
{
    struct log_record r;
    log_begin(&r, level, event);
    log_text(&r, key, value);
    log_end(&r);
}
