#include "session/transfer.h"

#include "base/err.h"
#include "check.h"
#include "fixture.h"

static void move_two(void *arg)
{
    (void)arg;
    struct fixture f = {.settings.timeouts.stall_us = 7 * USEC_PER_S};
    struct xfer_progress first = {0}, second = {0};
    struct session s;
    fixture_init(&f);
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0 && fixture_login(&s, "ann", "right") == 0);

    const struct xfer_request request = session_transfer_begin(&s, "scp", 5, &first);
    TASK_ASSERT(request.length == 5 && request.stall_us == 7 * USEC_PER_S);
    TASK_ASSERT(request.buckets[0] == s.account->rate_bucket && request.progress == &first);
    TASK_ASSERT(s.progress == &first && strcmp(s.doing, "scp") == 0);

    (void)session_transfer_begin(&s, "tar", 5, &second);
    session_transfer_end(&s, &first);
    TASK_ASSERT(s.progress == &second && strcmp(s.doing, "tar") == 0);
    session_transfer_end(&s, &second);
    TASK_ASSERT(s.progress == NULL && strcmp(s.doing, "idle") == 0);

    session_done(&s);
    fixture_done(&f);
}

static void the_transfer_that_began_last_is_shown(void **state)
{
    (void)state;
    run_deterministic(1, move_two, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_transfer_that_began_last_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
