#include "bench/study/client.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"
#include "task/sys.h"

static const struct client_words words = {
    .host = "127.0.0.3",
    .port = "2222",
    .data = "/data/file",
    .name = "file",
    .datadir = "/data",
    .home = "/",
    .password = "secret",
    .ferry = "/bin/ferry",
    .into = "/in",
    .hostkey = "SHA256:x",
};

static void assert_filled(const char *text, const char *expected)
{
    struct buf b;
    buf_init(&b, 4096);
    assert_int_equal(client_fill(text, &words, &b), 0);
    assert_int_equal(buf_append_byte(&b, '\0'), 0);
    assert_string_equal((const char *)b.data, expected);
    buf_done(&b);
}

static void fills_words_in_and_leaves_other_signs_alone(void **state)
{
    (void)state;
    assert_filled("put @DATA@ ftp://me@@HOST@:@PORT@/@NAME@",
                  "put /data/file ftp://me@127.0.0.3:2222/file");
    assert_filled("-c aes128-gcm@openssh.com @", "-c aes128-gcm@openssh.com @");
    assert_filled("@SSH@", "-F //ssh_config -o BatchMode=yes -o Port=2222 -o LogLevel=ERROR");
}

static void refuses_a_word_that_it_does_not_know(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4096);
    assert_int_equal(client_fill("a @NOTHING@ b", &words, &b), -EINVAL);
    buf_done(&b);
}

/* Runs it to its end; what it said last is in *said. */
static int run(const char *command, bool is_shell, usec_t timeout_us, struct study_run *ret,
               struct buf *said)
{
    const struct client_call call = {
        .command = command,
        .is_shell = is_shell,
        .words = &words,
        .signals = -1,
        .timeout_us = timeout_us,
    };
    struct client client;
    assert_int_equal(client_start(&call, &client), 0);
    return client_wait(&client, &call, ret, said);
}

static void tells_how_a_program_ended_and_what_it_said_last(void **state)
{
    (void)state;
    struct study_run ended = {0};
    struct buf said;
    buf_init(&said, 4096);
    assert_int_equal(run("/bin/true", false, USEC_PER_S * 60, &ended, &said), 0);
    assert_int_equal(said.len, 0);
    assert_true(ended.real_s > 0);
    assert_int_equal(run("echo one; echo two; exit 1", true, USEC_PER_S * 60, &ended, &said),
                     -FERRY_EREFUSED);
    assert_true(bytes_equal(buf_bytes(&said), BYTES_LIT("two")));
    assert_int_equal(run("exit 2", true, USEC_PER_S * 60, &ended, &said), -EOPNOTSUPP);
    buf_done(&said);
}

static void kills_all_of_what_takes_too_long(void **state)
{
    (void)state;
    struct study_run ended = {0};
    struct buf said;
    buf_init(&said, 4096);
    assert_int_equal(run("sleep 600 | cat", true, USEC_PER_MS, &ended, &said), -ETIMEDOUT);
    buf_done(&said);
}

static void counts_the_time_of_what_the_program_started(void **state)
{
    (void)state;
    struct study_run ended = {0};
    struct buf said;
    buf_init(&said, 4096);
    assert_int_equal(run("head -c 30000000 /dev/zero | gzip -9 | cat > /dev/null", true,
                         USEC_PER_S * 120, &ended, &said),
                     0);
    assert_true(ended.user_s > 0);
    buf_done(&said);
}

struct marked {
    usec_t at;
    unsigned count;
};

static void mark(void *arg)
{
    struct marked *m = arg;
    m->at = clock_now();
    m->count++;
}

static void tells_when_a_time_has_passed_and_ends_a_program(void **state)
{
    (void)state;
    struct marked m = {0};
    struct study_run ended = {0};
    struct buf said;
    struct client client;
    buf_init(&said, 4096);
    const struct client_call call = {
        .command = "/bin/sleep 600",
        .words = &words,
        .signals = -1,
        .timeout_us = 300 * USEC_PER_MS,
        .at_mark = mark,
        .mark_arg = &m,
        .mark_us = 100 * USEC_PER_MS,
    };
    assert_int_equal(client_start(&call, &client), 0);
    assert_int_equal(client_wait(&client, &call, &ended, &said), -ETIMEDOUT);
    assert_int_equal(m.count, 1);
    assert_true(m.at >= client.began + call.mark_us);
    buf_done(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_words_in_and_leaves_other_signs_alone),
        cmocka_unit_test(refuses_a_word_that_it_does_not_know),
        cmocka_unit_test(tells_how_a_program_ended_and_what_it_said_last),
        cmocka_unit_test(kills_all_of_what_takes_too_long),
        cmocka_unit_test(counts_the_time_of_what_the_program_started),
        cmocka_unit_test(tells_when_a_time_has_passed_and_ends_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
