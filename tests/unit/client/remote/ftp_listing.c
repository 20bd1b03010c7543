#include "client/remote/ftp_listing.h"

#include "base/civil.h"
#include "base/err.h"
#include "check.h"

static int64_t time_of(unsigned year, unsigned month, unsigned day, unsigned hour,
                       unsigned minute)
{
    const struct civil c = {
        .year = year, .month = month, .day = day, .hour = hour, .minute = minute};
    int64_t us = 0;
    assert_int_equal(clock_from_utc(&c, &us), 0);
    return us;
}

static const struct {
    const char *line, *name;
    enum endpoint_kind kind;
    int64_t size;  /* -1: none */
    unsigned mode; /* 01000: none */
} facts_lines[] = {
    {"type=file;size=5;modify=20200102030405;UNIX.mode=0640; a b", "a b", ENDPOINT_FILE, 5,
     0640},
    {"Type=dir;Modify=20200102030405.123; d\r", "d", ENDPOINT_DIRECTORY, -1, 01000},
    {"type=OS.unix=slink:/x;size=1; l", "l", ENDPOINT_LINK, 1, 01000},
    {"size=x; n", "n", ENDPOINT_UNKNOWN, -1, 01000},
    {" ; leading", "; leading", ENDPOINT_UNKNOWN, -1, 01000},
    {"type=OS.unix=chr-1/2; c", "c", ENDPOINT_OTHER, -1, 01000},
};

static void a_line_of_mlsd_is_a_name_with_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(facts_lines); i++) {
        struct endpoint_facts f;
        struct bytes name;
        int r = ftp_listed_facts(bytes_str(facts_lines[i].line), &name, &f);
        if (r != 1 || !bytes_equal(name, bytes_str(facts_lines[i].name)) ||
            f.kind != facts_lines[i].kind || f.has_size != (facts_lines[i].size >= 0) ||
            (f.has_size && f.size_bytes != (uint64_t)facts_lines[i].size) ||
            f.has_mode != (facts_lines[i].mode != 01000))
            fail_msg("%s: %d, kind %d", facts_lines[i].line, r, f.kind);
    }
}

static void the_directory_itself_and_nonsense_are_no_names(void **state)
{
    struct endpoint_facts f;
    struct bytes name;
    (void)state;
    assert_int_equal(ftp_listed_facts(BYTES_LIT("type=cdir; ."), &name, &f), 0);
    assert_int_equal(ftp_listed_facts(BYTES_LIT("type=pdir; .."), &name, &f), 0);
    assert_int_equal(ftp_listed_facts(BYTES_LIT("type=file;"), &name, &f), -FERRY_EPROTO);
    assert_int_equal(ftp_listed_facts(BYTES_LIT("type=file; "), &name, &f), -FERRY_EPROTO);
    assert_int_equal(ftp_listed_facts(BYTES_LIT("nonsense name"), &name, &f), -FERRY_EPROTO);
    assert_int_equal(ftp_listed_facts(BYTES_NONE, &name, &f), -FERRY_EPROTO);
}

static void a_line_of_list_is_read_as_ls_writes_it(void **state)
{
    int64_t now = time_of(2026, 3, 1, 0, 0);

    const struct {
        const char *line, *name;
        enum endpoint_kind kind;
        uint64_t size;
        unsigned mode;
        int64_t time;
    } rows[] = {
        {"-rw-r--r--    1 0        0               6 Feb 28 23:42 a b  c\r", "a b  c",
         ENDPOINT_FILE, 6, 0644, time_of(2026, 2, 28, 23, 42)},
        {"drwxr-xr-x 2 ann group 4096 Dec  1 10:00 d", "d", ENDPOINT_DIRECTORY, 4096, 0755,
         time_of(2025, 12, 1, 10, 0)},
        {"-rwsr-x--T 1 u 12 2000 Jan  1  1999  lead", " lead", ENDPOINT_FILE, 2000,
         04750 & 0777, time_of(1999, 1, 1, 0, 0)},
        {"lrwxrwxrwx 1 u g 3 Jan 1 2020 l -> a -> b", "l", ENDPOINT_LINK, 3, 0777,
         time_of(2020, 1, 1, 0, 0)},
        {"-rw------- 1 Domain Users 7 Feb 29 2024 leap", "leap", ENDPOINT_FILE, 7, 0600,
         time_of(2024, 2, 29, 0, 0)},
        {"-rw-r--r--+ 1 May 3 5 May 4 2001 May", "May", ENDPOINT_FILE, 5, 0644,
         time_of(2001, 5, 4, 0, 0)},
        {"-rw-r--r-- 1 group 5 Mar  1 12:00 tomorrow", "tomorrow", ENDPOINT_FILE, 5, 0644,
         time_of(2026, 3, 1, 12, 0)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct endpoint_facts f = {0};
        struct bytes name = BYTES_NONE;
        int r = ftp_listed_line(bytes_str(rows[i].line), now, &name, &f);
        if (r != 1 || !bytes_equal(name, bytes_str(rows[i].name)) || f.kind != rows[i].kind ||
            f.size_bytes != rows[i].size || f.mode != rows[i].mode ||
            f.mtime_us != rows[i].time)
            fail_msg("%s: %d, '%.*s', kind %d, mode %o, size %lu", rows[i].line, r,
                     (int)name.len, (const char *)name.data, f.kind, f.mode,
                     (unsigned long)f.size_bytes);
    }
}

static void other_lines_of_list_are_no_names(void **state)
{
    static const struct {
        const char *line;
        int result;
    } rows[] = {
        {"total 12", 0},
        {"", 0},
        {"drwxr-xr-x 2 u g 4096 Jan 1 2020 .", 0},
        {"drwxr-xr-x 2 u g 4096 Jan 1 2020 ..", 0},
        {"01-01-20  10:00AM  5 name", -FERRY_EPROTO},
        {"-rw-r--r-- 1 u g 5 Jan 1 2020 ", -FERRY_EPROTO},
        {"-rw-r--r-- 1 u g 5 Jan 41 2020 x", -FERRY_EPROTO},
        {"-rw-r--r-- 1 u g x Jan 1 2020 x", -FERRY_EPROTO},
        {"-rw-r--r-- 1 u g 5 Jan 1 24:00 x", -FERRY_EPROTO},
        {"-rw-r--r-- 1 u g 5 Jan 1 10:60 x", -FERRY_EPROTO},
        {"-rw-r--r-- 1 u g 99999999999999999999 Jan 1 2020 x", -FERRY_EPROTO},
        {"-rw", -FERRY_EPROTO},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct endpoint_facts f;
        struct bytes name;
        int r = ftp_listed_line(bytes_str(rows[i].line), 0, &name, &f);
        if (r != rows[i].result)
            fail_msg("%s: %d", rows[i].line, r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_mlsd_is_a_name_with_facts),
        cmocka_unit_test(the_directory_itself_and_nonsense_are_no_names),
        cmocka_unit_test(a_line_of_list_is_read_as_ls_writes_it),
        cmocka_unit_test(other_lines_of_list_are_no_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
