#include "session/session.h"

#include <errno.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/log.h"
#include "check.h"
#include "fixture.h"

static char log_text_seen[8192];

static void keep_log(const char *line, size_t len)
{
    size_t at = strlen(log_text_seen);
    TASK_ASSERT(at + len < sizeof(log_text_seen));
    memcpy(log_text_seen + at, line, len);
    log_text_seen[at + len] = '\0';
}

static int start_log(void **state)
{
    (void)state;
    log_text_seen[0] = '\0';
    log_setup(LOG_JSON, LOG_DEBUG, keep_log);
    return 0;
}

static int stop_log(void **state)
{
    (void)state;
    log_setup(LOG_TEXT, LOG_ERROR, NULL);
    return 0;
}

static void log_in_and_out(void *arg)
{
    (void)arg;
    struct fixture f = {.settings.timeouts.login_us = 60 * USEC_PER_S};
    fixture_init(&f);
    struct session s;
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0);
    TASK_ASSERT(s.id != 0 && s.account == NULL && s.vfs == NULL && s.share == NULL);
    TASK_ASSERT(s.login_deadline == clock_now() + 60 * USEC_PER_S);
    TASK_ASSERT(session_count_here() == 1 && f.shared->limits.unauthenticated == 1);

    TASK_ASSERT(fixture_login(&s, "ann", "right") == 0);
    TASK_ASSERT(strcmp(s.account->name, "ann") == 0 && s.vfs != NULL && s.share != NULL);
    TASK_ASSERT(s.account->share != NULL && s.account->rate_bucket != NULL);
    TASK_ASSERT(s.account->sessions == 1 && f.shared->limits.unauthenticated == 0);

    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S)) == 0);
    struct account *ann = s.account;
    session_logout(&s);
    TASK_ASSERT(s.account == NULL && s.vfs == NULL && s.share == NULL);
    TASK_ASSERT(ann->sessions == 0 && f.shared->limits.unauthenticated == 1);
    TASK_ASSERT(s.login_deadline == clock_now() + 60 * USEC_PER_S);
    session_logout(&s); /* twice is once */
    TASK_ASSERT(f.shared->limits.unauthenticated == 1);

    TASK_ASSERT(fixture_login(&s, "ann", "right") == 0);
    TASK_ASSERT(fixture_login(&s, "bob", "bobs") == 0); /* logs ann out */
    TASK_ASSERT(ann->sessions == 0 && strcmp(s.account->name, "bob") == 0);
    TASK_ASSERT(fixture_login(&s, "ann", "wrong") == -FERRY_EAUTH); /* and bob */
    TASK_ASSERT(s.account == NULL && f.shared->limits.unauthenticated == 1);
    TASK_ASSERT(fixture_login(&s, "ann", "right") == 0);
    session_done(&s);
    session_done(&s);
    TASK_ASSERT(ann->sessions == 0);
    fixture_done(&f);
}

static void a_login_gives_account_view_and_share_and_a_logout_takes_them(void **state)
{
    (void)state;
    run_deterministic(1, log_in_and_out, NULL);
}

static void reach_limits(void *arg)
{
    (void)arg;
    struct fixture f = {.settings.limits = {.per_account = 1, .per_address = 2}};
    fixture_init(&f);
    struct session a, b, c = {0};
    TASK_ASSERT(fixture_enter(&f, &a, 1) == 0 && fixture_enter(&f, &b, 1) == 0);
    TASK_ASSERT(b.id > a.id);
    TASK_ASSERT(fixture_enter(&f, &c, 1) == -FERRY_ELIMIT);
    session_done(&c);
    TASK_ASSERT(fixture_login(&a, "ann", "right") == 0);
    TASK_ASSERT(fixture_login(&b, "ann", "right") == -FERRY_ELIMIT);
    TASK_ASSERT(b.account == NULL && b.vfs == NULL && b.share == NULL);
    TASK_ASSERT(fixture_login(&b, "bob", "bobs") == 0);
    session_done(&a);
    TASK_ASSERT(fixture_login(&b, "ann", "right") == 0);
    session_done(&b);
    fixture_done(&f);
}

static void a_refused_session_or_login_leaves_nothing_counted(void **state)
{
    (void)state;
    run_deterministic(1, reach_limits, NULL);
}

static void guess(void *arg)
{
    (void)arg;
    struct fixture f = {.settings.ban_failures = 3};
    fixture_init(&f);
    struct session s, other;
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0);
    for (int i = 0; i < 3; i++)
        TASK_ASSERT(fixture_login(&s, i == 1 ? "nobody" : "ann", "wr0ng") == -FERRY_EAUTH);
    TASK_ASSERT(fixture_enter(&f, &other, 1) == -FERRY_EBANNED);
    session_done(&other);
    TASK_ASSERT(fixture_enter(&f, &other, 2) == 0);
    session_done(&other);
    TASK_ASSERT(task_sleep_until(clock_after(BAN_US)) == 0);
    TASK_ASSERT(fixture_enter(&f, &other, 1) == 0);
    TASK_ASSERT(fixture_login(&other, "ann", "right") == 0);
    session_done(&other);
    session_done(&s);
    fixture_done(&f);
}

static void failures_ban_the_host_and_are_logged_without_the_password(void **state)
{
    (void)state;
    run_deterministic(1, guess, NULL);
    assert_non_null(strstr(log_text_seen, "\"event\":\"login-failed\""));
    assert_non_null(strstr(log_text_seen, "\"user\":\"nobody\""));
    assert_non_null(strstr(log_text_seen, "\"error\":\"FERRY_EAUTH\""));
    assert_non_null(strstr(log_text_seen, "\"event\":\"banned\""));
    assert_non_null(strstr(log_text_seen, "\"event\":\"login\""));
    assert_null(strstr(log_text_seen, "wr0ng"));
    assert_null(strstr(log_text_seen, "right"));
}

/* Two sessions, every step; whatever fails, what was counted is uncounted. */
static int whole_life(struct fixture *f)
{
    struct session a = {0}, b = {0};
    int r = fixture_enter(f, &a, 1);
    if (r == 0)
        r = fixture_enter(f, &b, 2);
    if (r == 0)
        r = fixture_login(&a, "ann", "right");
    if (r == 0)
        r = fixture_login(&b, "ann", "right");
    if (r == 0) {
        session_logout(&a);
        r = fixture_login(&a, "bob", "bobs");
    }
    session_done(&b);
    session_done(&a);
    return r;
}

static void starve(void *arg)
{
    (void)arg;
    int r = -ENOMEM;
    for (uint64_t n = 1; r != 0; n++) {
        TASK_ASSERT(r == -ENOMEM && n < 100);
        struct fixture f = {.settings.limits = {.per_account = 5, .per_address = 5}};
        fixture_init(&f);
        fault_arm(FAULT_ALLOC, n);
        r = whole_life(&f);
        fault_arm(FAULT_ALLOC, 0);
        fixture_done(&f);
    }
    struct fixture f = {0};
    fixture_init(&f);
    r = -ENOMEM;
    for (uint64_t n = 1; r != 0; n++) {
        TASK_ASSERT(r == -ENOMEM && n < 100);
        struct session_shared *again = NULL;
        fault_arm(FAULT_ALLOC, n);
        r = session_shared_new(&f.settings, &again);
        fault_arm(FAULT_ALLOC, 0);
        session_shared_free(again);
    }
    fixture_done(&f);
}

static void any_failed_allocation_leaves_nothing_counted_and_nothing_behind(void **state)
{
    (void)state;
    stop_log(NULL);
    run_deterministic(1, starve, NULL);
}

static void meet_a_mapped_peer(void *arg)
{
    (void)arg;
    struct fixture f = {.settings.timeouts.login_us = 60 * USEC_PER_S};
    fixture_init(&f);
    struct addr mapped;
    struct session s;
    char text[ADDR_TEXT_MAX];
    TASK_ASSERT(addr_parse(BYTES_LIT("[::ffff:192.0.2.1]:4000"), &mapped) == 0);
    TASK_ASSERT(session_init(&s, f.shared, "ftp", &mapped, &mapped) == 0);
    TASK_ASSERT(strcmp(addr_format(&s.peer, text), "192.0.2.1:4000") == 0);
    TASK_ASSERT(strcmp(addr_format(&s.local, text), "192.0.2.1:4000") == 0);
    session_done(&s);
    fixture_done(&f);
}

static void a_mapped_address_is_kept_as_the_ipv4_address_that_it_is(void **state)
{
    (void)state;
    run_deterministic(1, meet_a_mapped_peer, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_login_gives_account_view_and_share_and_a_logout_takes_them, start_log, stop_log),
        cmocka_unit_test_setup_teardown(a_refused_session_or_login_leaves_nothing_counted,
                                        start_log, stop_log),
        cmocka_unit_test_setup_teardown(
            failures_ban_the_host_and_are_logged_without_the_password, start_log, stop_log),
        cmocka_unit_test_setup_teardown(
            any_failed_allocation_leaves_nothing_counted_and_nothing_behind, start_log,
            stop_log),
        cmocka_unit_test(a_mapped_address_is_kept_as_the_ipv4_address_that_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
