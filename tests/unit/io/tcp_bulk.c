#include "io/tcp_bulk.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "unit/io/tcp_fixture.h"

#define STALL_US   (5 * USEC_PER_S)
#define FILE_BYTES (3 * 1024 * 1024 + 5)
#define OFFSET     1000
#define PART_BYTES (FILE_BYTES - OFFSET - 7)

static uint8_t byte_at(size_t off)
{
    return (uint8_t)(off * 7 + off / 251);
}

static int new_file(void)
{
    int fd = memfd_create("bulk", MFD_CLOEXEC);
    uint8_t *data = mem_raw(FILE_BYTES);
    TASK_ASSERT(fd >= 0 && data != NULL);
    for (size_t i = 0; i < FILE_BYTES; i++)
        data[i] = byte_at(i);
    TASK_ASSERT(write(fd, data, FILE_BYTES) == FILE_BYTES);
    mem_free(data);
    return fd;
}

struct sending {
    struct tcp_pair pair;
    struct file_part part;
    int result;
    uint64_t moved;
};

static void send_part(void *arg)
{
    struct sending *s = arg;
    s->result = tcp_send_file(stream_fd(s->pair.client), &s->part, STALL_US, &s->moved);
    TASK_ASSERT(stream_end(s->pair.client, 0) == 0);
}

/* Opens a pair and starts the sender of a part of a new file. */
static void start_sending(struct sending *s, struct scope *scope)
{
    tcp_pair_open(&s->pair, STALL_US);
    s->part.fd = new_file();
    scope_init(scope);
    TASK_ASSERT(scope_start(scope, "sender", TASK_NORMAL, send_part, s, NULL) == 0);
}

static void end_sending(struct sending *s, struct scope *scope)
{
    TASK_ASSERT(scope_wait(scope, USEC_NEVER) == 0);
    scope_leave(scope);
    close(s->part.fd);
    tcp_pair_close(&s->pair);
}

static void read_a_part(void *arg)
{
    struct sending s = {.part = {.offset = OFFSET, .len = PART_BYTES}};
    struct scope scope;
    size_t off = OFFSET;
    (void)arg;
    start_sending(&s, &scope);
    for (;;) {
        uint8_t some[1000];
        ssize_t n = stream_read(s.pair.server, some, sizeof(some));
        TASK_ASSERT(n >= 0);
        if (n == 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            TASK_ASSERT(some[i] == byte_at(off++));
    }
    TASK_ASSERT(off == OFFSET + PART_BYTES);
    end_sending(&s, &scope);
    TASK_ASSERT(s.result == 0 && s.moved == PART_BYTES);
}

static void a_part_of_a_file_arrives_byte_for_byte(void **state)
{
    (void)state;
    run_deterministic(1, read_a_part, NULL);
}

static void discard_a_part(void *arg)
{
    struct sending s = {.part = {.offset = OFFSET, .len = FILE_BYTES}};
    struct scope scope;
    uint64_t discarded = 3;
    (void)arg;
    start_sending(&s, &scope);
    TASK_ASSERT(tcp_discard(stream_fd(s.pair.server), UINT64_MAX, STALL_US, &discarded) == 0);
    end_sending(&s, &scope);
    /* the part is longer than the file */
    TASK_ASSERT(s.result == -FERRY_ETRUNCATED && s.moved == FILE_BYTES - OFFSET);
    TASK_ASSERT(discarded == 3 + FILE_BYTES - OFFSET);
}

static void discarded_bytes_are_counted_and_a_short_file_is_told(void **state)
{
    (void)state;
    run_deterministic(2, discard_a_part, NULL);
}

static void wait_for_a_silent_peer(void *arg)
{
    struct tcp_pair p;
    uint64_t moved = 0;
    (void)arg;
    tcp_pair_open(&p, 0);
    int r = tcp_discard(stream_fd(p.client), UINT64_MAX, STALL_US, &moved);
    TASK_ASSERT(r == -FERRY_ESTALLED);
    /* a peer that does not read: the kernel's buffers fill, then nothing moves */
    struct file_part part = {.fd = new_file(), .len = FILE_BYTES};
    do
        r = tcp_send_file(stream_fd(p.client), &part, STALL_US, &moved);
    while (r == 0);
    TASK_ASSERT(r == -FERRY_ESTALLED && moved > 0);
    close(part.fd);
    tcp_pair_close(&p);
}

static void a_peer_that_does_nothing_is_a_stall(void **state)
{
    (void)state;
    run_deterministic(3, wait_for_a_silent_peer, NULL);
}

static void discard_until_cancelled(void *arg)
{
    struct sending *s = arg;
    s->result = tcp_discard(stream_fd(s->pair.client), UINT64_MAX, 0, &s->moved);
}

static void cancel_a_discard(void *arg)
{
    struct sending s = {.result = 1};
    struct scope scope;
    struct task *task;
    (void)arg;
    tcp_pair_open(&s.pair, 0);
    scope_init(&scope);
    TASK_ASSERT(
        scope_start(&scope, "discard", TASK_NORMAL, discard_until_cancelled, &s, &task) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S)) == 0);
    task_cancel(task);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0 && s.result == -ECANCELED);
    scope_leave(&scope);
    tcp_pair_close(&s.pair);
}

static void cancel_ends_a_discard(void **state)
{
    (void)state;
    run_deterministic(4, cancel_a_discard, NULL);
}

static void end_out_of_order(void *arg)
{
    struct tcp_pair p;
    uint8_t byte;
    uint64_t moved = 0;
    (void)arg;
    tcp_pair_open(&p, STALL_US);
    tcp_reset_on_close(stream_fd(p.client));
    p.client = stream_free(p.client);
    TASK_ASSERT(stream_read(p.server, &byte, 1) == -FERRY_ECLOSED);
    tcp_pair_close(&p);
    tcp_pair_open(&p, STALL_US);
    tcp_break(stream_fd(p.client));
    TASK_ASSERT(tcp_discard(stream_fd(p.client), UINT64_MAX, STALL_US, &moved) == 0);
    TASK_ASSERT(stream_write_bytes(p.client, BYTES_LIT("x")) == -FERRY_ECLOSED);
    TASK_ASSERT(stream_read(p.server, &byte, 1) == 0);
    tcp_pair_close(&p);
}

static void a_reset_and_a_break_are_seen_on_the_other_side(void **state)
{
    (void)state;
    run_deterministic(5, end_out_of_order, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_file_arrives_byte_for_byte),
        cmocka_unit_test(discarded_bytes_are_counted_and_a_short_file_is_told),
        cmocka_unit_test(a_peer_that_does_nothing_is_a_stall),
        cmocka_unit_test(cancel_ends_a_discard),
        cmocka_unit_test(a_reset_and_a_break_are_seen_on_the_other_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
