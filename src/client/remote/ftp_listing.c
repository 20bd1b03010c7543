#include "client/remote/ftp_listing.h"

#include <errno.h>

#include "base/civil.h"
#include "base/err.h"
#include "base/text.h"
#include "ftp/wire/timeval.h"

/* Kinds that are the directory itself, or lead up. */
#define SKIPPED_KIND (-1)

/* -- MLSD -- */

static int kind_of_type(struct bytes value)
{
    static const struct {
        const char *name;
        int kind;
    } types[] = {
        {"file", ENDPOINT_FILE},
        {"dir", ENDPOINT_DIRECTORY},
        {"cdir", SKIPPED_KIND},
        {"pdir", SKIPPED_KIND},
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (bytes_equal_nocase(value, bytes_str(types[i].name)))
            return types[i].kind;
    static const struct bytes link = BYTES_LIT("OS.unix=slink");
    static const struct bytes sym = BYTES_LIT("OS.unix=symlink");
    if (bytes_equal_nocase(bytes_first(value, link.len), link) ||
        bytes_equal_nocase(bytes_first(value, sym.len), sym))
        return ENDPOINT_LINK;
    return ENDPOINT_OTHER;
}

static void take_fact(struct bytes name, struct bytes value, int *kind,
                      struct endpoint_facts *facts)
{
    uint64_t n;
    if (bytes_equal_nocase(name, BYTES_LIT("type"))) {
        *kind = kind_of_type(value);
    } else if (bytes_equal_nocase(name, BYTES_LIT("size"))) {
        facts->has_size = text_u64(value, 10, INT64_MAX, &facts->size_bytes) == 0;
    } else if (bytes_equal_nocase(name, BYTES_LIT("modify"))) {
        facts->has_times = ftp_timeval_parse(value, &facts->mtime_us) == 0;
        facts->atime_us = facts->mtime_us;
    } else if (bytes_equal_nocase(name, BYTES_LIT("UNIX.mode"))) {
        facts->has_mode = text_u64(value, 8, 07777, &n) == 0;
        facts->mode = facts->has_mode ? (uint32_t)n : 0;
    }
}

static struct bytes without_end(struct bytes line)
{
    while (line.len > 0 && (line.data[line.len - 1] == '\r' || line.data[line.len - 1] == '\n'))
        line.len--;
    return line;
}

int ftp_listed_facts(struct bytes line, struct bytes *ret_name, struct endpoint_facts *ret)
{
    int kind = ENDPOINT_UNKNOWN;
    size_t space, equals;
    line = without_end(line);
    if (!bytes_find(line, ' ', &space))
        return -FERRY_EPROTO;
    struct bytes facts = bytes_first(line, space);
    *ret = (struct endpoint_facts){.kind = ENDPOINT_UNKNOWN};
    while (facts.len > 0) {
        struct bytes fact = bytes_take_until(&facts, ';');
        if (!bytes_find(fact, '=', &equals))
            return -FERRY_EPROTO;
        take_fact(bytes_first(fact, equals), bytes_skip(fact, equals + 1), &kind, ret);
    }
    *ret_name = bytes_skip(line, space + 1);
    if (kind == SKIPPED_KIND)
        return 0;
    ret->kind = (enum endpoint_kind)kind;
    return ret_name->len > 0 ? 1 : -FERRY_EPROTO;
}

/* -- LIST -- */

static struct bytes next_word(struct bytes *rest)
{
    size_t end = 0;
    while (rest->len > 0 && (rest->data[0] == ' ' || rest->data[0] == '\t'))
        *rest = bytes_skip(*rest, 1);
    while (end < rest->len && rest->data[end] != ' ' && rest->data[end] != '\t')
        end++;
    struct bytes word = bytes_first(*rest, end);
    *rest = bytes_skip(*rest, end);
    return word;
}

/* "drwxr-xr-x", with perhaps a '+' or '.' behind it. */
static int take_mode(struct bytes word, struct endpoint_facts *ret)
{
    static const char letters[] = "rwxrwxrwx";
    if (word.len < 10)
        return -FERRY_EPROTO;
    switch (word.data[0]) {
    case '-':
        ret->kind = ENDPOINT_FILE;
        break;
    case 'd':
        ret->kind = ENDPOINT_DIRECTORY;
        break;
    case 'l':
        ret->kind = ENDPOINT_LINK;
        break;
    default:
        if (memchr("bcps", word.data[0], 4) == NULL)
            return -FERRY_EPROTO;
        ret->kind = ENDPOINT_OTHER;
        break;
    }
    for (unsigned i = 0; i < 9; i++) {
        char c = (char)word.data[i + 1];
        bool is_special = i % 3 == 2 && memchr("sStTlL", c, 6) != NULL;
        if (c != letters[i] && c != '-' && !is_special)
            return -FERRY_EPROTO;
        bool is_set = c == letters[i] || c == 's' || c == 't';
        ret->mode = ret->mode << 1 | is_set;
    }
    ret->has_mode = true;
    return 0;
}

static int month_of(struct bytes word)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (unsigned i = 0; word.len == 3 && i < 12; i++)
        if (bytes_equal_nocase(word, bytes_of(names + (size_t)3 * i, 3)))
            return (int)i + 1;
    return -FERRY_EPROTO;
}

/* "05:06", of this year or the last; or a year. */
static int take_year(struct bytes word, int64_t now_us, struct civil *c, int64_t *ret_us)
{
    struct civil now;
    uint64_t n;
    size_t colon;
    if (!bytes_find(word, ':', &colon)) {
        if (word.len != 4 || text_u64(word, 10, 9999, &n) < 0)
            return -FERRY_EPROTO;
        c->year = (unsigned)n;
        return clock_from_utc(c, ret_us) < 0 ? -FERRY_EPROTO : 0;
    }
    if (text_u64(bytes_first(word, colon), 10, 23, &n) < 0)
        return -FERRY_EPROTO;
    c->hour = (unsigned)n;
    if (text_u64(bytes_skip(word, colon + 1), 10, 59, &n) < 0)
        return -FERRY_EPROTO;
    c->minute = (unsigned)n;
    clock_utc(now_us, &now);
    c->year = now.year;
    /* a day for servers whose clock is another zone's */
    bool is_date = clock_from_utc(c, ret_us) == 0;
    if (is_date && *ret_us <= now_us + INT64_C(86400000000))
        return 0;
    c->year--;
    return clock_from_utc(c, ret_us) < 0 ? -FERRY_EPROTO : 0;
}

/* The words from the size on, of which the month is known; *rest is behind the month. */
static int take_from_size(struct bytes size, int month, struct bytes *rest, int64_t now_us,
                          struct endpoint_facts *ret)
{
    struct civil c = {.month = (unsigned)month};
    uint64_t day;
    if (text_u64(size, 10, INT64_MAX, &ret->size_bytes) < 0 ||
        text_u64(next_word(rest), 10, 31, &day) < 0)
        return -FERRY_EPROTO;
    c.day = (unsigned)day;
    int r = take_year(next_word(rest), now_us, &c, &ret->mtime_us);
    if (r < 0)
        return r;
    ret->has_size = ret->has_times = true;
    ret->atime_us = ret->mtime_us;
    return 0;
}

/* The words before the size are links, owner and group, of which some servers leave one out,
 * and which may look like a month. */
static int take_size_and_date(struct bytes *rest, int64_t now_us, struct endpoint_facts *ret)
{
    struct bytes size, word = BYTES_NONE;
    for (unsigned i = 0; i < 6; i++) {
        size = word;
        word = next_word(rest);
        int month = month_of(word);
        struct bytes behind = *rest;
        if (month > 0 && take_from_size(size, month, &behind, now_us, ret) == 0) {
            *rest = behind;
            return 0;
        }
    }
    return -FERRY_EPROTO;
}

static bool find_text(struct bytes s, struct bytes what, size_t *ret_at)
{
    for (size_t i = 0; i + what.len <= s.len; i++)
        if (memcmp(s.data + i, what.data, what.len) == 0) {
            *ret_at = i;
            return true;
        }
    return false;
}

int ftp_listed_line(struct bytes line, int64_t now_us, struct bytes *ret_name,
                    struct endpoint_facts *ret)
{
    struct bytes rest = without_end(line);
    size_t at;
    *ret = (struct endpoint_facts){.kind = ENDPOINT_UNKNOWN};
    struct bytes first = next_word(&rest);
    if (first.len == 0 || bytes_equal_nocase(first, BYTES_LIT("total")))
        return 0;
    int r = take_mode(first, ret);
    if (r == 0)
        r = take_size_and_date(&rest, now_us, ret);
    if (r < 0)
        return r;
    struct bytes name = bytes_skip(rest, 1); /* one blank: more belong to the name */
    if (ret->kind == ENDPOINT_LINK && find_text(name, BYTES_LIT(" -> "), &at))
        name = bytes_first(name, at);
    if (name.len == 0)
        return -FERRY_EPROTO;
    if (bytes_equal(name, BYTES_LIT(".")) || bytes_equal(name, BYTES_LIT("..")))
        return 0;
    *ret_name = name;
    return 1;
}
