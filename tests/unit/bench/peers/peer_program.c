#include "bench/peers/peer_program.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "task/sys.h"

#define LONG_US (60 * USEC_PER_S)

static struct buf output;

static int setup(void **state)
{
    (void)state;
    buf_init(&output, 64 * 1024);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_done(&output);
    return 0;
}

static int run(const char *script, usec_t timeout_us)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    return peer_program_run(argv, "/usr", timeout_us, &output);
}

static bool said(const char *text)
{
    return bytes_equal(buf_bytes(&output), bytes_str(text));
}

static void what_it_says_is_kept(void **state)
{
    (void)state;
    assert_int_equal(run("echo one; echo two >&2", LONG_US), 0);
    assert_true(said("one\ntwo\n"));
}

static void it_runs_in_the_folder_with_no_input_and_in_english(void **state)
{
    (void)state;
    assert_int_equal(run("pwd; cat; echo $LC_ALL $HOME", LONG_US), 0);
    assert_true(said("/usr\nC\n"));
}

static void its_failure_is_told(void **state)
{
    (void)state;
    assert_int_equal(run("echo why; exit 3", LONG_US), -ECANCELED);
    assert_true(said("why\n"));
    assert_int_equal(run("kill -9 $$", LONG_US), -ECANCELED);
}

static void one_that_is_not_there_is_told(void **state)
{
    (void)state;
    const char *const argv[] = {"/nonexistent/program", NULL};
    assert_int_equal(peer_program_run(argv, "/", LONG_US, &output), -ENOENT);
}

/* The sleeping child holds the pipe too: unless it is killed with the shell, the test hangs. */
static void one_that_takes_too_long_is_killed_with_what_it_started(void **state)
{
    (void)state;
    assert_int_equal(run("sleep 1000 & echo $!; sleep 1000", USEC_PER_S / 2), -ETIMEDOUT);
    char pid[24];
    snprintf(pid, sizeof(pid), "%.*s", (int)output.len - 1, (const char *)output.data);
    int fd = sys_pidfd_open((pid_t)strtol(pid, NULL, 10));
    if (fd == -ESRCH)
        return;
    assert_true(fd >= 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN}; /* a signal is on its way for a while */
    assert_int_equal(poll(&ended, 1, LONG_US / USEC_PER_MS), 1);
    sys_close(fd);
}

static void what_does_not_fit_does_not_stop_it(void **state)
{
    (void)state;
    assert_int_equal(run("head -c 1000000 /dev/zero; exit 0", LONG_US), 0);
    assert_true(output.len > 0 && output.len <= output.cap);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_it_says_is_kept),
        TEST(it_runs_in_the_folder_with_no_input_and_in_english),
        TEST(its_failure_is_told),
        TEST(one_that_is_not_there_is_told),
        TEST(one_that_takes_too_long_is_killed_with_what_it_started),
        TEST(what_does_not_fit_does_not_stop_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
