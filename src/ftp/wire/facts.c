#include "ftp/wire/facts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/civil.h"
#include "base/text.h"
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

/* -- LIST and NLST -- */

#define MODE_TEXT_MAX 11

static void format_mode(const struct ftp_entry *e, char dst[MODE_TEXT_MAX])
{
    static const char letters[] = "rwxrwxrwx";

    dst[0] = kind_letters[e->kind];
    for (unsigned i = 0; i < 9; i++)
        dst[i + 1] = (e->mode & (0400u >> i)) ? letters[i] : '-';
    dst[MODE_TEXT_MAX - 1] = '\0';
}

#define LIST_TIME_MAX 16

static void format_list_time(int64_t mtime_us, int64_t now_us, char dst[LIST_TIME_MAX])
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct civil c;
    int64_t age_us;

    clock_utc(mtime_us, &c);
    const char *month = months + 3 * (size_t)(c.month - 1);
    bool is_recent = !__builtin_sub_overflow(now_us, mtime_us, &age_us) && age_us >= 0 &&
                     age_us <= HALF_YEAR_US;
    if (is_recent)
        snprintf(dst, LIST_TIME_MAX, "%.3s %2u %02u:%02u", month, c.day, c.hour, c.minute);
    else
        snprintf(dst, LIST_TIME_MAX, "%.3s %2u %5u", month, c.day, c.year);
}

static int append_list_line(struct buf *out, const struct ftp_entry *e, int64_t now_us)
{
    char mode[MODE_TEXT_MAX], time[LIST_TIME_MAX];

    format_mode(e, mode);
    format_list_time(e->mtime_us, now_us, time);
    int result = buf_printf(out, "%s %3" PRIu32 " ftp      ftp      %12" PRIu64 " %s ", mode,
                            e->links, e->size_bytes, time);
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

#define FACT_VALUE_MAX 48
#define FACTS_MAX      192

static bool type_value(const struct ftp_entry *e, char dst[FACT_VALUE_MAX])
{
    snprintf(dst, FACT_VALUE_MAX, "%s", kind_types[e->kind]);
    return true;
}

static bool size_value(const struct ftp_entry *e, char dst[FACT_VALUE_MAX])
{
    snprintf(dst, FACT_VALUE_MAX, "%" PRIu64, e->size_bytes);
    return e->kind == FTP_ENTRY_FILE;
}

static bool modify_value(const struct ftp_entry *e, char dst[FACT_VALUE_MAX])
{
    char text[FTP_TIMEVAL_TEXT_MAX];

    snprintf(dst, FACT_VALUE_MAX, "%.14s", ftp_timeval_format(e->mtime_us, text));
    return true;
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

static bool perm_value(const struct ftp_entry *e, char dst[FACT_VALUE_MAX])
{
    static const char letters[] = "acdeflmprw"; /* in the order of enum ftp_perm */
    size_t len = 0;

    for (unsigned i = 0; i < sizeof(letters) - 1; i++)
        if (e->perm & kind_perms[e->kind] & (1u << i))
            dst[len++] = letters[i];
    dst[len] = '\0';
    return true;
}

static bool unique_value(const struct ftp_entry *e, char dst[FACT_VALUE_MAX])
{
    snprintf(dst, FACT_VALUE_MAX, "%" PRIx64 "g%" PRIx64, e->device, e->inode);
    return true;
}

static bool unix_mode_value(const struct ftp_entry *e, char dst[FACT_VALUE_MAX])
{
    snprintf(dst, FACT_VALUE_MAX, "%04o", e->mode & 07777u);
    return true;
}

/* A value is false if the entry has none. */
static const struct fact {
    enum ftp_fact bit;
    const char *name;
    bool (*value)(const struct ftp_entry *, char dst[FACT_VALUE_MAX]);
} facts[] = {
    {FTP_FACT_TYPE, "type", type_value},
    {FTP_FACT_SIZE, "size", size_value},
    {FTP_FACT_MODIFY, "modify", modify_value},
    {FTP_FACT_PERM, "perm", perm_value},
    {FTP_FACT_UNIQUE, "unique", unique_value},
    {FTP_FACT_UNIX_MODE, "UNIX.mode", unix_mode_value},
};

/* "name=value;" of each selected fact. FACTS_MAX holds the longest of all together. */
static const char *format_facts(const struct ftp_entry *e, unsigned selected,
                                char dst[FACTS_MAX])
{
    size_t len = 0;

    dst[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        char value[FACT_VALUE_MAX];
        if (!(selected & facts[i].bit) || !facts[i].value(e, value))
            continue;
        len += (size_t)snprintf(dst + len, FACTS_MAX - len, "%s=%s;", facts[i].name, value);
    }
    return dst;
}

int ftp_mlsd_line(struct buf *out, const struct ftp_entry *e, unsigned selected)
{
    char text[FACTS_MAX];
    size_t before = out->len;
    int result = buf_printf(out, "%s ", format_facts(e, selected, text));

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

    return ftp_reply_line(out, " %s %.*s", format_facts(e, selected, text), (int)e->name.len,
                          (const char *)e->name.data);
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
