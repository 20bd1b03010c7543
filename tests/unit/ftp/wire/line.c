#include "ftp/wire/line.h"

#include <errno.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/limits.h"
#include "check.h"

#define FEED(r, s) assert_int_equal(ftp_line_feed((r), BYTES_LIT(s)), 0)

static void expect_line(struct ftp_line_reader *r, const char *text)
{
    struct bytes line;
    assert_int_equal(ftp_line_next(r, FTP_LINE_MAX, &line), FTP_LINE_READY);
    assert_int_equal(line.len, strlen(text));
    if (line.len > 0)
        assert_memory_equal(line.data, text, line.len);
}

static void expect(struct ftp_line_reader *r, enum ftp_line_event event)
{
    struct bytes line;
    assert_int_equal(ftp_line_next(r, FTP_LINE_MAX, &line), event);
}

static void feed_run(struct ftp_line_reader *r, uint8_t c, size_t count)
{
    uint8_t chunk[256];
    memset(chunk, c, sizeof(chunk));
    for (size_t n; count > 0; count -= n) {
        n = count < sizeof(chunk) ? count : sizeof(chunk);
        assert_int_equal(ftp_line_feed(r, bytes_of(chunk, n)), 0);
    }
}

static void expect_idle(struct ftp_line_reader *r)
{
    expect(r, FTP_LINE_NONE);
    assert_true(ftp_line_is_idle(r));
    assert_null(r->in.data);
}

static void cuts_at_crlf_and_at_bare_lf(void **state)
{
    (void)state;

    static const struct {
        const char *in, *line;
    } rows[] = {
        {"NOOP\r\n", "NOOP"},
        {"NOOP\n", "NOOP"},
        {"\r\n", ""},
        {"\n", ""},
        {"a\r\r\n", "a\r"},
        {"a\rb\r\n", "a\rb"},
        {" \t STOR  x \r\n", " \t STOR  x "},
        {"CWD \xc3\xa9\xfe\r\n", "CWD \xc3\xa9\xfe"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_line_reader r;
        ftp_line_init(&r);
        expect_idle(&r);
        assert_int_equal(ftp_line_feed(&r, bytes_str(rows[i].in)), 0);
        expect_line(&r, rows[i].line);
        expect_idle(&r);
        ftp_line_done(&r);
    }
}

static void pipelined_lines_come_out_one_by_one(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    FEED(&r, "USER a\r\nPASS b\n\nQU");
    expect_line(&r, "USER a");
    assert_false(ftp_line_is_idle(&r));
    expect_line(&r, "PASS b");
    expect_line(&r, "");
    expect(&r, FTP_LINE_NONE);
    assert_false(ftp_line_is_idle(&r));
    FEED(&r, "IT\r");
    expect(&r, FTP_LINE_NONE);
    FEED(&r, "\nNOOP\r\n");
    expect_line(&r, "QUIT");
    expect_line(&r, "NOOP");
    expect_idle(&r);
    ftp_line_done(&r);
}

static void a_line_does_not_depend_on_where_the_bytes_are_cut(void **state)
{
    (void)state;
    static const char in[] = "USER a\r\n\xff\xf4\xff\xf2"
                             "ABOR\r\nCWD \xff\xff\xff\xfb\x01x\n";
    for (size_t cut = 0; cut < sizeof(in); cut++) {
        struct ftp_line_reader r;
        ftp_line_init(&r);
        assert_int_equal(ftp_line_feed(&r, bytes_of(in, cut)), 0);
        assert_int_equal(ftp_line_feed(&r, bytes_of(in + cut, sizeof(in) - 1 - cut)), 0);
        expect_line(&r, "USER a");
        expect_line(&r, "ABOR");
        expect_line(&r, "CWD \xffx");
        expect_idle(&r);
        ftp_line_done(&r);
    }
}

#define ROW(in, line)                                                                          \
    {                                                                                          \
        {(const uint8_t *)(in), sizeof(in) - 1}, line                                          \
    }

static void telnet_commands_are_dropped(void **state)
{
    (void)state;

    static const struct {
        struct bytes in;
        const char *line;
    } rows[] = {
        ROW("A\xff\xfb\x03\x42\r\n", "AB"), /* WILL x */
        ROW("A\xff\xfc\n\x42\r\n", "AB"),   /* WONT, the option is LF */
        ROW("A\xff\xfd\xff\x42\r\n", "AB"), /* DO, the option is 255 */
        ROW("A\xff\xfe\0\x42\r\n", "AB"),   /* DONT, the option is NUL */
        ROW("A\xff\xf1\xff\xf6\x42\r\n", "AB"),
        ROW("\xff\xf4\xff\xf2\x41\x42OR\r\n", "ABOR"),
        ROW("\xff\xf4\x41\x42OR\r\n", "ABOR"),
        ROW("\xff\xf2\x41\x42OR\r\n", "ABOR"),
        ROW("\xff\xff\r\n", "\xff"),
        ROW("\xff\xff\xff\xff\r\n", "\xff\xff"),
        ROW("y\xff.txt\r\n", "y\xff.txt"), /* a client that does not escape */
        ROW("y\xff\r\n", "y\xff"),         /* must not lose the line end */
        ROW("\xf4\xf2\r\n", "\xf4\xf2"),   /* without IAC only bytes */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_line_reader r;
        ftp_line_init(&r);
        assert_int_equal(ftp_line_feed(&r, rows[i].in), 0);
        expect_line(&r, rows[i].line);
        expect_idle(&r);
        ftp_line_done(&r);
    }
}

static void a_held_back_iac_keeps_the_session_awake(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    FEED(&r, "\xff");
    expect(&r, FTP_LINE_NONE);
    assert_false(ftp_line_is_idle(&r));
    FEED(&r, "\xf2");
    expect_idle(&r);
    ftp_line_done(&r);
}

static void a_line_with_a_nul_is_refused_whole(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    FEED(&r, "DELE a\0b\r\n\0\nNOOP\r\0\r\nNOOP\r\n");
    expect(&r, FTP_LINE_HAS_NUL);
    expect(&r, FTP_LINE_HAS_NUL);
    expect(&r, FTP_LINE_HAS_NUL);
    expect_line(&r, "NOOP");
    expect_idle(&r);
    ftp_line_done(&r);
}

static void a_line_may_be_as_long_as_the_cap_and_no_longer(void **state)
{
    (void)state;

    static const struct {
        size_t cap, len;
        const char *end;
        enum ftp_line_event event;
    } rows[] = {
        {FTP_LINE_PRELOGIN_MAX, FTP_LINE_PRELOGIN_MAX, "\r\n", FTP_LINE_READY},
        {FTP_LINE_PRELOGIN_MAX, FTP_LINE_PRELOGIN_MAX, "\n", FTP_LINE_READY},
        {FTP_LINE_PRELOGIN_MAX, FTP_LINE_PRELOGIN_MAX + 1, "\n", FTP_LINE_TOO_LONG},
        {FTP_LINE_PRELOGIN_MAX, FTP_LINE_PRELOGIN_MAX + 1, "\r\n", FTP_LINE_TOO_LONG},
        {FTP_LINE_MAX, FTP_LINE_MAX - 1, "\r\n", FTP_LINE_READY},
        {FTP_LINE_MAX, FTP_LINE_MAX, "\r\n", FTP_LINE_READY},
        {FTP_LINE_MAX, FTP_LINE_MAX + 1, "\r\n", FTP_LINE_TOO_LONG},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_line_reader r;
        struct bytes line;
        ftp_line_init(&r);
        feed_run(&r, 'x', rows[i].len);
        assert_int_equal(ftp_line_feed(&r, bytes_str(rows[i].end)), 0);
        FEED(&r, "NOOP\r\n");
        assert_int_equal(ftp_line_next(&r, rows[i].cap, &line), rows[i].event);
        if (rows[i].event == FTP_LINE_READY)
            assert_int_equal(line.len, rows[i].len);
        expect_line(&r, "NOOP");
        expect_idle(&r);
        ftp_line_done(&r);
    }
}

static void the_rest_of_a_long_line_is_thrown_away_unstored(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    feed_run(&r, 'x', FTP_LINE_MAX + 1);
    expect(&r, FTP_LINE_TOO_LONG);
    for (unsigned i = 0; i < 100; i++) {
        feed_run(&r, 'x', 1000);
        assert_int_equal(r.in.len, 0);
        expect(&r, FTP_LINE_NONE);
        assert_null(r.in.data);
    }
    assert_false(ftp_line_is_idle(&r));
    FEED(&r, "\r\nNOOP\r\n");
    expect_line(&r, "NOOP");
    expect_idle(&r);
    ftp_line_done(&r);
}

static void a_cr_at_the_cap_waits_for_its_lf(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    feed_run(&r, 'x', FTP_LINE_MAX);
    FEED(&r, "\r");
    expect(&r, FTP_LINE_NONE);
    FEED(&r, "y");
    expect(&r, FTP_LINE_TOO_LONG);
    FEED(&r, "\n");
    expect_idle(&r);
    ftp_line_done(&r);
}

static void holds_no_more_than_a_line_and_a_chunk(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    assert_int_equal(ftp_line_room(&r, FTP_LINE_PRELOGIN_MAX),
                     FTP_LINE_PRELOGIN_MAX + FTP_LINE_CHUNK);
    assert_int_equal(ftp_line_room(&r, SIZE_MAX), FTP_LINE_MAX + FTP_LINE_CHUNK);
    feed_run(&r, '\n', FTP_LINE_MAX + FTP_LINE_CHUNK);
    assert_int_equal(ftp_line_room(&r, FTP_LINE_MAX), 0);
    assert_int_equal(ftp_line_room(&r, FTP_LINE_PRELOGIN_MAX), 0);
    assert_int_equal(ftp_line_feed(&r, BYTES_LIT("\n")), -FERRY_ELIMIT);
    expect_line(&r, "");
    assert_int_equal(ftp_line_room(&r, FTP_LINE_MAX), 1);
    FEED(&r, "\n");
    for (unsigned i = 0; i < FTP_LINE_MAX + FTP_LINE_CHUNK; i++)
        expect_line(&r, "");
    expect_idle(&r);
    ftp_line_done(&r);
}

static void a_full_reader_takes_an_unescaped_0xff_too(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    FEED(&r, "\xff");
    assert_int_equal(ftp_line_room(&r, FTP_LINE_MAX), FTP_LINE_MAX + FTP_LINE_CHUNK - 1);
    feed_run(&r, 'x', FTP_LINE_MAX + FTP_LINE_CHUNK - 1);
    assert_int_equal(r.in.len, FTP_LINE_MAX + FTP_LINE_CHUNK);
    expect(&r, FTP_LINE_TOO_LONG);
    ftp_line_done(&r);
}

static void an_unread_line_comes_again(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    FEED(&r, "STOR b\r\nABOR\r\n");
    expect_line(&r, "STOR b");
    ftp_line_unread(&r);
    assert_false(ftp_line_is_idle(&r));
    FEED(&r, "NOOP\r\n");
    expect_line(&r, "STOR b");
    expect_line(&r, "ABOR");
    expect_line(&r, "NOOP");
    expect_idle(&r);
    ftp_line_unread(&r); /* nothing was given out: nothing comes back */
    expect_idle(&r);
    ftp_line_done(&r);
}

static void a_line_is_wiped_when_it_leaves(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
    FEED(&r, "PASS secret\r\nNOOP\r\nNOOP\r\n");
    expect_line(&r, "PASS secret");
    expect_line(&r, "NOOP");
    for (size_t i = 0; i < strlen("PASS secret\r\n"); i++)
        assert_int_equal(r.in.data[i], 0);
    FEED(&r, "NOOP, longer than the next\r\nPASS secret\r\n");
    expect_line(&r, "NOOP");
    expect_line(&r, "NOOP, longer than the next");
    FEED(&r, "\n"); /* moves what is held to the front */
    expect_line(&r, "PASS secret");
    expect_line(&r, "");
    assert_null(memmem(r.in.data, FTP_LINE_PRELOGIN_MAX, "secret", 6));
    ftp_line_done(&r);
    assert_null(r.in.data);
}

static void without_memory_the_reader_is_as_before(void **state)
{
    (void)state;
    struct ftp_line_reader r;
    ftp_line_init(&r);
#ifdef FERRY_FAULTS
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(ftp_line_feed(&r, BYTES_LIT("NOOP\r\n")), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
#endif
    expect_idle(&r);
    FEED(&r, "NOOP\r\n");
    expect_line(&r, "NOOP");
    ftp_line_done(&r);
}

static void an_idle_session_pays_for_a_few_words_only(void **state)
{
    (void)state;
    assert_true(sizeof(struct ftp_line_reader) <= 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_at_crlf_and_at_bare_lf),
        cmocka_unit_test(pipelined_lines_come_out_one_by_one),
        cmocka_unit_test(a_line_does_not_depend_on_where_the_bytes_are_cut),
        cmocka_unit_test(telnet_commands_are_dropped),
        cmocka_unit_test(a_held_back_iac_keeps_the_session_awake),
        cmocka_unit_test(a_line_with_a_nul_is_refused_whole),
        cmocka_unit_test(a_line_may_be_as_long_as_the_cap_and_no_longer),
        cmocka_unit_test(the_rest_of_a_long_line_is_thrown_away_unstored),
        cmocka_unit_test(a_cr_at_the_cap_waits_for_its_lf),
        cmocka_unit_test(holds_no_more_than_a_line_and_a_chunk),
        cmocka_unit_test(a_full_reader_takes_an_unescaped_0xff_too),
        cmocka_unit_test(an_unread_line_comes_again),
        cmocka_unit_test(a_line_is_wiped_when_it_leaves),
        cmocka_unit_test(without_memory_the_reader_is_as_before),
        cmocka_unit_test(an_idle_session_pays_for_a_few_words_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
