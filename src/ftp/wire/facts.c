#include "ftp/wire/facts.h"

#include <stdio.h>

#include "base/civil.h"
#include "base/text.h"
#include "ftp/wire/digits.h"
#include "ftp/wire/reply.h"
#include "ftp/wire/timeval.h"

#define US_PER_S     INT64_C(1000000)
#define HALF_YEAR_US (182 * INT64_C(86400) * US_PER_S)

static const char kind_letters[] = {
    [FTP_ENTRY_FILE] = '-',  [FTP_ENTRY_DIRECTORY] = 'd', [FTP_ENTRY_LINK] = 'l',
    [FTP_ENTRY_OTHER] = 'p', [FTP_ENTRY_SELF] = 'd',      [FTP_ENTRY_PARENT] = 'd',
};

static const char *const kind_types[] = {
    [FTP_ENTRY_FILE] = "file",          [FTP_ENTRY_DIRECTORY] = "dir",
    [FTP_ENTRY_LINK] = "OS.unix=slink", [FTP_ENTRY_OTHER] = "OS.unix=special",
    [FTP_ENTRY_SELF] = "cdir",          [FTP_ENTRY_PARENT] = "pdir",
};

static int append_printable(struct buf *out, struct bytes s)
{
    int result = buf_reserve(out, s.len + 1); /* text_copy_printable() ends it with a NUL */

    if (result >= 0)
        buf_added(out, text_copy_printable((char *)out->data + out->len, s.len + 1, s));
    return result;
}

static char *put_text(char *at, const char *s)
{
    size_t len = strlen(s);
    memcpy(at, s, len);
    return at + len;
}

/* -- LIST and NLST -- */

#define LIST_HEAD_MAX                                                                          \
    80 /* "-rw-r--r-- 4294967295 ftp ftp 18446744073709551615 Jan  2 15:04 " */

static char *put_mode(char *at, const struct ftp_entry *e)
{
    static const char letters[] = "rwxrwxrwx";

    *at++ = kind_letters[e->kind];
    for (unsigned i = 0; i < 9; i++)
        *at++ = (e->mode & (0400u >> i)) ? letters[i] : '-';
    return at;
}

static char *put_list_time(char *at, int64_t mtime_us, int64_t now_us)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct civil c;
    int64_t age_us;

    clock_utc(mtime_us, &c);
    memcpy(at, months + 3 * (size_t)(c.month - 1), 3);
    at[3] = ' ';
    at = digits_put(at + 4, c.day, 2, ' ');
    *at++ = ' ';
    bool is_recent = !__builtin_sub_overflow(now_us, mtime_us, &age_us) && age_us >= 0 &&
                     age_us <= HALF_YEAR_US;
    if (!is_recent)
        return digits_put(at, c.year, 5, ' ');
    at = digits_put_two(at, c.hour);
    *at++ = ':';
    return digits_put_two(at, c.minute);
}

/* All before the name. */
static int append_list_head(struct buf *out, const struct ftp_entry *e, int64_t now_us)
{
    char head[LIST_HEAD_MAX];
    char *at = put_mode(head, e);
    *at++ = ' ';
    at = digits_put(at, e->links, 3, ' ');
    at = put_text(at, " ftp      ftp      ");
    at = digits_put(at, e->size_bytes, 12, ' ');
    *at++ = ' ';
    at = put_list_time(at, e->mtime_us, now_us);
    *at++ = ' ';
    return buf_append(out, head, (size_t)(at - head));
}

static int append_list_line(struct buf *out, const struct ftp_entry *e, int64_t now_us)
{
    int result = append_list_head(out, e, now_us);

    if (result >= 0)
        result = append_printable(out, e->name);
    if (result >= 0 && e->kind == FTP_ENTRY_LINK && e->link_target.len > 0) {
        result = buf_append_str(out, " -> ");
        if (result >= 0)
            result = append_printable(out, e->link_target);
    }
    return result < 0 ? result : buf_append_str(out, "\r\n");
}

int ftp_list_line(struct buf *out, const struct ftp_entry *e, int64_t now_us)
{
    size_t before = out->len;
    int result = append_list_line(out, e, now_us);

    if (result < 0)
        out->len = before;
    return result;
}

int ftp_nlst_line(struct buf *out, struct bytes prefix, struct bytes name)
{
    size_t before = out->len;
    int result = append_printable(out, prefix);

    if (result >= 0)
        result = append_printable(out, name);
    if (result >= 0)
        result = buf_append_str(out, "\r\n");
    if (result < 0)
        out->len = before;
    return result;
}

/* -- facts -- */

#define FACTS_MAX 192 /* the longest of all together has 141 */

static char *put_type(char *at, const struct ftp_entry *e)
{
    return put_text(at, kind_types[e->kind]);
}

static char *put_size(char *at, const struct ftp_entry *e)
{
    return e->kind == FTP_ENTRY_FILE ? digits_put(at, e->size_bytes, 1, '0') : NULL;
}

static char *put_modify(char *at, const struct ftp_entry *e)
{
    return ftp_timeval_put_seconds(at, e->mtime_us);
}

#define PERM_FILE                                                                              \
    (FTP_PERM_APPEND | FTP_PERM_DELETE | FTP_PERM_RENAME | FTP_PERM_READ | FTP_PERM_WRITE)
#define PERM_DIRECTORY                                                                         \
    (FTP_PERM_CREATE | FTP_PERM_DELETE | FTP_PERM_ENTER | FTP_PERM_RENAME | FTP_PERM_LIST |    \
     FTP_PERM_MKDIR | FTP_PERM_PURGE)

static const unsigned kind_perms[] = {
    [FTP_ENTRY_FILE] = PERM_FILE,
    [FTP_ENTRY_DIRECTORY] = PERM_DIRECTORY,
    [FTP_ENTRY_LINK] = PERM_FILE | PERM_DIRECTORY, /* what it leads to is not known here */
    [FTP_ENTRY_OTHER] = FTP_PERM_DELETE | FTP_PERM_RENAME,
    [FTP_ENTRY_SELF] = PERM_DIRECTORY,
    [FTP_ENTRY_PARENT] = PERM_DIRECTORY,
};

static char *put_perm(char *at, const struct ftp_entry *e)
{
    static const char letters[] = "acdeflmprw"; /* in the order of enum ftp_perm */

    for (unsigned i = 0; i < sizeof(letters) - 1; i++)
        if (e->perm & kind_perms[e->kind] & (1u << i))
            *at++ = letters[i];
    return at;
}

static char *put_unique(char *at, const struct ftp_entry *e)
{
    at = digits_put_bits(at, e->device, 4, 1);
    *at++ = 'g';
    return digits_put_bits(at, e->inode, 4, 1);
}

static char *put_unix_mode(char *at, const struct ftp_entry *e)
{
    return digits_put_bits(at, e->mode & 07777u, 3, 4);
}

/* A value is put at `at`, and where it ends is returned; NULL: the entry has none. */
static const struct fact {
    enum ftp_fact bit;
    const char *name;
    char *(*put_value)(char *at, const struct ftp_entry *);
} facts[] = {
    {FTP_FACT_TYPE, "type", put_type},       {FTP_FACT_SIZE, "size", put_size},
    {FTP_FACT_MODIFY, "modify", put_modify}, {FTP_FACT_PERM, "perm", put_perm},
    {FTP_FACT_UNIQUE, "unique", put_unique}, {FTP_FACT_UNIX_MODE, "UNIX.mode", put_unix_mode},
};

/* "name=value;" of each selected fact, at most FACTS_MAX bytes. Returns where they end. */
static char *put_facts(char *at, const struct ftp_entry *e, unsigned selected)
{
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (!(selected & facts[i].bit))
            continue;
        char *value = put_text(at, facts[i].name);
        *value++ = '=';
        char *end = facts[i].put_value(value, e);
        if (end == NULL)
            continue;
        *end++ = ';';
        at = end;
    }
    return at;
}

static int append_facts(struct buf *out, const struct ftp_entry *e, unsigned selected)
{
    char text[FACTS_MAX];
    char *at = put_facts(text, e, selected);
    *at++ = ' ';
    return buf_append(out, text, (size_t)(at - text));
}

int ftp_mlsd_line(struct buf *out, const struct ftp_entry *e, unsigned selected)
{
    size_t before = out->len;
    int result = append_facts(out, e, selected);

    if (result >= 0)
        result = append_printable(out, e->name);
    if (result >= 0)
        result = buf_append_str(out, "\r\n");
    if (result < 0)
        out->len = before;
    return result;
}

int ftp_mlst_line(struct buf *out, const struct ftp_entry *e, unsigned selected)
{
    char text[FACTS_MAX];

    *put_facts(text, e, selected) = '\0';
    return ftp_reply_line(out, " %s %.*s", text, (int)e->name.len, (const char *)e->name.data);
}

unsigned ftp_facts_parse(struct bytes list)
{
    unsigned selected = 0;

    while (list.len > 0) {
        size_t len;
        if (!bytes_find(list, ';', &len))
            len = list.len;
        for (size_t i = 0; i < ARRAY_LEN(facts); i++)
            if (bytes_equal_nocase(bytes_first(list, len), bytes_str(facts[i].name)))
                selected |= facts[i].bit;
        list = bytes_skip(list, len + 1);
    }
    return selected;
}

static const char *format_names(unsigned shown, unsigned starred, char dst[FTP_FACTS_TEXT_MAX])
{
    size_t len = 0;

    dst[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (shown & facts[i].bit)
            len += (size_t)snprintf(dst + len, FTP_FACTS_TEXT_MAX - len, "%s%s;", facts[i].name,
                                    starred & facts[i].bit ? "*" : "");
    return dst;
}

const char *ftp_facts_format(unsigned selected, char dst[FTP_FACTS_TEXT_MAX])
{
    return format_names(selected, 0, dst);
}

const char *ftp_facts_feature(unsigned selected, char dst[FTP_FACTS_TEXT_MAX])
{
    return format_names(FTP_FACTS_ALL, selected, dst);
}
