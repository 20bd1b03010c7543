#include "session/audit.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "check.h"
#include "fixture.h"

static char seen[2 * LOG_LINE_MAX];

static void keep_line(const char *line, size_t len)
{
    TASK_ASSERT(len < sizeof(seen));
    memcpy(seen, line, len);
    seen[len] = '\0';
}

static void write_records(void *arg)
{
    (void)arg;
    struct fixture f = {.settings.audit_sink = keep_line};
    f.settings.vfs.sync = VFS_SYNC_FILE;
    fixture_init(&f);
    struct session s;
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0);
    TASK_ASSERT(fixture_login(&s, "ann", "right") == 0);

    struct audit a = {.operation = "download",
                      .path = BYTES_LIT("/a \"b\"\r\n\x1b[0m"),
                      .offset = 10,
                      .bytes = 20,
                      .wire_bytes = 21,
                      .seconds_us = 1500000};
    session_audit(&s, &a);
    TASK_ASSERT(strncmp(seen, "{\"ts\":\"2026-01-01T", 18) == 0);
    TASK_ASSERT(strstr(seen,
                       "\"protocol\":\"ftp\",\"peer\":\"127.0.0.1:4000\",\"user\":\"ann\","
                       "\"operation\":\"download\",\"offset\":10,\"bytes\":20,"
                       "\"wire_bytes\":21,\"seconds\":1.500,\"result\":\"ok\","
                       "\"cipher\":\"none\",\"compression\":\"none\","
                       "\"path\":\"/a \\\"b\\\"\\r\\n\\u001b[0m\"}\n") != NULL);

    a = (struct audit){.operation = "upload", .path = BYTES_LIT("/u"), .result = -FERRY_EQUOTA};
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"result\":\"FERRY_EQUOTA\",\"cipher\":"));
    s.receives_zlib = true; /* all that comes, unless the transfer has its own */
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"compression\":\"zlib\","));
    a.operation = "download";
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"compression\":\"none\","));
    s.receives_zlib = false;
    s.sends_zlib = true; /* all that goes */
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"compression\":\"zlib\","));
    a.operation = "append";
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"compression\":\"none\","));
    a.operation = "upload";
    a.compression = "zlib:6";
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"compression\":\"zlib:6\","));
    s.sends_zlib = false;
    TASK_ASSERT(strstr(seen, "\"sync\":\"file\",\"path\":\"/u\"}"));

    a = (struct audit){
        .operation = "rename", .path = BYTES_LIT("/from"), .to = BYTES_LIT("/to")};
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"path\":\"/from\",\"to\":\"/to\"}\n"));
    TASK_ASSERT(strstr(seen, "sync") == NULL);

    static char longest[PATH_LEN_MAX];
    memset(longest, '\n', sizeof(longest)); /* the worst case of escaping */
    a = (struct audit){.operation = "append",
                       .path = bytes_of(longest, sizeof(longest)),
                       .to = bytes_of(longest, sizeof(longest)),
                       .bytes = UINT64_MAX,
                       .result = -ENOSPC};
    session_audit(&s, &a);
    TASK_ASSERT(strstr(seen, "\"result\":\"ENOSPC\",\"cipher\":") != NULL);
    size_t len = strlen(seen);
    TASK_ASSERT(len <= LOG_LINE_MAX && strcmp(seen + len - 13, ",\"cut\":true}\n") == 0);
    session_done(&s);
    fixture_done(&f);
}

static void a_record_is_one_line_of_json_with_every_field_and_no_control_character(void **state)
{
    (void)state;
    run_deterministic(1, write_records, NULL);
}

static void write_nowhere(void *arg)
{
    (void)arg;
    struct fixture f = {0};
    fixture_init(&f);
    struct session s;
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0);
    struct audit a = {.operation = "mkdir", .path = BYTES_LIT("/d")};
    session_audit(&s, &a);
    session_done(&s);
    fixture_done(&f);
}

static void without_a_sink_nothing_is_written(void **state)
{
    (void)state;
    seen[0] = '\0';
    run_deterministic(1, write_nowhere, NULL);
    assert_string_equal(seen, "");
}

static void begin_log(void *arg)
{
    (void)arg;
    struct fixture f = {0};
    fixture_init(&f);
    struct session s;
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0);
    struct log_record r;
    log_setup(LOG_JSON, LOG_INFO, keep_line);
    session_log_begin(&s, &r, LOG_INFO, "stalled");
    log_end(&r);
    TASK_ASSERT(strstr(seen, "\"event\":\"stalled\",\"session\":1,\"protocol\":\"ftp\","
                             "\"peer\":\"127.0.0.1:4000\"}\n") != NULL);
    TASK_ASSERT(fixture_login(&s, "ann", "right") == 0);
    session_log_begin(&s, &r, LOG_INFO, "stalled");
    log_end(&r);
    TASK_ASSERT(strstr(seen, "\"peer\":\"127.0.0.1:4000\",\"user\":\"ann\"}\n") != NULL);
    log_setup(LOG_TEXT, LOG_ERROR, NULL);
    session_done(&s);
    fixture_done(&f);
}

static void a_log_record_says_whose_session_it_is(void **state)
{
    (void)state;
    run_deterministic(1, begin_log, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_record_is_one_line_of_json_with_every_field_and_no_control_character),
        cmocka_unit_test(without_a_sink_nothing_is_written),
        cmocka_unit_test(a_log_record_says_whose_session_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
