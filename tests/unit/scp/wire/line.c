#include "scp/wire/line.h"

#include <stdio.h>

#include "base/err.h"
#include "check.h"

static int parse(const char *text, struct scp_line *ret)
{
    return scp_line_parse(bytes_str(text), ret);
}

static void expect_text(struct bytes s, const char *text)
{
    assert_int_equal(s.len, strlen(text));
    assert_memory_equal(s.data, text, s.len);
}

static void a_file_has_mode_size_and_name(void **state)
{
    (void)state;
    struct scp_line line;
    assert_int_equal(parse("C0644 5 hello", &line), 0);
    assert_int_equal(line.kind, SCP_LINE_FILE);
    assert_int_equal(line.mode, 0644);
    assert_int_equal(line.size_bytes, 5);
    expect_text(line.text, "hello");
    assert_int_equal(parse("C7777 9223372036854775807 x", &line), 0);
    assert_int_equal(line.mode, 07777);
    assert_true(line.size_bytes == INT64_MAX);
}

static void a_name_may_hold_anything_but_what_leads_elsewhere(void **state)
{
    (void)state;
    static const char *const good[] = {"a b",        " ",        "-r",   "...", ".x",
                                       "'\"$`*?[\\", "\xc3\xbc", "\xff", "\t",  "\\^J"};
    static const char *const bad[] = {"", ".", "..", "/", "a/b", "/etc/passwd", "../x", "x/.."};
    char text[64];
    struct scp_line line;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        (void)snprintf(text, sizeof(text), "C0644 0 %s", good[i]);
        assert_int_equal(parse(text, &line), 0);
        expect_text(line.text, good[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        (void)snprintf(text, sizeof(text), "C0644 0 %s", bad[i]);
        assert_int_equal(parse(text, &line), -FERRY_EBADNAME);
        text[0] = 'D';
        assert_int_equal(parse(text, &line), -FERRY_EBADNAME);
    }
    assert_int_equal(scp_line_parse(BYTES_LIT("C0644 0 a\0b"), &line), -FERRY_EBADNAME);
}

static void what_is_no_line_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "C",
        "C0644",
        "C0644 ",
        "C0644 5",
        "C0644 5hello",
        "C644 5 x",
        "C00644 5 x",
        "C0684 5 x",
        "C-644 5 x",
        "C0644  5 x",
        "C0644 -1 x",
        "C0644 +1 x",
        "C0644 0x5 x",
        "C0644 9223372036854775808 x",
        "C0644 99999999999999999999 x",
        "C 644 5 x",
        "D0755 x y",
        "T",
        "T1",
        "T1 0",
        "T1 0 2",
        "T1 0 2 ",
        "T1 0 2 0 ",
        "T-1 0 2 0",
        "T1 1000000 2 0",
        "T1 0 2 1000000",
        "T9223372036854775807 0 0 0",
        "T1 0 2 0 x",
        "X0644 5 x",
        "c0644 5 x",
        " C0644 5 x",
        "\3warning",
    };
    struct scp_line line;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (parse(bad[i], &line) != -FERRY_EPROTO)
            fail_msg("taken: \"%s\"", bad[i]);
}

static void times_are_seconds_and_microseconds(void **state)
{
    (void)state;
    struct scp_line line;
    assert_int_equal(parse("T981173106 999999 0 1", &line), 0);
    assert_int_equal(line.kind, SCP_LINE_TIMES);
    assert_true(line.mtime_us == INT64_C(981173106999999));
    assert_true(line.atime_us == 1);
    assert_int_equal(parse("T9223372036853 999999 9223372036853 0", &line), 0);
    assert_int_equal(parse("T9223372036854 0 0 0", &line), -FERRY_EPROTO);
}

static void the_end_and_complaints_are_known(void **state)
{
    (void)state;
    struct scp_line line;
    assert_int_equal(parse("E", &line), 0);
    assert_int_equal(line.kind, SCP_LINE_END);
    assert_int_equal(parse("\1scp: x: no", &line), 0);
    assert_int_equal(line.kind, SCP_LINE_WARNING);
    expect_text(line.text, "scp: x: no");
    assert_int_equal(parse("\2", &line), 0);
    assert_int_equal(line.kind, SCP_LINE_FATAL);
    assert_int_equal(line.text.len, 0);
}

static void lines_are_written_as_others_read_them(void **state)
{
    (void)state;

    static const struct {
        struct scp_line line;
        const char *text;
    } rows[] = {
        {{.kind = SCP_LINE_FILE, .mode = 0644, .size_bytes = 5, .text = BYTES_LIT("a b")},
         "C0644 5 a b\n"},
        {{.kind = SCP_LINE_FILE, .mode = 07, .size_bytes = INT64_MAX, .text = BYTES_LIT("x")},
         "C0007 9223372036854775807 x\n"},
        {{.kind = SCP_LINE_DIRECTORY, .mode = 0755, .text = BYTES_LIT("d\\e")},
         "D0755 0 d\\e\n"},
        {{.kind = SCP_LINE_FILE, .text = BYTES_LIT("a\nb\\")}, "C0000 0 a\\^Jb\\\\\n"},
        {{.kind = SCP_LINE_END}, "E\n"},
        {{.kind = SCP_LINE_TIMES, .mtime_us = INT64_C(981173106999999), .atime_us = -5},
         "T981173106 0 0 0\n"},
        {{.kind = SCP_LINE_WARNING, .text = BYTES_LIT("scp: a\nb\x1b: no")},
         "\1scp: a?b?: no\n"},
        {{.kind = SCP_LINE_FATAL, .text = BYTES_LIT("x")}, "\2x\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        buf_init(&out, 256);
        assert_int_equal(scp_line_append(&out, &rows[i].line), 0);
        expect_text(buf_bytes(&out), rows[i].text);
        buf_done(&out);
    }
}

static void a_line_that_finds_no_room_leaves_nothing(void **state)
{
    (void)state;
    const struct scp_line line = {.kind = SCP_LINE_FILE, .text = BYTES_LIT("name")};
    for (size_t cap = 0; cap < strlen("C0000 0 name\n"); cap++) {
        struct buf out;
        buf_init(&out, cap);
        assert_int_equal(scp_line_append(&out, &line), -FERRY_ELIMIT);
        assert_int_equal(out.len, 0);
        buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_mode_size_and_name),
        cmocka_unit_test(a_name_may_hold_anything_but_what_leads_elsewhere),
        cmocka_unit_test(what_is_no_line_is_refused),
        cmocka_unit_test(times_are_seconds_and_microseconds),
        cmocka_unit_test(the_end_and_complaints_are_known),
        cmocka_unit_test(lines_are_written_as_others_read_them),
        cmocka_unit_test(a_line_that_finds_no_room_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
