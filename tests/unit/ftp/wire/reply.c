#include "ftp/wire/reply.h"

#include <errno.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/limits.h"
#include "check.h"

static void expect_text(struct buf *b, const char *text)
{
    assert_int_equal(b->len, strlen(text));
    assert_memory_equal(b->data, text, b->len);
    buf_clear(b);
}

static void a_reply_is_code_text_crlf(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, FTP_REPLY_MAX);
    assert_int_equal(ftp_reply(&b, 220, "ready"), 0);
    expect_text(&b, "220 ready\r\n");
    assert_int_equal(ftp_reply(&b, 200, "%s", ""), 0);
    expect_text(&b, "200 \r\n");
    assert_int_equal(ftp_reply(&b, 213, "%u", 17u), 0);
    assert_int_equal(ftp_reply(&b, 226, "done"), 0);
    expect_text(&b, "213 17\r\n226 done\r\n");
    buf_done(&b);
}

static void nothing_in_a_text_can_end_the_line(void **state)
{
    (void)state;

    static const struct {
        const char *text, *line;
    } rows[] = {
        {"a\r\n226 done", "550 a??226 done\r\n"},
        {"a\nb\rc", "550 a?b?c\r\n"},
        {"\x01\x1f\x7f\x1b[31m", "550 ????[31m\r\n"},
        {"\xc3\xa9\x80\xfe", "550 \xc3\xa9\x80\xfe\r\n"},
        {"\xff", "550 \xff\xff\r\n"},
        {"\xff\xf4\xff\xff.", "550 \xff\xff\xf4\xff\xff\xff\xff.\r\n"},
        {"%s%n", "550 %s%n\r\n"},
    };
    struct buf b;
    buf_init(&b, FTP_REPLY_MAX);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ftp_reply(&b, 550, "%s", rows[i].text), 0);
        expect_text(&b, rows[i].line);
    }
    buf_done(&b);
}

static void no_middle_line_looks_like_the_last(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, FTP_REPLY_MAX);
    assert_int_equal(ftp_reply_open(&b, 211, "Status of %s", "a\nb"), 0);
    assert_int_equal(ftp_reply_line(&b, " MDTM"), 0);
    assert_int_equal(ftp_reply_line(&b, "211 not the end"), 0);
    assert_int_equal(ftp_reply_line(&b, "9\xff"), 0);
    assert_int_equal(ftp_reply_line(&b, "x\r\n211 End"), 0);
    assert_int_equal(ftp_reply_line(&b, "%s", ""), 0);
    assert_int_equal(ftp_reply(&b, 211, "End"), 0);
    expect_text(&b, "211-Status of a?b\r\n MDTM\r\n 211 not the end\r\n 9\xff\xff\r\n"
                    "x??211 End\r\n\r\n211 End\r\n");
    buf_done(&b);
}

static void a_path_is_quoted(void **state)
{
    (void)state;

    static const struct {
        const char *path, *line;
    } rows[] = {
        {"/", "257 \"/\" made\r\n"},
        {"", "257 \"\" made\r\n"},
        {"/a b", "257 \"/a b\" made\r\n"},
        {"/say \"hi\"", "257 \"/say \"\"hi\"\"\" made\r\n"},
        {"\"", "257 \"\"\"\" made\r\n"},
        {"\"\"\"", "257 \"\"\"\"\"\"\"\" made\r\n"},
        {"/a\r\n\"\xff", "257 \"/a??\"\"\xff\xff\" made\r\n"},
    };
    struct buf b;
    buf_init(&b, FTP_REPLY_MAX);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ftp_reply_path(&b, 257, bytes_str(rows[i].path), "made"), 0);
        expect_text(&b, rows[i].line);
    }
    buf_done(&b);
}

static void the_worst_path_fits_into_a_reply(void **state)
{
    (void)state;
    static const uint8_t worst[] = {'"', 0xff};
    static uint8_t path[PATH_LEN_MAX];
    for (size_t i = 0; i < sizeof(worst); i++) {
        struct buf b;
        buf_init(&b, FTP_REPLY_MAX);
        memset(path, worst[i], sizeof(path));
        assert_int_equal(ftp_reply_path(&b, 257, bytes_of(path, sizeof(path)), "made"), 0);
        assert_int_equal(b.len, 2 * PATH_LEN_MAX + strlen("257 \"\" made\r\n"));
        buf_done(&b);
    }
}

/* Each way to append, as a call that adds exactly APPENDED bytes. */
#define APPENDED 12
#define WAYS     4

static int append(struct buf *b, unsigned way)
{
    switch (way) {
    case 0:
        return ftp_reply(b, 200, "a\xffxyz");
    case 1:
        return ftp_reply_open(b, 200, "a\xffxyz");
    case 2:
        return ftp_reply_line(b, "123456\xff\x01");
    default:
        return ftp_reply_path(b, 257, BYTES_LIT("\""), "x");
    }
}

static void a_full_buffer_stays_as_it_is(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        for (size_t room = 0; room <= APPENDED; room++) {
            struct buf b;
            buf_init(&b, 3 + room);
            assert_int_equal(buf_append_str(&b, "old"), 0);
            assert_int_equal(append(&b, way), room < APPENDED ? -FERRY_ELIMIT : 0);
            assert_int_equal(b.len, room < APPENDED ? 3 : 3 + APPENDED);
            assert_memory_equal(b.data, "old", 3);
            buf_done(&b);
        }
    }
}

static void without_memory_the_buffer_stays_as_it_is(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    for (unsigned way = 0; way < WAYS; way++) {
        struct buf b;
        buf_init(&b, FTP_REPLY_MAX);
        fault_arm(FAULT_ALLOC, 1);
        assert_int_equal(append(&b, way), -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(b.len, 0);
        buf_done(&b);
    }
#endif
}

static void every_result_has_a_code(void **state)
{
    (void)state;
    for (int e = FERRY_EPROTO; e < FERRY_ERR_END; e++) {
        /* 451 is what the table does not know, and by choice a source that ended early */
        unsigned code = ftp_reply_code(-e);
        assert_true(code != 451 || e == FERRY_ETRUNCATED);
        assert_true(code >= 421 && code <= 553);
    }

    static const struct {
        int result;
        unsigned code;
    } rows[] = {
        {-ENOENT, 550},        {-EACCES, 550},           {-EXDEV, 550},  {-ENOSPC, 452},
        {-FERRY_EQUOTA, 552},  {-FERRY_ETRUNCATED, 451}, {-EIO, 451},    {-ECANCELED, 426},
        {-FERRY_ECLOSED, 426}, {-FERRY_EAUTH, 530},      {-ENOMEM, 451}, {-FERRY_EBADNAME, 553},
        {-9999, 451},          {INT32_MIN, 451},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(ftp_reply_code(rows[i].result), rows[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_is_code_text_crlf),
        cmocka_unit_test(nothing_in_a_text_can_end_the_line),
        cmocka_unit_test(no_middle_line_looks_like_the_last),
        cmocka_unit_test(a_path_is_quoted),
        cmocka_unit_test(the_worst_path_fits_into_a_reply),
        cmocka_unit_test(a_full_buffer_stays_as_it_is),
        cmocka_unit_test(without_memory_the_buffer_stays_as_it_is),
        cmocka_unit_test(every_result_has_a_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
