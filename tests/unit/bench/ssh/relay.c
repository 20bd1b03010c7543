#include "bench/ssh/relay.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "io/tcp.h"
#include "runtime_fixture.h"

#define TRIP_US  (40 * USEC_PER_MS)
#define STALL_US (20 * USEC_PER_S)
#define LEN      3000000u

/* -- a far end that sends back what comes, or hangs up at once -- */

struct far_end {
    struct listener *listener;
    struct addr addr;
    bool hangs_up;
    struct event accepted;
};

static struct stream *stream_of(int fd)
{
    struct io_fd *io;
    struct stream *stream;
    TASK_ASSERT(io_fd_new(fd, &io) == 0);
    TASK_ASSERT(tcp_stream_new(io, STALL_US, &stream) == 0);
    return stream;
}

static void far_main(void *arg)
{
    struct far_end *f = arg;
    struct addr peer;
    int fd;
    if (listener_accept(f->listener, BYTES_NONE, USEC_NEVER, &fd, &peer) < 0)
        return;
    event_set(&f->accepted);
    struct stream *stream = stream_of(fd);
    for (int r = f->hangs_up ? -1 : 0; r == 0;) {
        struct slices in;
        r = stream_take(stream, 65536, &in);
        if (r < 0 || in.len == 0)
            break;
        r = stream_write(stream, in.pieces, (int)in.count);
        slices_drop(&in);
    }
    stream_free(stream);
}

static struct relay *begin(struct far_end *far, struct scope *scope)
{
    int fd;
    struct relay *relay;
    scope_init(scope);
    event_init(&far->accepted);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &far->addr) == 0);
    TASK_ASSERT(tcp_listen(&far->addr, 8, &fd) == 0);
    TASK_ASSERT(listener_new(fd, &far->listener) == 0);
    TASK_ASSERT(scope_start(scope, "far end", TASK_NORMAL, far_main, far, NULL) == 0);
    TASK_ASSERT(relay_new(&far->addr, TRIP_US, &relay) == 0);
    return relay;
}

static void end(struct relay *relay, struct far_end *far, struct scope *scope)
{
    relay_free(relay);
    scope_leave(scope);
    listener_free(far->listener);
}

static struct stream *connect_to(const struct relay *relay)
{
    struct io_fd *io;
    struct stream *stream;
    TASK_ASSERT(tcp_connect(relay_addr(relay), NULL, clock_after(STALL_US), &io) == 0);
    TASK_ASSERT(tcp_stream_new(io, STALL_US, &stream) == 0);
    return stream;
}

/* -- tests -- */

static usec_t trip_us;

static void trip_main(void *arg)
{
    (void)arg;
    struct far_end far = {0};
    struct scope scope;
    struct relay *relay = begin(&far, &scope);
    struct stream *stream = connect_to(relay);
    uint8_t byte = 7;
    usec_t began = clock_now();
    TASK_ASSERT(stream_write_bytes(stream, bytes_of(&byte, 1)) == 0);
    byte = 0;
    TASK_ASSERT(stream_read(stream, &byte, 1) == 1);
    trip_us = clock_now() - began;
    TASK_ASSERT(byte == 7);
    stream_free(stream);
    end(relay, &far, &scope);
}

/* At least that is no matter of how busy the machine is. */
static void a_byte_comes_back_no_sooner_than_after_a_round_trip(void **state)
{
    (void)state;
    run_threaded(1, trip_main, NULL);
    assert_true(trip_us >= TRIP_US);
}

static uint8_t *got;
static size_t got_len;

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 13);
}

static void write_main(void *arg)
{
    uint8_t *data = mem_raw(LEN);
    TASK_ASSERT(data != NULL);
    for (size_t i = 0; i < LEN; i++)
        data[i] = byte_at(i);
    TASK_ASSERT(stream_write_bytes(arg, bytes_of(data, LEN)) == 0);
    TASK_ASSERT(stream_end(arg, 0) == 0);
    mem_free(data);
}

static void bulk_main(void *arg)
{
    (void)arg;
    struct far_end far = {0};
    struct scope scope, writers;
    struct relay *relay = begin(&far, &scope);
    struct stream *stream = connect_to(relay);
    scope_init(&writers);
    TASK_ASSERT(scope_start(&writers, "writer", TASK_NORMAL, write_main, stream, NULL) == 0);
    ssize_t n = 1;
    while (n > 0 && got_len < LEN) {
        n = stream_read(stream, got + got_len, LEN - got_len);
        got_len += n > 0 ? (size_t)n : 0;
    }
    uint8_t more;
    TASK_ASSERT(stream_read(stream, &more, 1) == 0); /* the end comes through, too */
    scope_leave(&writers);
    stream_free(stream);
    end(relay, &far, &scope);
}

static void all_bytes_come_through_in_their_order_and_then_the_end(void **state)
{
    (void)state;
    got = calloc(1, LEN);
    got_len = 0;
    assert_non_null(got);
    run_threaded(1, bulk_main, NULL);
    assert_int_equal(got_len, LEN);
    for (size_t i = 0; i < LEN; i++)
        if (got[i] != byte_at(i))
            fail_msg("byte %zu is another one", i);
    free(got);
}

static ssize_t read_result;

static void hang_up_main(void *arg)
{
    (void)arg;
    struct far_end far = {.hangs_up = true};
    struct scope scope;
    struct relay *relay = begin(&far, &scope);
    struct stream *stream = connect_to(relay);
    uint8_t byte;
    read_result = stream_read(stream, &byte, 1);
    stream_free(stream);
    end(relay, &far, &scope);
}

static void who_connects_hears_that_the_far_end_hung_up(void **state)
{
    (void)state;
    read_result = 1;
    run_threaded(1, hang_up_main, NULL);
    assert_int_equal(read_result, 0);
}

static void cut_main(void *arg)
{
    (void)arg;
    struct far_end far = {0};
    struct scope scope;
    struct relay *relay = begin(&far, &scope);
    struct stream *stream = connect_to(relay);
    uint8_t data[1000] = {0};
    TASK_ASSERT(stream_write_bytes(stream, bytes_of(data, sizeof(data))) == 0);
    TASK_ASSERT(event_wait(&far.accepted, clock_after(STALL_US)) == 0);
    end(relay, &far, &scope);
    read_result = stream_read(stream, data, 1);
    stream_free(stream);
}

static void freeing_it_ends_what_is_under_way(void **state)
{
    (void)state;
    read_result = 1;
    run_threaded(1, cut_main, NULL);
    assert_true(read_result <= 0);
}

static struct relay_quality quality;
static int test_result;

static void test_main(void *arg)
{
    (void)arg;
    test_result = relay_test(TRIP_US, &quality);
}

static void it_measures_itself(void **state)
{
    (void)state;
    run_threaded(1, test_main, NULL);
    assert_int_equal(test_result, 0);
    assert_true(quality.round_trip_us >= TRIP_US);
    assert_true(quality.mb_per_s > 0);
}

static struct relay_quality shaped;

static void rate_main(void *arg)
{
    TASK_ASSERT(relay_test_shaped(arg, &shaped) == 0);
}

/* The sockets of the test's own ends hold some of it, which is a small part of two seconds. */
static void nothing_goes_through_faster_than_the_rate(void **state)
{
    (void)state;
    struct relay_path path = {.bytes_per_s = 1024 * 1024};
    run_threaded(1, rate_main, &path);
    assert_true(shaped.mb_per_s > 0 && shaped.mb_per_s < 1.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_goes_through_faster_than_the_rate),
        cmocka_unit_test(a_byte_comes_back_no_sooner_than_after_a_round_trip),
        cmocka_unit_test(all_bytes_come_through_in_their_order_and_then_the_end),
        cmocka_unit_test(who_connects_hears_that_the_far_end_hung_up),
        cmocka_unit_test(freeing_it_ends_what_is_under_way),
        cmocka_unit_test(it_measures_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
