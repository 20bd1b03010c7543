#include "ftp/wire/facts.h"

#include <stdio.h>

#include "base/err.h"
#include "check.h"

#define S   INT64_C(1000000)
#define NOW (1767366245 * S) /* 2026-01-02 15:04:05 */
#define DAY (86400 * S)

static const struct ftp_entry file = {
    .name = {(const uint8_t *)"a b", 3},
    .kind = FTP_ENTRY_FILE,
    .mode = 0644,
    .links = 1,
    .size_bytes = 1234,
    .inode = 0x1a2b,
    .device = 0xfd01,
    .mtime_us = NOW - 60 * S,
    .perm = 0x3ff,
};

static void expect_text(struct buf *b, const char *text)
{
    if (b->len != strlen(text) || memcmp(b->data, text, b->len) != 0)
        fail_msg("\"%.*s\" is not \"%s\"", (int)b->len, (const char *)b->data, text);
    buf_clear(b);
}

static void list_looks_like_ls(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    struct ftp_entry e = file;
    assert_int_equal(ftp_list_line(&b, &e, NOW), 0);
    expect_text(&b, "-rw-r--r--   1 ftp      ftp              1234 Jan  2 15:03 a b\r\n");
    e.kind = FTP_ENTRY_DIRECTORY;
    e.mode = 07755; /* setuid and the like are not shown */
    e.links = 12;
    assert_int_equal(ftp_list_line(&b, &e, NOW), 0);
    expect_text(&b, "drwxr-xr-x  12 ftp      ftp              1234 Jan  2 15:03 a b\r\n");
    e.kind = FTP_ENTRY_LINK;
    e.mode = 0777;
    e.link_target = BYTES_LIT("../x\r\ny");
    assert_int_equal(ftp_list_line(&b, &e, NOW), 0);
    expect_text(&b, "lrwxrwxrwx  12 ftp      ftp              1234 Jan  2 15:03 a b -> "
                    "../x??y\r\n");
    e.kind = FTP_ENTRY_OTHER;
    e.mode = 0;
    e.links = UINT32_MAX;
    e.size_bytes = UINT64_MAX;
    assert_int_equal(ftp_list_line(&b, &e, NOW), 0);
    expect_text(&b, "p--------- 4294967295 ftp      ftp      18446744073709551615 Jan  2 15:03 "
                    "a b\r\n");
    buf_done(&b);
}

static void list_shows_the_year_of_what_is_old_or_of_the_future(void **state)
{
    (void)state;

    static const struct {
        int64_t mtime_us, now_us;
        const char *shown;
    } rows[] = {
        {NOW, NOW, "Jan  2 15:04"},
        {NOW + 1, NOW, "Jan  2  2026"},
        {NOW - 182 * DAY, NOW, "Jul  4 15:04"},
        {NOW - 182 * DAY - 1, NOW, "Jul  4  2025"},
        {0, NOW, "Jan  1  1970"},
        {-1, NOW, "Dec 31  1969"},
        {INT64_MIN, NOW, "Jan  1     1"},
        {INT64_MAX, NOW, "Dec 31  9999"},
        {INT64_MIN, INT64_MAX, "Jan  1     1"},
        {INT64_MAX, INT64_MIN, "Dec 31  9999"},
    };
    struct buf b;
    buf_init(&b, 1024);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_entry e = file;
        char line[128];
        e.mtime_us = rows[i].mtime_us;
        snprintf(line, sizeof(line), "-rw-r--r--   1 ftp      ftp              1234 %s a b\r\n",
                 rows[i].shown);
        assert_int_equal(ftp_list_line(&b, &e, rows[i].now_us), 0);
        expect_text(&b, line);
    }
    buf_done(&b);
}

static void names_keep_their_bytes_but_no_controls(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    struct ftp_entry e = file;
    e.name = BYTES_LIT("a\r\nb\0\x1b\x7f\xc3\xa9\xff ");
    assert_int_equal(ftp_nlst_line(&b, BYTES_LIT("d\n/"), e.name), 0);
    expect_text(&b, "d?/a??b???\xc3\xa9\xff \r\n");
    assert_int_equal(ftp_nlst_line(&b, BYTES_NONE, BYTES_NONE), 0);
    expect_text(&b, "\r\n");
    assert_int_equal(ftp_mlsd_line(&b, &e, 0), 0);
    expect_text(&b, " a??b???\xc3\xa9\xff \r\n");
    e.name = BYTES_LIT("1\r\nb\xff");
    assert_int_equal(ftp_mlst_line(&b, &e, 0), 0);
    expect_text(&b, "  1??b\xff\xff\r\n");
    buf_done(&b);
}

static void facts_are_those_selected(void **state)
{
    (void)state;

    static const struct {
        unsigned selected;
        const char *line;
    } rows[] = {
        {0, " a b\r\n"},
        {FTP_FACT_TYPE, "type=file; a b\r\n"},
        {FTP_FACT_SIZE | FTP_FACT_MODIFY, "size=1234;modify=20260102150305; a b\r\n"},
        {FTP_FACTS_ALL, "type=file;size=1234;modify=20260102150305;perm=adfrw;"
                        "unique=fd01g1a2b;UNIX.mode=0644; a b\r\n"},
        {~FTP_FACTS_ALL, " a b\r\n"},
    };
    struct buf b;
    buf_init(&b, 1024);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ftp_mlsd_line(&b, &file, rows[i].selected), 0);
        expect_text(&b, rows[i].line);
    }
    assert_int_equal(ftp_mlst_line(&b, &file, FTP_FACT_TYPE), 0);
    expect_text(&b, " type=file; a b\r\n");
    buf_done(&b);
}

static void facts_fit_the_kind(void **state)
{
    (void)state;

    static const struct {
        enum ftp_entry_kind kind;
        const char *facts;
    } rows[] = {
        {FTP_ENTRY_FILE, "type=file;size=1234;perm=adfrw; a b\r\n"},
        {FTP_ENTRY_DIRECTORY, "type=dir;perm=cdeflmp; a b\r\n"},
        {FTP_ENTRY_SELF, "type=cdir;perm=cdeflmp; a b\r\n"},
        {FTP_ENTRY_PARENT, "type=pdir;perm=cdeflmp; a b\r\n"},
        {FTP_ENTRY_LINK, "type=OS.unix=slink;perm=acdeflmprw; a b\r\n"},
        {FTP_ENTRY_OTHER, "type=OS.unix=special;perm=df; a b\r\n"},
    };
    struct buf b;
    buf_init(&b, 1024);
    struct ftp_entry e = file;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        e.kind = rows[i].kind;
        assert_int_equal(ftp_mlsd_line(&b, &e, FTP_FACT_TYPE | FTP_FACT_SIZE | FTP_FACT_PERM),
                         0);
        expect_text(&b, rows[i].facts);
    }
    e.perm = 0;
    assert_int_equal(ftp_mlsd_line(&b, &e, FTP_FACT_PERM), 0);
    expect_text(&b, "perm=; a b\r\n");
    buf_done(&b);
}

static void the_largest_and_the_smallest_facts_fit(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    struct ftp_entry e = file;
    e.size_bytes = e.inode = e.device = UINT64_MAX;
    e.mode = UINT32_MAX;
    e.mtime_us = INT64_MAX;
    assert_int_equal(ftp_mlsd_line(&b, &e, FTP_FACTS_ALL), 0);
    expect_text(&b, "type=file;size=18446744073709551615;modify=99991231235959;perm=adfrw;"
                    "unique=ffffffffffffffffgffffffffffffffff;UNIX.mode=7777; a b\r\n");
    e.size_bytes = e.inode = e.device = 0;
    e.mode = 0;
    e.mtime_us = INT64_MIN;
    assert_int_equal(ftp_mlsd_line(&b, &e, FTP_FACTS_ALL), 0);
    expect_text(&b, "type=file;size=0;modify=00010101000000;perm=adfrw;unique=0g0;"
                    "UNIX.mode=0000; a b\r\n");
    buf_done(&b);
}

#define WAYS 4

static int append(struct buf *b, const struct ftp_entry *e, unsigned way)
{
    switch (way) {
    case 0:
        return ftp_list_line(b, e, NOW);
    case 1:
        return ftp_nlst_line(b, BYTES_LIT("dir/"), e->name);
    case 2:
        return ftp_mlsd_line(b, e, FTP_FACTS_ALL);
    default:
        return ftp_mlst_line(b, e, FTP_FACTS_ALL);
    }
}

static void a_full_buffer_stays_as_it_is(void **state)
{
    (void)state;
    struct ftp_entry e = file;
    e.kind = FTP_ENTRY_LINK;
    e.link_target = BYTES_LIT("target");
    for (unsigned way = 0; way < WAYS; way++) {
        struct buf b;
        buf_init(&b, 1024);
        assert_int_equal(append(&b, &e, way), 0);
        size_t len = b.len;
        buf_done(&b);
        for (size_t cap = 0; cap <= len; cap++) {
            buf_init(&b, cap);
            assert_int_equal(append(&b, &e, way), cap < len ? -FERRY_ELIMIT : 0);
            assert_int_equal(b.len, cap < len ? 0 : len);
            buf_done(&b);
        }
    }
}

static void opts_mlst_selects_known_facts(void **state)
{
    (void)state;

    static const struct {
        const char *list;
        unsigned selected;
    } rows[] = {
        {"", 0},
        {";", 0},
        {";;;", 0},
        {"type;", FTP_FACT_TYPE},
        {"type", FTP_FACT_TYPE},
        {"TYPE;Size;unix.MODE;", FTP_FACT_TYPE | FTP_FACT_SIZE | FTP_FACT_UNIX_MODE},
        {"size;type;size;", FTP_FACT_TYPE | FTP_FACT_SIZE},
        {"media-type;create;modify;", FTP_FACT_MODIFY},
        {"typ;types; type;type ;", 0},
        {"perm;unique;", FTP_FACT_PERM | FTP_FACT_UNIQUE},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(ftp_facts_parse(bytes_str(rows[i].list)), rows[i].selected);
}

static void every_selection_is_read_as_it_is_written(void **state)
{
    (void)state;
    char text[FTP_FACTS_TEXT_MAX];
    for (unsigned selected = 0; selected <= FTP_FACTS_ALL; selected++)
        assert_int_equal(ftp_facts_parse(bytes_str(ftp_facts_format(selected, text))),
                         selected);
    assert_string_equal(ftp_facts_format(0, text), "");
    assert_string_equal(ftp_facts_feature(FTP_FACTS_ALL, text),
                        "type*;size*;modify*;perm*;unique*;UNIX.mode*;");
    assert_string_equal(ftp_facts_feature(FTP_FACT_SIZE, text),
                        "type;size*;modify;perm;unique;UNIX.mode;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_looks_like_ls),
        cmocka_unit_test(list_shows_the_year_of_what_is_old_or_of_the_future),
        cmocka_unit_test(names_keep_their_bytes_but_no_controls),
        cmocka_unit_test(facts_are_those_selected),
        cmocka_unit_test(facts_fit_the_kind),
        cmocka_unit_test(the_largest_and_the_smallest_facts_fit),
        cmocka_unit_test(a_full_buffer_stays_as_it_is),
        cmocka_unit_test(opts_mlst_selects_known_facts),
        cmocka_unit_test(every_selection_is_read_as_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
