#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "check_bytes.h"

static char seen[4096];
static unsigned seen_lines;

static void keep(const char *line, size_t len)
{
    text_copy(seen, sizeof(seen), bytes_of(line, len));
    seen_lines++;
}

static usec_t now;

static int set_up(void **state)
{
    (void)state;
    now = 3723004567; /* an hour, two minutes, three seconds, 4.567 ms */
    clock_set_fake(&now);
    seen[0] = '\0';
    seen_lines = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    log_setup(LOG_TEXT, LOG_ERROR, NULL);
    clock_set_fake(NULL);
    return 0;
}

static void write_login(void)
{
    struct log_record r;
    log_begin(&r, LOG_INFO, "login");
    log_str(&r, "user", BYTES_LIT("x \"y\"\n"));
    log_text(&r, "peer", "127.0.0.1");
    log_text(&r, "nobody", NULL);
    log_u64(&r, "bytes", UINT64_MAX);
    log_us(&r, "seconds", 1234567);
    log_err(&r, -ENOSPC);
    log_end(&r);
}

static void text_lines_are_as_documented(void **state)
{
    (void)state;
    log_setup(LOG_TEXT, LOG_INFO, keep);
    write_login();
    assert_string_equal(seen, "2026-01-01T01:02:03Z info login user=\"x \\\"y\\\"\\n\" "
                              "peer=\"127.0.0.1\" bytes=18446744073709551615 seconds=1.234 "
                              "error=\"ENOSPC\" reason=\"no space left on device\"\n");
}

static void json_lines_are_as_documented(void **state)
{
    (void)state;
    log_setup(LOG_JSON, LOG_INFO, keep);
    write_login();
    assert_string_equal(
        seen, "{\"ts\":\"2026-01-01T01:02:03.004Z\",\"level\":\"info\",\"event\":\"login\","
              "\"user\":\"x \\\"y\\\"\\n\",\"peer\":\"127.0.0.1\","
              "\"bytes\":18446744073709551615,\"seconds\":1.234,\"error\":\"ENOSPC\","
              "\"reason\":\"no space left on device\"}\n");
}

static void an_event_with_one_detail_is_one_line(void **state)
{
    (void)state;
    log_setup(LOG_TEXT, LOG_DEBUG, keep);
    log_event(LOG_WARNING, "reload", "file", "/etc/ferryd.conf");
    assert_string_equal(seen,
                        "2026-01-01T01:02:03Z warning reload file=\"/etc/ferryd.conf\"\n");
    log_event(LOG_DEBUG, "tick", "n", NULL);
    assert_string_equal(seen, "2026-01-01T01:02:03Z debug tick\n");
    assert_int_equal(seen_lines, 2);
}

static void only_levels_that_are_on_reach_the_sink(void **state)
{
    (void)state;
    log_event(LOG_ERROR, "before_setup", "k", "v");
    for (unsigned max = 0; max < LOG_LEVEL_COUNT; max++) {
        log_setup(LOG_TEXT, (enum log_level)max, keep);
        seen_lines = 0;
        for (unsigned level = 0; level < LOG_LEVEL_COUNT; level++)
            log_event((enum log_level)level, "e", "k", "v");
        assert_int_equal(seen_lines, max + 1);
    }
    log_setup(LOG_TEXT, LOG_DEBUG, NULL);
    seen_lines = 0;
    log_event(LOG_ERROR, "e", "k", "v");
    assert_int_equal(seen_lines, 0);
}

static void an_audit_line_needs_no_sink_and_no_level(void **state)
{
    (void)state;
    struct log_record r;
    log_begin_as(&r, LOG_JSON, LOG_INFO, "stored");
    log_u64(&r, "bytes", 0);
    assert_bytes_equal(log_finish(&r),
                       "{\"ts\":\"2026-01-01T01:02:03.004Z\",\"level\":\"info\","
                       "\"event\":\"stored\",\"bytes\":0}\n");
    log_begin(&r, LOG_ERROR, "unwanted");
    log_str(&r, "k", BYTES_LIT("v"));
    log_u64(&r, "n", 1);
    assert_bytes_equal(log_finish(&r), "");
}

/* -- cut lines: a reader that knows just enough to see whether a line is whole -- */

static const char *skip_string(const char *s)
{
    if (*s++ != '"')
        return NULL;
    while (*s != '"') {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s == '\\') {
            s++;
            if (*s == 'u' && strspn(s + 1, "0123456789abcdef") >= 4)
                s += 4;
            else if (*s == '\0' || strchr("\"\\bfnrt", *s) == NULL)
                return NULL;
        }
        s++;
    }
    return s + 1;
}

static const char *skip_value(const char *s)
{
    if (*s == '"')
        return skip_string(s);
    size_t len = strspn(s, "0123456789.truefals");
    return len != 0 ? s + len : NULL;
}

static bool is_json_line(const char *s)
{
    if (*s++ != '{')
        return false;
    for (;;) {
        s = skip_string(s);
        if (s == NULL || *s++ != ':')
            return false;
        s = skip_value(s);
        if (s == NULL || (*s != ',' && *s != '}'))
            return false;
        if (*s++ == '}')
            return strcmp(s, "\n") == 0;
    }
}

static bool is_text_line(const char *s)
{
    s += strlen("2026-01-01T01:02:03Z info event");
    while (*s == ' ') {
        s += 1 + strcspn(s + 1, "= \n");
        if (*s != '=')
            return false;
        s = skip_value(s + 1);
        if (s == NULL)
            return false;
    }
    return strcmp(s, "\n") == 0;
}

static bool is_utf8(struct bytes s)
{
    size_t len = 1;
    for (; s.len != 0 && len != 0; s = bytes_skip(s, len))
        len = text_utf8_len(s);
    return len != 0;
}

static bool is_whole(enum log_format format, struct bytes line)
{
    static char copy[LOG_LINE_MAX + 1];
    assert_true(line.len <= LOG_LINE_MAX);
    text_copy(copy, sizeof(copy), line);
    return is_utf8(line) && strlen(copy) == line.len &&
           (format == LOG_JSON ? is_json_line(copy) : is_text_line(copy));
}

/* Pieces whose escaped forms have 1, 2, 3, 4 and 6 bytes, so that every place of a cut occurs.
 */
static const char *const pieces[] = {
    "a", "\"", "\n", "\x01", "\x7f", "\xff", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x9a\xa2",
};

static size_t repeat(char *dst, size_t len, const char *piece)
{
    size_t used = 0;
    for (; used + strlen(piece) <= len; used += strlen(piece))
        memcpy(dst + used, piece, strlen(piece));
    return used;
}

static void a_cut_line_stays_whole(void **state)
{
    (void)state;
    static char value[LOG_LINE_MAX];
    for (unsigned format = 0; format < 2; format++) {
        for (size_t piece = 0; piece < ARRAY_LEN(pieces); piece++) {
            for (size_t len = 0; len < LOG_LINE_MAX; len++) {
                struct log_record r;
                log_begin_as(&r, (enum log_format)format, LOG_INFO, "event");
                struct bytes s = bytes_of(value, repeat(value, len, pieces[piece]));
                log_str(&r, "one", s);
                log_str(&r, "two", s);
                log_u64(&r, "n", 12345);
                log_str(&r, "three", s);
                log_us(&r, "seconds", len * 1000);
                log_err(&r, -FERRY_EQUOTA);
                struct bytes line = log_finish(&r);
                assert_true(is_whole((enum log_format)format, line));
            }
        }
    }
}

static void a_cut_line_says_so(void **state)
{
    (void)state;
    static char value[LOG_LINE_MAX];
    memset(value, 'a', sizeof(value));
    struct log_record r;
    log_begin_as(&r, LOG_JSON, LOG_INFO, "event");
    log_str(&r, "path", bytes_of(value, LOG_VALUE_MAX));
    struct bytes line = log_finish(&r);
    assert_memory_equal(line.data + line.len - 4, "a\"}\n", 4);
    log_begin_as(&r, LOG_JSON, LOG_INFO, "event");
    log_str(&r, "path", bytes_of(value, LOG_VALUE_MAX + 1));
    log_u64(&r, "bytes", 7); /* still has its place */
    line = log_finish(&r);
    assert_memory_equal(line.data + line.len - 25, "a\",\"bytes\":7,\"cut\":true}\n", 25);
    log_begin_as(&r, LOG_TEXT, LOG_INFO, "event");
    log_str(&r, "path", bytes_of(value, LOG_VALUE_MAX + 1));
    line = log_finish(&r);
    assert_memory_equal(line.data + line.len - 12, "a\" cut=true\n", 12);
}

static void too_many_fields_are_left_out_whole(void **state)
{
    (void)state;
    for (unsigned format = 0; format < 2; format++) {
        struct log_record r;
        log_begin_as(&r, (enum log_format)format, LOG_INFO, "event");
        for (unsigned i = 0; i < 200; i++)
            log_u64(&r, "number", i);
        assert_true(r.cut);
        assert_true(is_whole((enum log_format)format, log_finish(&r)));
    }
}

/* -- threads -- */

static atomic_uint lines_of_threads;

static void count_line(const char *line, size_t len)
{
    if (len != 0 && line[len - 1] == '\n')
        atomic_fetch_add(&lines_of_threads, 1);
}

static void *log_a_thousand(void *arg)
{
    for (unsigned i = 0; i < 1000; i++)
        log_event(LOG_ERROR, "e", "k", "v");
    return arg;
}

static void threads_log_while_the_settings_change(void **state)
{
    (void)state;
    pthread_t threads[2];
    log_setup(LOG_TEXT, LOG_DEBUG, count_line);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_a_thousand, NULL), 0);
    for (unsigned i = 0; i < 1000; i++)
        log_setup(i % 2 == 0 ? LOG_JSON : LOG_TEXT, (enum log_level)(i % 4), count_line);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&lines_of_threads), 2000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_lines_are_as_documented),
        TEST(json_lines_are_as_documented),
        TEST(an_event_with_one_detail_is_one_line),
        TEST(only_levels_that_are_on_reach_the_sink),
        TEST(an_audit_line_needs_no_sink_and_no_level),
        TEST(a_cut_line_stays_whole),
        TEST(a_cut_line_says_so),
        TEST(too_many_fields_are_left_out_whole),
        TEST(threads_log_while_the_settings_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
