#include "ftp/wire/answer.h"

#include <errno.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/limits.h"
#include "check.h"

static void check_bytes(struct bytes actual, const char *expected)
{
    assert_int_equal(actual.len, strlen(expected));
    if (actual.len > 0)
        assert_memory_equal(actual.data, expected, actual.len);
}

/* Feeds all of it, as much as is taken at a time, and gives the result of the first call of
 * next() that is not 0. */
static int read_first(struct ftp_answer_reader *r, struct bytes in, size_t chunk,
                      struct ftp_answer *ret)
{
    int result = ftp_answer_next(r, ret);
    while (result == 0 && in.len > 0) {
        size_t n = bytes_first(in, chunk).len;
        assert_true(ftp_answer_room(r) >= n);
        assert_int_equal(ftp_answer_feed(r, bytes_first(in, n)), 0);
        in = bytes_skip(in, n);
        result = ftp_answer_next(r, ret);
    }
    return result;
}

static void reads_one_reply_however_it_arrives(void **state)
{
    (void)state;

    static const struct {
        const char *in;
        unsigned code;
        const char *text, *lines;
    } rows[] = {
        {"220 ready\r\n", 220, "ready", ""},
        {"220 \r\n", 220, "", ""},
        {"220\r\n", 220, "", ""},
        {"220 bare\n", 220, "bare", ""},
        {"599 highest\r\n", 599, "highest", ""},
        {"100 - a text of its own\r\n", 100, "- a text of its own", ""},
        {"211-Features:\r\n UTF8\r\n211 End\r\n", 211, "End", "211-Features:\n UTF8\n"},
        {"123-First\r\nSecond\r\n 234 a number\r\n123 last\r\n", 123, "last",
         "123-First\nSecond\n 234 a number\n"},
        /* other codes, and the same with '-', end nothing */
        {"230-a\r\n220 b\r\n230-c\r\n2300 d\r\n23\r\n\r\n230 e\r\n", 230, "e",
         "230-a\n220 b\n230-c\n2300 d\n23\n\n"},
        {"220-\r\n220\r\n", 220, "", "220-\n"},
        {"257 \"\xff\xff\"\r\n", 257, "\"\xff\"", ""}, /* Telnet doubles it */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t chunk = 1; chunk < 100; chunk += 49) {
            struct ftp_answer_reader r;
            struct ftp_answer a;
            ftp_answer_init(&r);
            assert_int_equal(read_first(&r, bytes_str(rows[i].in), chunk, &a), 1);
            assert_int_equal(a.code, rows[i].code);
            check_bytes(a.text, rows[i].text);
            check_bytes(a.lines, rows[i].lines);
            assert_int_equal(ftp_answer_next(&r, &a), 0);
            assert_null(r.in.in.data); /* idle: no memory */
            assert_null(r.lines.data);
            ftp_answer_done(&r);
        }
    }
}

static void replies_that_arrive_together_come_out_one_by_one(void **state)
{
    (void)state;
    struct ftp_answer_reader r;
    struct ftp_answer a;
    ftp_answer_init(&r);
    assert_int_equal(read_first(&r, BYTES_LIT("150-go\r\n150 on\r\n226 done\r\n2"), 1000, &a),
                     1);
    assert_int_equal(a.code, 150);
    ftp_answer_drop(&r); /* keeps what follows */
    assert_int_equal(ftp_answer_next(&r, &a), 1);
    assert_int_equal(a.code, 226);
    check_bytes(a.lines, "");
    assert_int_equal(read_first(&r, BYTES_LIT("00 ok\r\n"), 1000, &a), 1);
    assert_int_equal(a.code, 200);
    ftp_answer_drop(&r);
    assert_null(r.in.in.data);
    ftp_answer_done(&r);
}

static void what_is_no_reply_is_an_error_that_stays(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "\r\n",         "x\r\n",      "22\r\n",       "SSH-2.0-OpenSSH_9.2\r\n",
        "220x\r\n",     "2200\r\n",   " 220 a\r\n",   "099 low\r\n",
        "600 high\r\n", "-20 a\r\n",  "+220 a\r\n",   "HTTP/1.1 400 Bad Request\r\n",
        "2 0 a\r\n",    "220\ta\r\n", "\x16\x03\r\n", "220_a\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_answer_reader r;
        struct ftp_answer a = {.code = 7};
        ftp_answer_init(&r);
        assert_int_equal(read_first(&r, bytes_str(rows[i]), 1000, &a), -FERRY_EPROTO);
        assert_int_equal(read_first(&r, BYTES_LIT("220 ready\r\n"), 1000, &a), -FERRY_EPROTO);
        assert_int_equal(a.code, 7);
        ftp_answer_done(&r);
    }
}

static void a_nul_is_refused(void **state)
{
    (void)state;
    struct ftp_answer_reader r;
    struct ftp_answer a;
    ftp_answer_init(&r);
    assert_int_equal(read_first(&r, BYTES_LIT("220 a\0b\r\n"), 1000, &a), -FERRY_EPROTO);
    ftp_answer_done(&r);
}

static int read_repeated(const char *head, const char *line, size_t times, const char *tail)
{
    struct ftp_answer_reader r;
    struct ftp_answer a;
    ftp_answer_init(&r);
    int result = read_first(&r, bytes_str(head), 1000, &a);
    for (size_t i = 0; i < times && result == 0; i++)
        result = read_first(&r, bytes_str(line), 1000, &a);
    if (result == 0)
        result = read_first(&r, bytes_str(tail), 1000, &a);
    ftp_answer_done(&r);
    return result;
}

static void lines_and_bytes_of_a_reply_are_bounded(void **state)
{
    (void)state;
    /* the first and the last line count */
    assert_int_equal(read_repeated("211-\r\n", "\r\n", FTP_ANSWER_LINES_MAX - 2, "211 \r\n"),
                     1);
    assert_int_equal(read_repeated("211-\r\n", "\r\n", FTP_ANSWER_LINES_MAX - 1, "211 \r\n"),
                     -FERRY_ELIMIT);
    /* one line: "220 " and so many */
    assert_int_equal(read_repeated("220 ", "0123456789abcdef", (FTP_LINE_MAX - 4) / 16, "\r\n"),
                     1);
    assert_int_equal(read_repeated("220 ", "0123456789abcdef", FTP_LINE_MAX / 16, "\r\n"),
                     -FERRY_ELIMIT);
    assert_int_equal(read_repeated("220-", "0123456789abcdef", 100000, "\r\n"), -FERRY_ELIMIT);
    /* all of them: 63 bytes are kept of each */
    assert_int_equal(
        read_repeated("220-\r\n",
                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd\r\n",
                      FTP_REPLY_MAX / 63, "220 \r\n"),
        -FERRY_ELIMIT);
    assert_int_equal(
        read_repeated("220-\r\n",
                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd\r\n",
                      FTP_REPLY_MAX / 63 - 1, "220 \r\n"),
        1);
}

static void no_memory_is_told(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    struct ftp_answer_reader r;
    struct ftp_answer a;
    ftp_answer_init(&r);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(ftp_answer_feed(&r, BYTES_LIT("220-a\r\n220 b\r\n")), -ENOMEM);
    assert_int_equal(ftp_answer_feed(&r, BYTES_LIT("220-a\r\n220 b\r\n")), 0);
    fault_arm(FAULT_ALLOC, 1); /* the lines that are kept */
    assert_int_equal(ftp_answer_next(&r, &a), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(ftp_answer_next(&r, &a), -ENOMEM);
    ftp_answer_done(&r);
#endif
}

static void passive_address_is_found_in_any_text(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int result;
        uint8_t host[4];
        uint16_t port;
    } rows[] = {
        {"Entering Passive Mode (127,0,0,1,8,73).", 0, {127, 0, 0, 1}, 2121},
        {"Entering Passive Mode. 127,0,0,1,8,73", 0, {127, 0, 0, 1}, 2121},
        {"=127,0,0,1,8,73", 0, {127, 0, 0, 1}, 2121},
        {"ok 1,2 (10,0,0,9,255,255), go on", 0, {10, 0, 0, 9}, 65535},
        {"1,2,3,4,0,1, go on", 0, {1, 2, 3, 4}, 1},
        {"", -FERRY_EPROTO, {0}, 0},
        {"Entering Passive Mode", -FERRY_EPROTO, {0}, 0},
        {"(127,0,0,1,8)", -FERRY_EPROTO, {0}, 0},
        {"(127,0,0,1,8,73,1)", -FERRY_EPROTO, {0}, 0},
        {"(127,0,0,1,8,256)", -FERRY_EPROTO, {0}, 0},
        {"(127,0,0,1,0,0)", -FERRY_EPROTO, {0}, 0},
        {"(127.0.0.1,8,73)", -FERRY_EPROTO, {0}, 0},
        {"(,,,,,)", -FERRY_EPROTO, {0}, 0},
        {",,,,,,,,,,,,,", -FERRY_EPROTO, {0}, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_address a = {.port = 0};
        assert_int_equal(ftp_answer_pasv(bytes_str(rows[i].text), &a), rows[i].result);
        assert_int_equal(a.port, rows[i].port);
        assert_memory_equal(a.host, rows[i].host, 4);
    }
}

static void extended_port_has_one_form(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int result;
        uint16_t port;
    } rows[] = {
        {"Entering Extended Passive Mode (|||6446|)", 0, 6446},
        {"(!!!1!)", 0, 1},
        {"on (|||65535|) please", 0, 65535},
        {"(|||0|)", -FERRY_EPROTO, 7},
        {"(|||65536|)", -FERRY_EPROTO, 7},
        {"(|||000021|)", -FERRY_EPROTO, 7},
        {"(|||-1|)", -FERRY_EPROTO, 7},
        {"(||||)", -FERRY_EPROTO, 7},
        {"(|||21|", -FERRY_EPROTO, 7},
        {"(|||21)", -FERRY_EPROTO, 7},
        {"(||21|)", -FERRY_EPROTO, 7},
        {"(|1||21|)", -FERRY_EPROTO, 7},
        {"(|||21!)", -FERRY_EPROTO, 7},
        {"(1112111)", -FERRY_EPROTO, 7},
        {"(   21 )", -FERRY_EPROTO, 7},
        {"|||21|", -FERRY_EPROTO, 7},
        {"(|||", -FERRY_EPROTO, 7},
        {"(", -FERRY_EPROTO, 7},
        {"", -FERRY_EPROTO, 7},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint16_t port = 7;
        assert_int_equal(ftp_answer_epsv(bytes_str(rows[i].text), &port), rows[i].result);
        assert_int_equal(port, rows[i].port);
    }
}

static void size_is_a_number_and_nothing_else(void **state)
{
    (void)state;
    uint64_t size = 7;
    static const char *const wrong[] = {"",   " 1",  "1 ", "1 byte", "-1",
                                        "+1", "0x1", "1.", "1k",     "9223372036854775808"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(ftp_answer_size(bytes_str(wrong[i]), &size), -FERRY_EPROTO);
    assert_int_equal(size, 7);
    assert_int_equal(ftp_answer_size(BYTES_LIT("0"), &size), 0);
    assert_int_equal(size, 0);
    assert_int_equal(ftp_answer_size(BYTES_LIT("9223372036854775807"), &size), 0);
    assert_true(size == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_one_reply_however_it_arrives),
        cmocka_unit_test(replies_that_arrive_together_come_out_one_by_one),
        cmocka_unit_test(what_is_no_reply_is_an_error_that_stays),
        cmocka_unit_test(a_nul_is_refused),
        cmocka_unit_test(lines_and_bytes_of_a_reply_are_bounded),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(passive_address_is_found_in_any_text),
        cmocka_unit_test(extended_port_has_one_form),
        cmocka_unit_test(size_is_a_number_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
