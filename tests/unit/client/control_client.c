#include "client/control_client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "client/command.h"
#include "session/control_path.h"

static char dir[64];
static int dir_fd, listening;
static const char *script; /* what the server says; NULL: it hangs up at once */
static char heard[256];
static int objects;
static char complaint[512]; /* what went to standard error */

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/ferry-client-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct sockaddr_un addr;
    socklen_t len = control_socket_addr(dir_fd, &addr);
    listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    objects = 0;
    heard[0] = '\0';
    return bind(listening, (struct sockaddr *)&addr, len) < 0 || listen(listening, 1) < 0;
}

static int teardown(void **state)
{
    (void)state;
    close(listening);
    unlinkat(dir_fd, CONTROL_SOCKET_NAME, 0);
    close(dir_fd);
    return rmdir(dir);
}

static void *play(void *arg)
{
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (script != NULL) {
        ssize_t n = read(fd, heard, sizeof(heard) - 1);
        heard[n > 0 ? n : 0] = '\0';
        if (write(fd, script, strlen(script)) < 0)
            abort();
    }
    close(fd);
    return arg;
}

static void count_object(const json_t *object, void *arg)
{
    ++*(int *)arg;
    if (json_integer_value(json_object_get(object, "id")) != *(int *)arg)
        abort();
}

/* Asks while standard error goes into `complaint`. */
static int ask(const char *state_dir)
{
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    int code = control_ask(state_dir, json_pack("{s:s}", "op", "who"), count_object, &objects);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t n = read(ends[0], complaint, sizeof(complaint) - 1);
    complaint[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    return code;
}

static int ask_server(const char *says)
{
    pthread_t server;
    script = says;
    assert_int_equal(pthread_create(&server, NULL, play, NULL), 0);
    int code = ask(dir);
    assert_int_equal(pthread_join(server, NULL), 0);
    return code;
}

static void every_object_but_the_last_is_handed_on(void **state)
{
    (void)state;
    assert_int_equal(ask_server("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"end\":true}\n"),
                     EXIT_OK);
    assert_string_equal(heard, "{\"op\":\"who\"}\n");
    assert_int_equal(objects, 3);
    assert_null(strstr(complaint, "ferry:"));
}

static void the_server_s_complaint_is_shown(void **state)
{
    (void)state;
    assert_int_equal(ask_server("{\"end\":true,\"error\":\"there is no such session\"}\n"),
                     EXIT_FAILED);
    assert_non_null(strstr(complaint, "ferry: there is no such session\n"));
}

static void an_answer_without_an_end_is_a_failure(void **state)
{
    (void)state;
    assert_int_equal(ask_server("{\"id\":1}\n"), EXIT_FAILED);
    assert_int_equal(objects, 1);
    assert_non_null(strstr(complaint, dir));
    assert_int_equal(ask_server(NULL), EXIT_FAILED);
}

static void an_answer_that_is_not_json_is_a_failure(void **state)
{
    (void)state;
    assert_int_equal(ask_server("hello\n"), EXIT_FAILED);
    assert_int_equal(objects, 0);
}

static void a_line_without_end_is_a_failure(void **state)
{
    (void)state;
    static char line[4 * CONTROL_REPLY_MAX];
    memset(line, 'x', sizeof(line) - 1);
    assert_int_equal(ask_server(line), EXIT_FAILED);
}

static void without_a_server_that_is_what_it_says(void **state)
{
    (void)state;
    char expected[256];
    close(listening);
    assert_int_equal(ask(dir), EXIT_NO_LOGIN); /* its socket is still there */
    snprintf(expected, sizeof(expected),
             "ferry: no ferryd is running with state directory %s (see --state)\n", dir);
    assert_non_null(strstr(complaint, expected));
    assert_int_equal(ask("/nonexistent"), EXIT_NO_LOGIN);
    assert_non_null(
        strstr(complaint, "no ferryd is running with state directory /nonexistent"));
    listening = -1;
}

int main(void)
{
    json_set_alloc_funcs(mem_raw, mem_free);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_object_but_the_last_is_handed_on),
        TEST(the_server_s_complaint_is_shown),
        TEST(an_answer_without_an_end_is_a_failure),
        TEST(an_answer_that_is_not_json_is_a_failure),
        TEST(a_line_without_end_is_a_failure),
        TEST(without_a_server_that_is_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
