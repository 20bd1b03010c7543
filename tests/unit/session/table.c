#include "session/table.h"

#include <errno.h>
#include <sys/socket.h>

#include "check.h"
#include "fixture.h"
#include "task/fd.h"

/* -- who -- */

static void list_sessions(void *arg)
{
    (void)arg;
    struct fixture f = {0};
    fixture_init(&f);
    struct session s[5];
    for (unsigned i = 0; i < 5; i++)
        TASK_ASSERT(fixture_enter(&f, &s[i], i + 1) == 0);
    TASK_ASSERT(session_count_here() == 5);
    TASK_ASSERT(fixture_login(&s[1], "ann", "right") == 0);
    TASK_ASSERT(task_sleep_until(clock_after(10 * USEC_PER_S)) == 0);
    s[0].active_at = clock_now() - USEC_PER_S;
    struct xfer_progress progress = {.file_bytes = 77, .moved_at = clock_now() - 5};
    s[1].progress = &progress;
    s[1].doing = "a verb that is longer than the line";

    struct session_line lines[4];
    TASK_ASSERT(session_list_here(0, lines, 2) == 2);
    TASK_ASSERT(lines[0].id == s[0].id && lines[1].id == s[1].id);
    TASK_ASSERT(strcmp(lines[0].protocol, "ftp") == 0 && lines[0].user[0] == '\0');
    TASK_ASSERT(strcmp(lines[0].peer, "127.0.0.1:4000") == 0);
    TASK_ASSERT(lines[0].age_us >= 10 * USEC_PER_S && lines[0].idle_us == USEC_PER_S);
    TASK_ASSERT(strcmp(lines[1].user, "ann") == 0 && lines[1].file_bytes == 77);
    TASK_ASSERT(strcmp(lines[1].doing, "a verb that is ") == 0 && lines[1].idle_us == 5);

    session_done(&s[2]);
    TASK_ASSERT(session_list_here(lines[1].id, lines, 4) == 2);
    TASK_ASSERT(lines[0].id == s[3].id && lines[1].id == s[4].id);
    TASK_ASSERT(session_list_here(lines[1].id, lines, 4) == 0);
    s[1].progress = NULL;
    for (unsigned i = 0; i < 5; i++)
        session_done(&s[i]);
    TASK_ASSERT(session_list_here(0, lines, 4) == 0);
    fixture_done(&f);
}

static void who_pages_through_the_worker_s_sessions_in_order_of_id(void **state)
{
    (void)state;
    run_deterministic(1, list_sessions, NULL);
}

/* -- kick, drain -- */

struct fake_stream { /* has a descriptor and nothing else */
    struct stream stream;
    struct io_fd *fd;
};

static struct io_fd *fake_fd(const struct stream *s)
{
    return ((const struct fake_stream *)s)->fd;
}

static const struct stream_ops fake_ops = {.name = "fake", .fd = fake_fd};

static void note_wake(void *arg)
{
    *(bool *)arg = true;
}

static void kick(void *arg)
{
    (void)arg;
    struct fixture f = {0};
    fixture_init(&f);
    struct session awake, dozing, deaf;
    TASK_ASSERT(fixture_enter(&f, &awake, 1) == 0);
    TASK_ASSERT(fixture_enter(&f, &dozing, 1) == 0);
    TASK_ASSERT(fixture_enter(&f, &deaf, 1) == 0); /* without a stream yet */

    struct event wake;
    event_init(&wake);
    awake.wake = &wake;
    int fds[2];
    TASK_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    struct fake_stream control = {.stream.ops = &fake_ops};
    TASK_ASSERT(io_fd_new(fds[0], &control.fd) == 0);
    io_fd_not_ready(control.fd, IO_READ, io_fd_edges(control.fd, IO_READ)); /* nothing came */
    dozing.control = &control.stream;
    struct scope scope;
    scope_init(&scope);
    bool is_woken = false;
    io_fd_doze(control.fd, &scope, "session", note_wake, note_wake, &is_woken, USEC_NEVER);

    task_yield();
    TASK_ASSERT(io_fd_is_dozing(control.fd) && !is_woken);
    TASK_ASSERT(!session_end_one(deaf.id + 1, SESSION_KICKED));
    TASK_ASSERT(session_end_one(awake.id, SESSION_KICKED));
    TASK_ASSERT(awake.end == SESSION_KICKED && wake.is_set);
    TASK_ASSERT(dozing.end == SESSION_RUNS && deaf.end == SESSION_RUNS);

    session_end_all(SESSION_SHUTDOWN);
    TASK_ASSERT(awake.end == SESSION_KICKED); /* the first reason stays */
    TASK_ASSERT(dozing.end == SESSION_SHUTDOWN && deaf.end == SESSION_SHUTDOWN);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    TASK_ASSERT(is_woken);

    scope_leave(&scope);
    io_fd_close(control.fd);
    (void)close(fds[1]);
    session_done(&awake);
    session_done(&dozing);
    session_done(&deaf);
    fixture_done(&f);
}

static void an_ended_session_is_woken_whether_it_is_awake_or_dozes(void **state)
{
    (void)state;
    run_deterministic(1, kick, NULL);
}

static void wait_long(void *arg)
{
    *(int *)arg = task_sleep_until(USEC_NEVER);
}

static void kick_in_a_wait(void *arg)
{
    (void)arg;
    struct fixture f = {0};
    fixture_init(&f);
    struct session s;
    struct event wake;
    event_init(&wake);
    TASK_ASSERT(fixture_enter(&f, &s, 1) == 0);
    s.wake = &wake;
    struct scope scope;
    scope_init(&scope);
    int result = 0;
    TASK_ASSERT(scope_start(&scope, "session", TASK_NORMAL, wait_long, &result, &s.task) == 0);
    task_yield();
    session_end_all(SESSION_SHUTDOWN);
    task_yield();
    TASK_ASSERT(result == 0); /* what it does may be finished */
    TASK_ASSERT(session_end_one(s.id, SESSION_KICKED));
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    TASK_ASSERT(result == -ECANCELED);
    scope_leave(&scope);
    session_done(&s);
    fixture_done(&f);
}

static void a_kick_ends_what_the_session_waits_for(void **state)
{
    (void)state;
    run_deterministic(1, kick_in_a_wait, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_pages_through_the_worker_s_sessions_in_order_of_id),
        cmocka_unit_test(an_ended_session_is_woken_whether_it_is_awake_or_dozes),
        cmocka_unit_test(a_kick_ends_what_the_session_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
