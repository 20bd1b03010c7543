#include "io/memory.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "check.h"
#include "runtime_fixture.h"

#define TEXT_BYTES 5000

struct pair {
    struct stream *a, *b;
};

static uint8_t text[TEXT_BYTES];

static void pair_open(struct pair *p, size_t cap, uint64_t seed)
{
    TASK_ASSERT(memory_pair_new(cap, seed, &p->a, &p->b) == 0);
    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = (uint8_t)(i * 31 + seed);
}

static void pair_close(struct pair *p)
{
    p->a = stream_free(p->a);
    p->b = stream_free(p->b);
}

/* -- bytes arrive in order, whatever the cuts -- */

static void write_text(void *arg)
{
    struct pair *p = arg;
    size_t sent = 0;
    while (sent < TEXT_BYTES) { /* by rooms and by copies in turn */
        size_t len = TEXT_BYTES - sent < 700 ? TEXT_BYTES - sent : 700;
        struct room room;
        TASK_ASSERT(stream_room(p->a, len, &room) == 0);
        TASK_ASSERT(room.len >= 1 && room.len <= len && room.count <= ROOM_PIECES_MAX);
        size_t filled = 0;
        for (unsigned i = 0; i < room.count; i++) {
            memcpy(room.pieces[i].iov_base, text + sent + filled, room.pieces[i].iov_len);
            filled += room.pieces[i].iov_len;
        }
        TASK_ASSERT(filled == room.len);
        TASK_ASSERT(stream_send(p->a, &room, filled) == 0);
        sent += filled;
        len = TEXT_BYTES - sent < 100 ? TEXT_BYTES - sent : 100;
        TASK_ASSERT(stream_write_bytes(p->a, bytes_of(text + sent, len)) == 0);
        sent += len;
    }
    TASK_ASSERT(stream_end(p->a, 0) == 0);
}

static void read_text(struct pair *p)
{
    static uint8_t got[TEXT_BYTES + 1];
    size_t len = 0;
    for (;;) {
        struct slices slices;
        TASK_ASSERT(stream_take(p->b, 333, &slices) == 0);
        if (slices.len == 0)
            break;
        TASK_ASSERT(slices.len <= 333 && len + slices.len <= sizeof(got));
        for (unsigned i = 0; i < slices.count; i++) {
            memcpy(got + len, slices.pieces[i].iov_base, slices.pieces[i].iov_len);
            len += slices.pieces[i].iov_len;
        }
        slices_drop(&slices);
        ssize_t n = stream_read(p->b, got + len, sizeof(got) - len);
        TASK_ASSERT(n >= 0);
        len += (size_t)n;
    }
    TASK_ASSERT(len == TEXT_BYTES && memcmp(got, text, len) == 0);
}

static void send_and_read(void *arg)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pair *p = arg;
        struct scope scope;
        scope_init(&scope);
        pair_open(p, 64 + seed * 50, seed);
        TASK_ASSERT(scope_start(&scope, "writer", TASK_NORMAL, write_text, p, NULL) == 0);
        read_text(p);
        TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
        struct stream_info info;
        stream_info(p->b, &info);
        TASK_ASSERT(info.received_bytes == TEXT_BYTES);
        stream_info(p->a, &info);
        TASK_ASSERT(info.sent_bytes == TEXT_BYTES);
        scope_leave(&scope);
        pair_close(p);
    }
}

static void bytes_arrive_in_order_whatever_the_cuts(void **state)
{
    (void)state;
    struct pair p;
    run_deterministic(3, send_and_read, &p);
}

/* -- failures and ends -- */

static void without_progress(void *arg)
{
    struct pair *p = arg;
    char c;
    pair_open(p, 10, 0);
    p->a->stall_us = p->b->stall_us = 5 * USEC_PER_S;
    TASK_ASSERT(stream_read(p->b, &c, 1) == -FERRY_ESTALLED);
    TASK_ASSERT(stream_write_bytes(p->a, bytes_of(text, 11)) == -FERRY_ESTALLED);
    pair_close(p);
}

static void a_wait_without_progress_ends_as_stalled(void **state)
{
    (void)state;
    struct pair p;
    run_deterministic(1, without_progress, &p);
}

static void after_the_peer_left(void *arg)
{
    struct pair *p = arg;
    char c;
    struct room room;
    pair_open(p, 100, 0);
    TASK_ASSERT(stream_write_bytes(p->b, BYTES_LIT("x")) == 0);
    p->b = stream_free(p->b);
    TASK_ASSERT(stream_read(p->a, &c, 1) == 1);
    TASK_ASSERT(stream_read(p->a, &c, 1) == 0);
    TASK_ASSERT(stream_write_bytes(p->a, BYTES_LIT("y")) == -FERRY_ECLOSED);
    TASK_ASSERT(stream_room(p->a, 1, &room) == 0);
    TASK_ASSERT(stream_send(p->a, &room, 1) == -FERRY_ECLOSED);
    TASK_ASSERT(room.stream == NULL);
    pair_close(p);
}

static void what_a_peer_wrote_before_it_left_is_read(void **state)
{
    (void)state;
    struct pair p;
    run_deterministic(1, after_the_peer_left, &p);
}

static void end_and_drain(void *arg)
{
    struct pair *p = arg;
    char c;
    pair_open(p, 100, 0);
    TASK_ASSERT(stream_write_bytes(p->b, BYTES_LIT("unread")) == 0);
    TASK_ASSERT(stream_end(p->a, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    TASK_ASSERT(stream_read(p->b, &c, 1) == 0);
    TASK_ASSERT(stream_end(p->b, 0) == 0);
    TASK_ASSERT(stream_end(p->a, clock_now() + USEC_PER_S) == 0);
    pair_close(p);
}

static void a_lingering_end_waits_for_the_peers(void **state)
{
    (void)state;
    struct pair p;
    run_deterministic(1, end_and_drain, &p);
}

/* -- rooms and slices -- */

static void drop_twice(void *arg)
{
    struct pair *p = arg;
    struct room room = {0};
    struct slices slices = {0};
    pair_open(p, 100, 0);
    room_drop(&room);
    slices_drop(&slices);
    TASK_ASSERT(stream_room(p->a, 10, &room) == 0);
    room_drop(&room);
    room_drop(&room);
    TASK_ASSERT(stream_room(p->a, 10, &room) == 0);
    memcpy(room.pieces[0].iov_base, "0123456789", 10);
    TASK_ASSERT(stream_send(p->a, &room, 3) == 0);
    room_drop(&room);
    TASK_ASSERT(stream_take(p->b, 50, &slices) == 0);
    TASK_ASSERT(slices.len == 3 && memcmp(slices.pieces[0].iov_base, "012", 3) == 0);
    slices_drop(&slices);
    slices_drop(&slices);
    pair_close(p);
    TASK_ASSERT(stream_free(NULL) == NULL);
}

static void dropping_twice_and_dropping_what_was_sent_is_fine(void **state)
{
    (void)state;
    struct pair p;
    run_deterministic(1, drop_twice, &p);
}

/* -- waiting for two things -- */

struct waiting {
    struct pair pair;
    struct event event;
    bool by_event;
};

static void wake_it(void *arg)
{
    struct waiting *w = arg;
    if (w->by_event)
        event_set(&w->event);
    else
        TASK_ASSERT(stream_write_bytes(w->pair.b, BYTES_LIT("!")) == 0);
}

static void wait_for_two(void *arg)
{
    struct waiting *w = arg;
    struct scope scope;
    scope_init(&scope);
    pair_open(&w->pair, 100, 0);
    struct stream *s = w->pair.a;
    event_init(&w->event);
    TASK_ASSERT(stream_wait(s, &w->event, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    TASK_ASSERT(stream_wait(s, NULL, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    w->by_event = true;
    TASK_ASSERT(scope_start(&scope, "waker", TASK_NORMAL, wake_it, w, NULL) == 0);
    TASK_ASSERT(stream_wait(s, &w->event, USEC_NEVER) == 1);
    event_clear(&w->event);
    w->by_event = false;
    TASK_ASSERT(scope_start(&scope, "waker", TASK_NORMAL, wake_it, w, NULL) == 0);
    TASK_ASSERT(stream_wait(s, &w->event, USEC_NEVER) == 0);
    TASK_ASSERT(stream_wait(s, NULL, USEC_NEVER) == 0);
    event_set(&w->event);
    TASK_ASSERT(stream_wait(s, &w->event, USEC_NEVER) == 1);
    scope_leave(&scope);
    pair_close(&w->pair);
}

static void a_reader_can_wait_for_an_event_as_well(void **state)
{
    (void)state;
    struct waiting w;
    run_deterministic(1, wait_for_two, &w);
}

#ifdef FERRY_FAULTS
static void a_pair_that_finds_no_memory_leaves_nothing(void **state)
{
    (void)state;
    struct stream *a = NULL, *b = NULL;
    unsigned n = 0;
    int r = -ENOMEM;
    while (r == -ENOMEM && n < 20) {
        fault_arm(FAULT_ALLOC, ++n);
        r = memory_pair_new(10, 1, &a, &b);
    }
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(r, 0);
    assert_int_equal(n, 6);
    (void)stream_free(a);
    (void)stream_free(b);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive_in_order_whatever_the_cuts),
        cmocka_unit_test(a_wait_without_progress_ends_as_stalled),
        cmocka_unit_test(what_a_peer_wrote_before_it_left_is_read),
        cmocka_unit_test(a_lingering_end_waits_for_the_peers),
        cmocka_unit_test(dropping_twice_and_dropping_what_was_sent_is_fine),
        cmocka_unit_test(a_reader_can_wait_for_an_event_as_well),
#ifdef FERRY_FAULTS
        cmocka_unit_test(a_pair_that_finds_no_memory_leaves_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
