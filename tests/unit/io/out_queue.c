/* The queue of what waits to be sent: in order, by whoever may send now, and broken for good by
 * the first failure. */
#include "io/out_queue.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "check.h"
#include "io/chunk.h"
#include "io/memory.h"
#include "runtime_fixture.h"

#define CAP 1000 /* bytes that the stream takes before it has to wait */

struct world {
    struct stream *near, *far;
    struct scope scope;
    struct event wake;
    struct out_queue queue;
};

static void world_init(struct world *w, uint64_t seed)
{
    TASK_ASSERT(memory_pair_new(CAP, seed, &w->near, &w->far) == 0);
    scope_init(&w->scope);
    event_init(&w->wake);
    w->near->stall_us = w->far->stall_us = USEC_PER_S;
    out_queue_init(&w->queue, w->near, &w->scope, &w->wake);
}

static void world_done(struct world *w)
{
    scope_leave(&w->scope);
    out_queue_done(&w->queue);
    stream_free(w->near);
    stream_free(w->far);
}

static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 13);
}

/* A chunk with `count` pieces of uneven lengths, which go on where the last ended. */
static int add_pieces(struct out_queue *q, unsigned count, uint64_t *at)
{
    struct chunk *c = chunk_new(16 * 1024);
    if (c == NULL)
        return -ENOMEM;
    uint8_t *data = c->data;
    for (unsigned i = 0; i < count; i++) {
        size_t len = (*at + i) % 7 == 0 ? 0 : (*at * 31 + i) % 300;
        for (size_t k = 0; k < len; k++)
            data[k] = byte_at((*at)++);
        c->pieces[i] = (struct iovec){data, len};
        data += len;
    }
    return out_queue_add(q, c, c->pieces, count);
}

static int add_copy(struct out_queue *q, size_t len, uint64_t *at)
{
    uint8_t data[5000];
    TASK_ASSERT(len <= sizeof(data));
    for (size_t i = 0; i < len; i++)
        data[i] = byte_at((*at)++);
    return out_queue_add_bytes(q, bytes_of(data, len));
}

struct reading {
    struct stream *stream;
    uint64_t at, want;
    bool is_right;
};

static void read_all(void *arg)
{
    struct reading *r = arg;
    uint8_t data[333];
    r->is_right = true;
    while (r->at < r->want && r->is_right) {
        ssize_t n = stream_read(r->stream, data, 1 + r->at % sizeof(data));
        r->is_right = n > 0 || r->at == r->want; /* which may have become less */
        for (ssize_t i = 0; i < n; i++)
            r->is_right = r->is_right && data[i] == byte_at(r->at++);
    }
}

/* -- in order -- */

static void keep_order_main(void *arg)
{
    struct world w;
    struct scope readers;
    uint64_t seed = *(uint64_t *)arg, at = 0;
    world_init(&w, seed);
    scope_init(&readers);
    struct reading reading = {.stream = w.far, .want = UINT64_MAX};
    for (unsigned round = 0; round < 60; round++) {
        uint64_t kind = (round * 5 + seed) % 4;
        if (kind == 0)
            TASK_ASSERT(add_pieces(&w.queue, 1 + round, &at) == 0);
        else
            TASK_ASSERT(add_copy(&w.queue, kind == 1 ? 5000 : round, &at) == 0);
        if (round % 3 != 0)
            TASK_ASSERT(out_queue_push(&w.queue) == 0);
        if (round == 10) /* till then nobody has read */
            TASK_ASSERT(scope_start(&readers, "read", TASK_NORMAL, read_all, &reading, NULL) ==
                        0);
        if (round % 7 == 6 && round > 10)
            TASK_ASSERT(out_queue_wait(&w.queue, 3000, USEC_NEVER) == 0);
        TASK_ASSERT(round % 7 != 6 || round < 10 || out_queue_bytes(&w.queue) <= 3000);
    }
    reading.want = at;
    TASK_ASSERT(out_queue_push(&w.queue) == 0);
    TASK_ASSERT(out_queue_wait(&w.queue, 0, USEC_NEVER) == 0);
    TASK_ASSERT(out_queue_bytes(&w.queue) == 0 && !w.queue.is_flushing);
    TASK_ASSERT(scope_wait(&readers, USEC_NEVER) == 0);
    TASK_ASSERT(reading.is_right && reading.at == at);
    scope_leave(&readers);
    world_done(&w);
}

static void sends_in_order_whoever_pushes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++)
        run_deterministic(seed, keep_order_main, &seed);
}

/* -- no task while the stream takes all -- */

static void quiet_main(void *arg)
{
    (void)arg;
    struct world w;
    uint64_t at = 0;
    uint8_t data[CAP];
    world_init(&w, 0);
    for (unsigned i = 0; i < 20; i++) {
        TASK_ASSERT(add_copy(&w.queue, 100, &at) == 0);
        TASK_ASSERT(out_queue_push(&w.queue) == 0);
        TASK_ASSERT(w.scope.count == 0 && out_queue_bytes(&w.queue) == 0);
        TASK_ASSERT(stream_read(w.far, data, sizeof(data)) == 100);
    }
    TASK_ASSERT(add_copy(&w.queue, CAP + 1, &at) == 0);
    TASK_ASSERT(out_queue_push(&w.queue) == 0);
    TASK_ASSERT(w.scope.count == 1 && out_queue_bytes(&w.queue) == 1);
    TASK_ASSERT(stream_read(w.far, data, sizeof(data)) == CAP);
    TASK_ASSERT(out_queue_wait(&w.queue, 0, USEC_NEVER) == 0);
    TASK_ASSERT(stream_read(w.far, data, sizeof(data)) == 1);
    TASK_ASSERT(scope_wait(&w.scope, USEC_NEVER) == 0);
    world_done(&w);
}

static void has_a_flusher_only_while_the_stream_is_full(void **state)
{
    (void)state;
    run_deterministic(1, quiet_main, NULL);
}

/* -- memory -- */

static void small_main(void *arg)
{
    (void)arg;
    struct world w;
    uint64_t at = 0, allocations;
    uint8_t data[100];
    world_init(&w, 0);
    TASK_ASSERT(add_copy(&w.queue, CAP, &at) == 0);
    fault_arm(FAULT_ALLOC, UINT64_MAX);
    for (unsigned i = 0; i < 1000; i++) {
        TASK_ASSERT(add_copy(&w.queue, 20, &at) == 0);
        TASK_ASSERT(out_queue_push(&w.queue) == 0);
        if (i % 100 == 50) /* the flusher goes on */
            TASK_ASSERT(stream_read(w.far, data, sizeof(data)) > 0);
    }
    allocations = fault_count(FAULT_ALLOC);
    fault_arm(FAULT_ALLOC, 0);
    TASK_ASSERT(w.queue.is_flushing && allocations < 20);
    scope_leave(&w.scope);
    world_done(&w);
}

static void small_messages_share_memory_while_it_flushes(void **state)
{
    (void)state;
    run_deterministic(1, small_main, NULL);
}

/* -- the mark -- */

static void mark_main(void *arg)
{
    (void)arg;
    struct world w;
    uint64_t at = 0;
    uint8_t data[CAP];
    world_init(&w, 0);
    w.queue.mark = 2000;
    TASK_ASSERT(add_copy(&w.queue, 4000, &at) == 0);
    TASK_ASSERT(out_queue_push(&w.queue) == 0);
    TASK_ASSERT(out_queue_bytes(&w.queue) == 3000 && !w.wake.is_set);
    TASK_ASSERT(stream_read(w.far, data, CAP) == CAP);
    /* its flusher sends all pieces in one call: it tells when that is done */
    for (unsigned i = 0; i < 3; i++)
        TASK_ASSERT(stream_read(w.far, data, CAP) > 0);
    TASK_ASSERT(event_wait(&w.wake, clock_after(USEC_PER_S)) == 0);
    TASK_ASSERT(out_queue_bytes(&w.queue) <= 2000);
    event_clear(&w.wake);
    while (out_queue_bytes(&w.queue) > 0)
        TASK_ASSERT(stream_read(w.far, data, CAP) > 0);
    TASK_ASSERT(!w.wake.is_set); /* it was told once */
    world_done(&w);
}

static void tells_when_it_falls_to_the_mark(void **state)
{
    (void)state;
    run_deterministic(1, mark_main, NULL);
}

/* -- failures -- */

/* For the stream, with pieces in its hands: time passes only when all others wait. */
static void let_flusher_wait(struct world *w)
{
    TASK_ASSERT(task_sleep_until(clock_after(10)) == 0);
    TASK_ASSERT(w->queue.is_flushing && w->queue.bytes > 0);
}

static void gone_main(void *arg)
{
    bool while_flushing = *(bool *)arg;
    struct world w;
    uint64_t at = 0;
    world_init(&w, 0);
    if (while_flushing) {
        TASK_ASSERT(add_copy(&w.queue, 3000, &at) == 0);
        TASK_ASSERT(out_queue_push(&w.queue) == 0);
        let_flusher_wait(&w);
    }
    w.far = stream_free(w.far);
    TASK_ASSERT(add_copy(&w.queue, 10, &at) == 0 || !while_flushing);
    int r = out_queue_push(&w.queue);
    TASK_ASSERT(while_flushing ? r == 0 : r == -FERRY_ECLOSED);
    TASK_ASSERT(out_queue_wait(&w.queue, 0, USEC_NEVER) == -FERRY_ECLOSED);
    TASK_ASSERT(scope_wait(&w.scope, USEC_NEVER) == 0);
    TASK_ASSERT(w.wake.is_set && out_queue_bytes(&w.queue) == 0);
    TASK_ASSERT(add_copy(&w.queue, 10, &at) == -FERRY_ECLOSED);
    TASK_ASSERT(add_pieces(&w.queue, 3, &at) == -FERRY_ECLOSED);
    TASK_ASSERT(out_queue_push(&w.queue) == -FERRY_ECLOSED);
    TASK_ASSERT(out_queue_bytes(&w.queue) == 0);
    world_done(&w);
}

static void a_peer_that_goes_breaks_it_for_good(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bool while_flushing = i == 1;
        run_deterministic(1, gone_main, &while_flushing);
    }
}

static void stall_main(void *arg)
{
    (void)arg;
    struct world w;
    uint64_t at = 0;
    world_init(&w, 0);
    TASK_ASSERT(add_copy(&w.queue, 3000, &at) == 0);
    TASK_ASSERT(out_queue_push(&w.queue) == 0);
    TASK_ASSERT(out_queue_wait(&w.queue, 0, clock_after(10)) == -ETIMEDOUT);
    TASK_ASSERT(out_queue_wait(&w.queue, 0, USEC_NEVER) == -FERRY_ESTALLED);
    world_done(&w);
}

static void a_peer_that_reads_nothing_breaks_it(void **state)
{
    (void)state;
    run_deterministic(1, stall_main, NULL);
}

static void cancel_main(void *arg)
{
    (void)arg;
    struct world w;
    uint64_t at = 0;
    world_init(&w, 0);
    TASK_ASSERT(add_copy(&w.queue, 3000, &at) == 0);
    TASK_ASSERT(add_pieces(&w.queue, 20, &at) == 0);
    TASK_ASSERT(out_queue_push(&w.queue) == 0);
    let_flusher_wait(&w);
    scope_leave(&w.scope); /* the flusher waits: it leaves, and what it sent is dropped */
    TASK_ASSERT(out_queue_push(&w.queue) == -ECANCELED);
    TASK_ASSERT(w.wake.is_set && out_queue_bytes(&w.queue) == 0);
    world_done(&w);
}

static void a_flusher_that_is_cancelled_breaks_it(void **state)
{
    (void)state;
    run_deterministic(1, cancel_main, NULL);
}

/* The flusher has pieces in its hands when somebody breaks the queue. */
static void break_main(void *arg)
{
    (void)arg;
    struct world w;
    uint64_t at = 0;
    uint8_t data[CAP];
    world_init(&w, 0);
    TASK_ASSERT(add_pieces(&w.queue, 60, &at) == 0);
    TASK_ASSERT(out_queue_push(&w.queue) == 0);
    let_flusher_wait(&w);
    out_queue_break(&w.queue, -ENOMEM);
    out_queue_break(&w.queue, -EIO); /* the first stays */
    TASK_ASSERT(w.wake.is_set);
    TASK_ASSERT(out_queue_wait(&w.queue, 0, USEC_NEVER) == -ENOMEM);
    while (w.scope.count > 0)
        (void)(stream_read(w.far, data, sizeof(data)) < 0);
    TASK_ASSERT(w.queue.bytes == 0 && list_empty(&w.queue.entries));
    TASK_ASSERT(out_queue_push(&w.queue) == -ENOMEM);
    world_done(&w);
}

static void can_be_broken_while_it_flushes(void **state)
{
    (void)state;
    run_deterministic(1, break_main, NULL);
}

/* The n-th allocation fails: what was sent is a beginning of what was added, and the queue is
 * broken if anything is missing. */
struct faulty {
    uint64_t nth, counted;
};

static void faulty_main(void *arg)
{
    struct faulty *f = arg;
    struct world w;
    struct scope readers;
    uint64_t at = 0;
    world_init(&w, 3);
    scope_init(&readers);
    struct reading reading = {.stream = w.far, .want = UINT64_MAX};
    TASK_ASSERT(scope_start(&readers, "read", TASK_NORMAL, read_all, &reading, NULL) == 0);
    fault_arm(FAULT_ALLOC, f->nth);
    for (unsigned i = 0; i < 12; i++) {
        uint64_t before = at;
        int r = i % 3 == 0 ? add_pieces(&w.queue, 9, &at) : add_copy(&w.queue, 2000, &at);
        if (r < 0 && w.queue.error == 0)
            at = before; /* no chunk to begin with: nothing was promised */
        (void)(out_queue_push(&w.queue) < 0);
        if (i % 4 == 3)
            (void)(out_queue_wait(&w.queue, 0, USEC_NEVER) < 0);
    }
    int r = out_queue_wait(&w.queue, 0, USEC_NEVER);
    f->counted = fault_count(FAULT_ALLOC);
    fault_arm(FAULT_ALLOC, 0);
    scope_leave(&w.scope);
    w.near = stream_free(w.near);
    reading.want = at;
    TASK_ASSERT(scope_wait(&readers, USEC_NEVER) == 0);
    TASK_ASSERT(r == 0 || r == -ENOMEM);
    TASK_ASSERT(r < 0 || (reading.is_right && reading.at == at));
    TASK_ASSERT(r == 0 || w.wake.is_set);
    scope_leave(&readers);
    world_done(&w);
}

static void lack_of_memory_breaks_it_and_loses_nothing_before(void **state)
{
    (void)state;
    struct faulty f = {.nth = 0};
    do {
        f.nth++;
        run_deterministic(f.nth, faulty_main, &f);
    } while (f.counted >= f.nth);
    assert_true(f.nth > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_in_order_whoever_pushes),
        cmocka_unit_test(has_a_flusher_only_while_the_stream_is_full),
        cmocka_unit_test(small_messages_share_memory_while_it_flushes),
        cmocka_unit_test(tells_when_it_falls_to_the_mark),
        cmocka_unit_test(a_peer_that_goes_breaks_it_for_good),
        cmocka_unit_test(a_peer_that_reads_nothing_breaks_it),
        cmocka_unit_test(a_flusher_that_is_cancelled_breaks_it),
        cmocka_unit_test(can_be_broken_while_it_flushes),
        cmocka_unit_test(lack_of_memory_breaks_it_and_loses_nothing_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
