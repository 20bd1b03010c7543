#include <errno.h>
#include <linux/tcp.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "task/sys.h"
#include "unit/io/tcp_fixture.h"

#define STALL_US   (5 * USEC_PER_S)
#define BULK_BYTES (3 * 1024 * 1024)
#define STEP_BYTES (400 * 1000)

static uint8_t byte_at(size_t off)
{
    return (uint8_t)(off * 7 + off / 251);
}

/* -- bytes -- */

static void fill(uint8_t *data, size_t len, size_t off)
{
    for (size_t i = 0; i < len; i++)
        data[i] = byte_at(off + i);
}

static void send_bulk(void *arg)
{
    struct tcp_pair *p = arg;
    size_t off = 0;
    uint8_t *copy = mem_raw(STEP_BYTES);
    TASK_ASSERT(copy != NULL);
    while (off < BULK_BYTES) {
        struct room room;
        TASK_ASSERT(stream_room(p->client, BULK_BYTES - off, &room) == 0);
        fill(room.pieces[0].iov_base, room.len, off);
        off += room.len;
        TASK_ASSERT(stream_send(p->client, &room, room.len) == 0);
        size_t len = BULK_BYTES - off < STEP_BYTES ? BULK_BYTES - off : STEP_BYTES;
        fill(copy, len, off);
        struct iovec pieces[40]; /* more than one call takes */
        size_t done = 0;
        for (int i = 0; i < 40; i++) {
            size_t n = i == 39 ? len - done : len / 40;
            pieces[i] = (struct iovec){.iov_base = copy + done, .iov_len = n};
            done += n;
        }
        TASK_ASSERT(stream_write(p->client, pieces, 40) == 0);
        off += len;
    }
    mem_free(copy);
    TASK_ASSERT(stream_end(p->client, 0) == 0);
}

static void receive_bulk(void *arg)
{
    struct tcp_pair p;
    struct scope scope;
    size_t off = 0;
    (void)arg;
    scope_init(&scope);
    tcp_pair_open(&p, STALL_US);
    int small = 60000; /* so that many calls send a part of their pieces */
    TASK_ASSERT(tcp_set_nodelay(stream_fd(p.client)) == 0);
    TASK_ASSERT(sys_setsockopt(io_fd_number(stream_fd(p.client)), SOL_SOCKET, SO_SNDBUF, &small,
                               sizeof(small)) == 0);
    TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_bulk, &p, NULL) == 0);
    for (;;) {
        uint8_t some[500];
        ssize_t n = stream_read(p.server, some, sizeof(some));
        TASK_ASSERT(n >= 0);
        for (ssize_t i = 0; i < n; i++)
            TASK_ASSERT(some[i] == byte_at(off++));
        struct slices slices;
        TASK_ASSERT(stream_take(p.server, STEP_BYTES, &slices) == 0);
        TASK_ASSERT(slices.len <= STEP_BYTES);
        if (slices.len == 0)
            break;
        for (size_t i = 0; i < slices.len; i++)
            TASK_ASSERT(((uint8_t *)slices.pieces[0].iov_base)[i] == byte_at(off++));
        slices_drop(&slices);
    }
    TASK_ASSERT(off == BULK_BYTES);
    struct stream_info info;
    stream_info(p.client, &info);
    TASK_ASSERT(info.sent_bytes == BULK_BYTES && info.acked_bytes > 0);
    stream_info(p.server, &info);
    TASK_ASSERT(info.received_bytes == BULK_BYTES);
    scope_leave(&scope);
    tcp_pair_close(&p);
}

static void bulk_arrives_by_rooms_copies_slices_and_reads(void **state)
{
    (void)state;
    run_threaded(1, receive_bulk, NULL); /* the kernel's timers know no other clock */
}

/* -- stalls -- */

static int send_zeros(struct stream *s, size_t total)
{
    int r = 0;
    while (total > 0 && r == 0) {
        struct room room;
        TASK_ASSERT(stream_room(s, total, &room) == 0);
        memset(room.pieces[0].iov_base, 0, room.len);
        total -= room.len;
        r = stream_send(s, &room, room.len);
        TASK_ASSERT(room.stream == NULL);
    }
    return r;
}

static void stall(void *arg)
{
    struct tcp_pair p;
    struct slices slices;
    char c;
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    usec_t start = clock_now();
    TASK_ASSERT(stream_read(p.server, &c, 1) == -FERRY_ESTALLED);
    TASK_ASSERT(clock_now() - start >= STALL_US);
    TASK_ASSERT(stream_take(p.server, 10, &slices) == -FERRY_ESTALLED);
    TASK_ASSERT(send_zeros(p.client, 64 * 1024 * 1024) == -FERRY_ESTALLED);
    task_shield_begin(clock_now() + USEC_PER_S);
    start = clock_now();
    TASK_ASSERT(send_zeros(p.client, 1) == -FERRY_ESTALLED);
    TASK_ASSERT(clock_now() - start < STALL_US);
    task_shield_end();
    tcp_pair_close(&p);
}

static void a_peer_that_neither_sends_nor_reads_stalls_us_so_long_and_no_longer(void **state)
{
    (void)state;
    run_deterministic(1, stall, NULL);
}

struct slow {
    struct tcp_pair pair;
    size_t got;
    int sent;
};

static void send_to_slow(void *arg)
{
    struct slow *x = arg;
    x->sent = send_zeros(x->pair.client, 12 * 1024 * 1024);
    TASK_ASSERT(stream_end(x->pair.client, 0) == 0);
}

static uint64_t acked_by(const struct stream *s)
{
    struct stream_info info;
    stream_info(s, &info);
    return info.acked_bytes;
}

/* Reads until the other side has seen it: the kernel keeps quiet about less than a sixteenth of
 * its buffer, and its timers do not follow the clock of this runtime. */
static bool read_some(struct slow *x)
{
    uint64_t before = acked_by(x->pair.client);
    do {
        struct slices slices;
        int r = stream_take(x->pair.server, 64 * 1024, &slices);
        if (r < 0 || slices.len == 0)
            return false;
        x->got += slices.len;
        slices_drop(&slices);
        for (unsigned i = 0; i < 1000 && acked_by(x->pair.client) == before; i++)
            task_yield();
    } while (acked_by(x->pair.client) == before);
    return true;
}

/* The first third of it so slowly that several reads make no edge for the sender. */
static void read_slowly(void *arg)
{
    struct slow *x = arg;
    struct scope scope;
    usec_t start = clock_now();
    scope_init(&scope);
    tcp_pair_open(&x->pair, STALL_US);
    TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_to_slow, x, NULL) == 0);
    do {
        if (x->got < 4 * 1024 * 1024)
            TASK_ASSERT(task_sleep_until(clock_now() + STALL_US * 3 / 5) == 0);
    } while (read_some(x));
    TASK_ASSERT(clock_now() - start > 4 * STALL_US);
    scope_leave(&scope);
    tcp_pair_close(&x->pair);
}

static void a_slow_reader_has_not_stalled(void **state)
{
    (void)state;
    struct slow x = {.sent = -1};
    run_deterministic(1, read_slowly, &x);
    assert_int_equal(x.sent, 0);
}

/* -- ends -- */

static void reset(void *arg)
{
    struct tcp_pair p;
    char c;
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("unread")) == 0);
    TASK_ASSERT(stream_wait(p.server, NULL, USEC_NEVER) == 0);
    p.server = stream_free(p.server); /* with something unread: a reset */
    TASK_ASSERT(stream_read(p.client, &c, 1) == -FERRY_ECLOSED);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("more")) == -FERRY_ECLOSED);
    TASK_ASSERT(stream_end(p.client, USEC_NEVER) == 0); /* nothing more can come */
    tcp_pair_close(&p);
}

static void a_reset_reads_and_writes_as_closed(void **state)
{
    (void)state;
    run_deterministic(1, reset, NULL);
}

static void linger(void *arg)
{
    struct tcp_pair p;
    char text[10];
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("last words")) == 0);
    TASK_ASSERT(stream_write_bytes(p.server, BYTES_LIT("never read")) == 0);
    TASK_ASSERT(stream_end(p.client, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    TASK_ASSERT(stream_end(p.server, 0) == 0);
    TASK_ASSERT(stream_end(p.client, clock_now() + USEC_PER_S) == 0);
    p.client = stream_free(p.client);
    TASK_ASSERT(stream_read(p.server, text, sizeof(text)) == sizeof(text));
    TASK_ASSERT(stream_read(p.server, text, sizeof(text)) == 0);
    tcp_pair_close(&p);
}

static void a_lingering_end_does_not_eat_what_was_sent_last(void **state)
{
    (void)state;
    run_deterministic(1, linger, NULL);
}

/* -- waiting for two things -- */

static void wait_for_two(void *arg)
{
    struct tcp_pair p;
    struct event event;
    (void)arg;
    event_init(&event);
    tcp_pair_open(&p, STALL_US);
    /* the new descriptor counts as ready and has nothing to read */
    TASK_ASSERT(stream_wait(p.server, &event, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("x")) == 0);
    TASK_ASSERT(stream_wait(p.server, &event, clock_now() + USEC_PER_S) == 0);
    TASK_ASSERT(stream_wait(p.server, &event, clock_now() + USEC_PER_S) == 0);
    event_set(&event);
    TASK_ASSERT(stream_wait(p.server, &event, clock_now() + USEC_PER_S) == 1);
    event_clear(&event);
    char c;
    TASK_ASSERT(stream_read(p.server, &c, 1) == 1);
    TASK_ASSERT(stream_end(p.client, 0) == 0);
    TASK_ASSERT(stream_wait(p.server, &event, clock_now() + USEC_PER_S) == 0);
    TASK_ASSERT(stream_read(p.server, &c, 1) == 0);
    tcp_pair_close(&p);
}

static void a_wait_ends_by_bytes_or_event_and_not_by_a_guess(void **state)
{
    (void)state;
    run_deterministic(1, wait_for_two, NULL);
}

/* -- the socket's settings -- */

static int option(struct io_fd *f, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);
    TASK_ASSERT(sys_getsockopt(io_fd_number(f), IPPROTO_TCP, name, &value, &len) == 0);
    return value;
}

static void settings(void *arg)
{
    struct tcp_pair p;
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    struct io_fd *f = stream_fd(p.client);
    TASK_ASSERT(option(f, TCP_NODELAY) == 0);
    TASK_ASSERT(tcp_set_nodelay(f) == 0);
    TASK_ASSERT(option(f, TCP_NODELAY) == 1);
    tcp_refresh_lowat(f, false);
    TASK_ASSERT(option(f, TCP_NOTSENT_LOWAT) == 512 * 1024); /* no rate is known yet */
    tcp_refresh_lowat(f, true);
    TASK_ASSERT(option(f, TCP_NOTSENT_LOWAT) == 128 * 1024);
    tcp_pair_close(&p);
}

static void what_is_unsent_is_bounded(void **state)
{
    (void)state;
    run_deterministic(1, settings, NULL);
}

static void end_behind_a_byte(void *arg)
{
    struct tcp_pair p;
    char byte;
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    const struct io_fd *f = stream_fd(p.server);
    TASK_ASSERT(!tcp_has_ended(f));
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("x")) == 0);
    TASK_ASSERT(stream_end(p.client, 0) == 0);
    TASK_ASSERT(stream_wait(p.server, NULL, USEC_NEVER) == 0);
    TASK_ASSERT(!tcp_has_ended(f));
    TASK_ASSERT(stream_read(p.server, &byte, 1) == 1);
    TASK_ASSERT(stream_wait(p.server, NULL, USEC_NEVER) == 0);
    TASK_ASSERT(tcp_has_ended(f));
    tcp_pair_close(&p);
}

static void a_connection_has_ended_once_all_of_it_was_read(void **state)
{
    (void)state;
    run_deterministic(1, end_behind_a_byte, NULL);
}

static void causes_of_a_lost_connection_read_as_closed(void **state)
{
    (void)state;
    assert_int_equal(tcp_result(-EPIPE), -FERRY_ECLOSED);
    assert_int_equal(tcp_result(-ECONNRESET), -FERRY_ECLOSED);
    assert_int_equal(tcp_result(-ETIMEDOUT), -FERRY_ECLOSED);
    assert_int_equal(tcp_result(-EIO), -EIO);
    assert_int_equal(tcp_result(-ENOMEM), -ENOMEM);
    assert_int_equal(tcp_result(7), 7);
}

/* -- a read that gives less than was asked for -- */

static void read_behind_short_reads(void *arg)
{
    struct tcp_pair p;
    char some[16];
    int on = 1;
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    int client = io_fd_number(stream_fd(p.client));
    TASK_ASSERT(sys_setsockopt(io_fd_number(stream_fd(p.server)), SOL_SOCKET, SO_OOBINLINE, &on,
                               sizeof(on)) == 0);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("ab")) == 0);
    TASK_ASSERT(stream_wait(p.server, NULL, USEC_NEVER) == 0);
    TASK_ASSERT(stream_read(p.server, some, sizeof(some)) == 2);
    TASK_ASSERT(stream_wait(p.server, NULL, clock_now()) == -ETIMEDOUT);

    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("cd")) == 0);
    TASK_ASSERT(sys_send(client, "!", 1, MSG_OOB) == 1);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("ef")) == 0);
    size_t got = 0;
    while (got < 5) { /* it stops at the urgent byte, at least once */
        TASK_ASSERT(stream_wait(p.server, NULL, clock_after(STALL_US)) == 0);
        ssize_t n = stream_read(p.server, some + got, sizeof(some) - got);
        TASK_ASSERT(n > 0);
        got += (size_t)n;
    }
    TASK_ASSERT(memcmp(some, "cd!ef", 5) == 0);
    tcp_pair_close(&p);

    tcp_pair_open(&p, STALL_US);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("bye")) == 0);
    TASK_ASSERT(stream_end(p.client, 0) == 0);
    TASK_ASSERT(stream_wait(p.server, NULL, USEC_NEVER) == 0);
    TASK_ASSERT(stream_read(p.server, some, sizeof(some)) == 3);
    TASK_ASSERT(stream_wait(p.server, NULL, clock_after(STALL_US)) == 0);
    TASK_ASSERT(stream_read(p.server, some, sizeof(some)) == 0);
    tcp_pair_close(&p);
}

static void what_lies_behind_a_short_read_is_found(void **state)
{
    (void)state;
    run_deterministic(1, read_behind_short_reads, NULL);
}

#ifdef FERRY_FAULTS
static void fail_in_turn(void *arg)
{
    (void)arg;
    for (unsigned n = 1; n < 12; n++) {
        struct tcp_pair p;
        struct room room = {0};
        struct slices slices = {0};
        tcp_pair_open(&p, STALL_US);
        TASK_ASSERT(stream_write_bytes(p.server, BYTES_LIT("x")) == 0);
        fault_arm(n & 1 ? FAULT_SYSCALL : FAULT_ALLOC, (n + 1) / 2);
        int r = stream_room(p.client, 100, &room);
        if (r == 0)
            r = stream_send(p.client, &room, 10);
        if (r == 0)
            r = stream_take(p.client, 100, &slices);
        fault_arm(FAULT_SYSCALL, 0);
        fault_arm(FAULT_ALLOC, 0);
        TASK_ASSERT(r == 0 || r == -EIO || r == -ENOMEM);
        room_drop(&room);
        slices_drop(&slices);
        tcp_pair_close(&p);
    }
}

static void no_failed_call_leaks(void **state)
{
    (void)state;
    run_deterministic(1, fail_in_turn, NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_arrives_by_rooms_copies_slices_and_reads),
        cmocka_unit_test(a_peer_that_neither_sends_nor_reads_stalls_us_so_long_and_no_longer),
        cmocka_unit_test(a_slow_reader_has_not_stalled),
        cmocka_unit_test(a_reset_reads_and_writes_as_closed),
        cmocka_unit_test(a_lingering_end_does_not_eat_what_was_sent_last),
        cmocka_unit_test(a_wait_ends_by_bytes_or_event_and_not_by_a_guess),
        cmocka_unit_test(what_is_unsent_is_bounded),
        cmocka_unit_test(a_connection_has_ended_once_all_of_it_was_read),
        cmocka_unit_test(what_lies_behind_a_short_read_is_found),
        cmocka_unit_test(causes_of_a_lost_connection_read_as_closed),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_failed_call_leaks),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
