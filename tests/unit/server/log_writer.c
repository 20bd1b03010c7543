#include "server/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define RING     4096
#define PATIENCE (10 * USEC_PER_S)
#define TEXT_MAX 65536
#define LINE     "0123456789012345678901234567890123456789\n"
#define LINE_LEN (sizeof(LINE) - 1)

static int ends[2]; /* of a pipe */
static char text[TEXT_MAX];

static int setup(void **state)
{
    (void)state;
    return pipe2(ends, O_CLOEXEC);
}

static int teardown(void **state)
{
    (void)state;
    close(ends[0]);
    return 0;
}

/* Takes the pipe's end. */
static struct log_writer *writer(log_reopen_fn *reopen, void *arg)
{
    struct log_writer *w = NULL;
    assert_int_equal(log_writer_new(ends[1], LOG_TEXT, RING, reopen, arg, &w), 0);
    return w;
}

/* Until the other end is closed, or len bytes. */
static size_t read_text(int fd, size_t len)
{
    size_t have = 0;
    while (have < len) {
        ssize_t n = read(fd, text + have, len - have);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    text[have] = '\0';
    return have;
}

static void before_the_thread_lines_are_written_at_once(void **state)
{
    (void)state;
    struct log_writer *w = writer(NULL, NULL);
    log_writer_put(w, LINE, LINE_LEN);
    assert_int_equal(read_text(ends[0], LINE_LEN), LINE_LEN);
    assert_string_equal(text, LINE);
    assert_null(log_writer_free(w, PATIENCE));
}

static void lines_come_out_whole_and_in_order(void **state)
{
    (void)state;
    struct log_writer *w = writer(NULL, NULL);
    assert_int_equal(log_writer_start(w), 0);
    /* more than the ring, so that it wraps; read as fast as it comes */
    for (unsigned group = 0; group < 20; group++) {
        char lines[1024];
        int len = 0;
        for (unsigned i = 0; i < 50; i++) {
            char *line = lines + len;
            len += snprintf(line, 20, "line %u\n", group * 50 + i);
            log_writer_put(w, line, (size_t)(lines + len - line));
        }
        assert_int_equal(read_text(ends[0], (size_t)len), (size_t)len);
        assert_string_equal(text, lines);
    }
    assert_int_equal(log_writer_lost(w), 0);
    assert_null(log_writer_free(w, PATIENCE));
}

static void a_line_after_a_quiet_time_comes_out_without_another(void **state)
{
    (void)state;
    struct log_writer *w = writer(NULL, NULL);
    assert_int_equal(log_writer_start(w), 0);
    for (unsigned i = 0; i < 3; i++) {
        log_writer_put(w, LINE, LINE_LEN);
        assert_int_equal(read_text(ends[0], LINE_LEN), LINE_LEN);
        usleep(50000); /* most likely it sleeps by then; if not, less is tested */
    }
    assert_null(log_writer_free(w, PATIENCE));
}

static void what_was_put_is_written_before_the_end(void **state)
{
    (void)state;
    struct log_writer *w = writer(NULL, NULL);
    assert_int_equal(log_writer_start(w), 0);
    for (unsigned i = 0; i < 20; i++)
        log_writer_put(w, LINE, LINE_LEN);
    assert_null(log_writer_free(w, PATIENCE));
    assert_int_equal(read_text(ends[0], 20 * LINE_LEN), 20 * LINE_LEN);
}

static void a_stuck_pipe_costs_records_not_time_and_the_loss_is_told(void **state)
{
    (void)state;
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    struct log_writer *w = writer(NULL, NULL);
    assert_int_equal(log_writer_start(w), 0);
    unsigned put = 0;
    while (log_writer_lost(w) == 0 && put < 100000) {
        log_writer_put(w, LINE, LINE_LEN);
        put++;
    }
    assert_true(put < 100000); /* returned each time, though nobody reads */

    /* all that was not lost comes out, whole, and then the number that was */
    unsigned lines = 0;
    FILE *in = fdopen(dup(ends[0]), "r");
    bool told = false;
    while (!told && fgets(text, sizeof(text), in) != NULL) {
        told = strstr(text, "log_lost") != NULL;
        if (told)
            assert_non_null(strstr(text, "records=1"));
        else
            assert_string_equal(text, LINE);
        lines += !told;
    }
    assert_true(told);
    assert_int_equal(lines, put - 1);
    fclose(in);
    assert_null(log_writer_free(w, PATIENCE));
}

static void a_pipe_that_stays_stuck_does_not_hold_the_end(void **state)
{
    (void)state;
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    struct log_writer *w = writer(NULL, NULL);
    assert_int_equal(log_writer_start(w), 0);
    while (log_writer_lost(w) == 0)
        log_writer_put(w, LINE, LINE_LEN);
    assert_null(log_writer_free(w, 10 * USEC_PER_MS));
    /* the thread that was left behind ends when the pipe does, and frees what it has */
}

static int hand_over(void *arg)
{
    int fd = *(int *)arg;
    *(int *)arg = -1;
    return fd;
}

static void after_a_turn_lines_go_to_the_new_file(void **state)
{
    (void)state;
    int second[2];
    assert_int_equal(pipe2(second, O_CLOEXEC), 0);
    int next = second[1];
    struct log_writer *w = writer(hand_over, &next);
    assert_int_equal(log_writer_start(w), 0);
    log_writer_put(w, "old\n", 4);
    assert_int_equal(read_text(ends[0], 4), 4);
    log_writer_turn(w);
    /* it happens on the writer's thread: lines until then may go either way, none is lost */
    log_writer_put(w, "any\n", 4);
    assert_null(log_writer_free(w, PATIENCE));
    assert_int_equal(next, -1);
    assert_int_equal(fcntl(ends[1], F_GETFD), -1); /* each closed by the writer */
    assert_int_equal(fcntl(second[1], F_GETFD), -1);
    close(second[0]);
}

static int cannot(void *arg)
{
    if (write(*(int *)arg, "!", 1) != 1)
        abort();
    return -EACCES;
}

static void a_file_that_cannot_be_opened_again_leaves_the_old_one(void **state)
{
    (void)state;
    struct log_writer *w = writer(cannot, &ends[1]);
    assert_int_equal(log_writer_start(w), 0);
    log_writer_turn(w);
    assert_int_equal(read_text(ends[0], 1), 1); /* it was tried */
    log_writer_put(w, LINE, LINE_LEN);
    assert_null(log_writer_free(w, PATIENCE));
    assert_int_equal(read_text(ends[0], LINE_LEN), LINE_LEN);
    assert_string_equal(text, LINE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        TEST(before_the_thread_lines_are_written_at_once),
        TEST(lines_come_out_whole_and_in_order),
        TEST(a_line_after_a_quiet_time_comes_out_without_another),
        TEST(what_was_put_is_written_before_the_end),
        TEST(a_stuck_pipe_costs_records_not_time_and_the_loss_is_told),
        TEST(a_pipe_that_stays_stuck_does_not_hold_the_end),
        TEST(after_a_turn_lines_go_to_the_new_file),
        TEST(a_file_that_cannot_be_opened_again_leaves_the_old_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
