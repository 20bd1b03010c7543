#include "io/fd_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fault.h"
#include "check.h"
#include "io/chunk.h"
#include "runtime_fixture.h"

#define LARGE (1024 * 1024)

static void run(task_fn *fn, void *arg)
{
    (void)signal(SIGPIPE, SIG_IGN);
    run_deterministic(1, fn, arg);
}

static void open_pair(int in, int out, struct stream **ret)
{
    TASK_ASSERT(fd_stream_new(in, out, 0, ret) == 0);
}

static bool is_blocking(int fd)
{
    return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

/* Two streams whose pipes are each other's. */
struct both {
    struct stream *a, *b;
};

static void open_both(struct both *both)
{
    int there[2], back[2];
    TASK_ASSERT(pipe(there) == 0 && pipe(back) == 0);
    open_pair(back[0], there[1], &both->a);
    open_pair(there[0], back[1], &both->b);
}

/* The loop hears of what has come. */
static void let_loop_look(void)
{
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
}

/* -- pipes -- */

static void send_large(void *arg)
{
    struct both *both = arg;
    static uint8_t data[LARGE];
    for (size_t i = 0; i < LARGE; i++)
        data[i] = (uint8_t)(i * 7);
    TASK_ASSERT(stream_write_bytes(both->a, bytes_of(data, LARGE / 2)) == 0);
    for (size_t done = LARGE / 2; done < LARGE;) {
        struct room room;
        TASK_ASSERT(stream_room(both->a, LARGE - done, &room) == 0);
        memcpy(room.pieces[0].iov_base, data + done, room.len);
        size_t len = room.len;
        TASK_ASSERT(stream_send(both->a, &room, len) == 0);
        done += len;
    }
    TASK_ASSERT(stream_end(both->a, 0) == 0);
    TASK_ASSERT(stream_write_bytes(both->a, BYTES_LIT("x")) == -FERRY_ECLOSED);
}

static void move_large(void *arg)
{
    (void)arg;
    struct both both;
    struct scope scope;
    open_both(&both);
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_large, &both, NULL) == 0);
    size_t done = 0;
    for (;;) {
        uint8_t few[3];
        struct slices slices;
        ssize_t n = stream_read(both.b, few, sizeof(few));
        TASK_ASSERT(n >= 0);
        for (ssize_t i = 0; i < n; i++, done++)
            TASK_ASSERT(few[i] == (uint8_t)(done * 7));
        TASK_ASSERT(stream_take(both.b, 5000, &slices) == 0);
        if (slices.len == 0)
            break;
        TASK_ASSERT(slices.len <= 5000);
        for (size_t i = 0; i < slices.len; i++, done++)
            TASK_ASSERT(((uint8_t *)slices.pieces[0].iov_base)[i] == (uint8_t)(done * 7));
        slices_drop(&slices);
    }
    TASK_ASSERT(done == LARGE);
    TASK_ASSERT(stream_wait(both.b, NULL, USEC_NEVER) == 0); /* the end can be read */
    scope_leave(&scope);
    (void)stream_free(both.a);
    (void)stream_free(both.b);
}

static void pipes_carry_all_bytes_in_order_and_the_end(void **state)
{
    (void)state;
    run(move_large, NULL);
}

static void wait_for_nothing(void *arg)
{
    (void)arg;
    struct both both;
    open_both(&both);
    TASK_ASSERT(stream_wait(both.b, NULL, clock_now()) == -ETIMEDOUT);
    TASK_ASSERT(stream_write_bytes(both.a, BYTES_LIT("abcd")) == 0);
    let_loop_look();
    TASK_ASSERT(stream_wait(both.b, NULL, clock_now()) == 0);
    uint8_t data[4];
    TASK_ASSERT(stream_read(both.b, data, 4) == 4 && memcmp(data, "abcd", 4) == 0);
    TASK_ASSERT(stream_wait(both.b, NULL, clock_now()) == -ETIMEDOUT);
    struct event event;
    event_init(&event);
    event_set(&event);
    TASK_ASSERT(stream_wait(both.b, &event, USEC_NEVER) == 1);
    both.a = stream_free(both.a);
    let_loop_look();
    TASK_ASSERT(stream_wait(both.b, NULL, clock_now()) == 0);
    TASK_ASSERT(stream_read(both.b, data, 4) == 0);
    TASK_ASSERT(stream_write_bytes(both.b, BYTES_LIT("x")) == -FERRY_ECLOSED);
    (void)stream_free(both.b);
}

static void waiting_knows_whether_there_is_something(void **state)
{
    (void)state;
    run(wait_for_nothing, NULL);
}

static void stall(void *arg)
{
    (void)arg;
    struct both both;
    uint8_t byte;
    open_both(&both);
    both.a->stall_us = both.b->stall_us = USEC_PER_S;
    TASK_ASSERT(stream_read(both.b, &byte, 1) == -FERRY_ESTALLED);
    int r = 0;
    while (r == 0) {
        static const uint8_t zeros[4096];
        r = stream_write_bytes(both.a, bytes_of(zeros, sizeof(zeros)));
    }
    TASK_ASSERT(r == -FERRY_ESTALLED);
    (void)stream_free(both.a);
    (void)stream_free(both.b);
}

static void a_peer_that_does_nothing_is_waited_for_only_so_long(void **state)
{
    (void)state;
    run(stall, NULL);
}

/* -- other kinds -- */

static void use_socket(void *arg)
{
    (void)arg;
    int pair[2];
    struct stream *s;
    char data[8];
    TASK_ASSERT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    open_pair(pair[0], pair[0], &s);
    TASK_ASSERT(stream_write_bytes(s, BYTES_LIT("out")) == 0);
    TASK_ASSERT(read(pair[1], data, sizeof(data)) == 3);
    TASK_ASSERT(write(pair[1], "in", 2) == 2);
    TASK_ASSERT(stream_read(s, data, sizeof(data)) == 2);
    TASK_ASSERT(stream_end(s, 0) == 0);
    TASK_ASSERT(read(pair[1], data, sizeof(data)) == 0);
    close(pair[1]);
    TASK_ASSERT(stream_end(s, USEC_NEVER) == 0);
    (void)stream_free(s);
}

static void one_socket_is_both_directions(void **state)
{
    (void)state;
    run(use_socket, NULL);
}

static void use_files(void *arg)
{
    const char *path = arg;
    struct stream *s;
    uint8_t data[16];
    int in = open(path, O_RDONLY), out = open("/dev/null", O_WRONLY);
    TASK_ASSERT(in >= 0 && out >= 0);
    open_pair(in, out, &s);
    TASK_ASSERT(stream_wait(s, NULL, clock_now()) == 0);
    TASK_ASSERT(stream_read(s, data, sizeof(data)) == 8 && memcmp(data, "contents", 8) == 0);
    TASK_ASSERT(stream_write_bytes(s, BYTES_LIT("nowhere")) == 0);
    TASK_ASSERT(stream_read(s, data, sizeof(data)) == 0);
    TASK_ASSERT(stream_end(s, USEC_NEVER) == 0);
    (void)stream_free(s);
}

static void what_epoll_refuses_works(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-fd-stream-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "contents", 8), 8);
    close(fd);
    run(use_files, path);
    assert_int_equal(unlink(path), 0);
}

static void leave_as_found(void *arg)
{
    (void)arg;
    int in[2], out[2];
    struct stream *s;
    TASK_ASSERT(pipe(in) == 0 && pipe(out) == 0);
    int in_too = dup(in[0]), out_too = dup(out[1]);
    open_pair(in[0], out[1], &s);
    TASK_ASSERT(!is_blocking(in_too) && !is_blocking(out_too));
    (void)stream_free(s);
    TASK_ASSERT(is_blocking(in_too) && is_blocking(out_too));
    close(in_too);
    close(out_too);
    close(in[1]);
    close(out[0]);
}

static void descriptors_are_blocking_again_for_who_shares_them(void **state)
{
    (void)state;
    run(leave_as_found, NULL);
}

static void fail_each(void *arg)
{
    const enum fault_kind *kind = arg;
    int r = -1;
    for (uint64_t n = 1; r < 0 && n < 20; n++) {
        int in[2], out[2];
        struct stream *s = NULL;
        TASK_ASSERT(pipe(in) == 0 && pipe(out) == 0);
        fault_arm(*kind, n);
        r = fd_stream_new(in[0], out[1], 0, &s);
        fault_arm(*kind, 0);
        TASK_ASSERT((r == 0) == (s != NULL));
        if (r == 0)
            (void)stream_free(s);
        task_yield(); /* closed io_fds go at the end of a turn */
        close(in[1]);
        close(out[0]);
    }
    TASK_ASSERT(r == 0);
}

static void a_stream_that_is_not_made_closes_both(void **state)
{
    (void)state;

    const enum fault_kind kinds[] = {FAULT_SYSCALL, FAULT_ALLOC};

    int before = dup(0);
    close(before);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        enum fault_kind kind = kinds[i];
        run(fail_each, &kind);
    }
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_carry_all_bytes_in_order_and_the_end),
        cmocka_unit_test(waiting_knows_whether_there_is_something),
        cmocka_unit_test(a_peer_that_does_nothing_is_waited_for_only_so_long),
        cmocka_unit_test(one_socket_is_both_directions),
        cmocka_unit_test(what_epoll_refuses_works),
        cmocka_unit_test(descriptors_are_blocking_again_for_who_shares_them),
        cmocka_unit_test(a_stream_that_is_not_made_closes_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
