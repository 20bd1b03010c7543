#include <signal.h>
#include <sys/resource.h>

#include "base/fault.h"
#include "check.h"
#include "unit/xfer/place.h"

#define LARGE (3 * 1024 * 1024 + 17)

static char tmp[] = "/tmp", shm[] = "/dev/shm";

/* -- the peer's side -- */

struct writer {
    struct stream *stream;
    uint64_t from, size; /* sends bytes [from, size) of the pattern and ends */
    bool stays;          /* does not end */
};

static void write_pattern(void *arg)
{
    struct writer *w = arg;
    uint8_t block[700];
    int r = 0;
    for (uint64_t off = w->from; off < w->size && r == 0;) {
        size_t len = w->size - off < sizeof(block) ? (size_t)(w->size - off) : sizeof(block);
        for (size_t i = 0; i < len; i++)
            block[i] = pattern(off + i);
        r = stream_write_bytes(w->stream, bytes_of(block, len));
        off += len;
    }
    if (r == 0 && !w->stays)
        (void)(stream_end(w->stream, 0) < 0);
}

struct receiving {
    struct xfer_request request;
    struct xfer_result result;
    struct writer writer;
    bool stores;
};

/* xfer_receive() into "/file" of what a writer at the other end sends. */
static int receive_file(struct place *p, struct receiving *r)
{
    struct scope scope;
    scope_init(&scope);
    r->request.length = UINT64_MAX;
    r->request.stall_us = STALL_US;
    r->writer.stream = p->peers;
    struct vupload *upload = place_upload(p, r->writer.from);
    TASK_ASSERT(scope_start(&scope, "writer", TASK_NORMAL, write_pattern, &r->writer, NULL) ==
                0);
    int result = xfer_receive(p->ours, upload, &r->request, &r->result);
    uint64_t end = vupload_offset(upload) + r->result.file_bytes;
    p->ours = stream_free(p->ours);
    if (result == 0 || r->stores)
        TASK_ASSERT(vupload_commit(upload, end) == 0);
    else
        vupload_break(upload, end);
    scope_leave(&scope);
    return result;
}

/* -- every path, every size -- */

static const uint64_t sizes[WAY_COUNT][5] = {
    {0, 1, 700, 65536, LARGE},
    {0, 1, 700, 65536, LARGE},
    {0, 1, 700, 65536, 100017}, /* cut into many small steps */
};

static void receive_range(struct place *p, enum way way, uint64_t size, uint64_t offset)
{
    struct xfer_progress progress = {0};
    struct receiving r = {
        .request = {.progress = &progress},
        .writer = {.from = offset, .size = size},
    };
    if (offset > 0)
        place_write(p, offset);
    place_connect(p, way);
    TASK_ASSERT(receive_file(p, &r) == 0);
    TASK_ASSERT(r.result.file_bytes == size - offset && r.result.wire_bytes == size - offset);
    TASK_ASSERT(progress.file_bytes == size - offset && progress.wire_bytes == size - offset);
    TASK_ASSERT(place_holds(p, size));
    place_disconnect(p);
}

static void receive_all(void *parent)
{
    struct place p;
    place_open(&p, parent, 0);
    for (enum way way = 0; way < WAY_COUNT; way++) {
        for (size_t i = 0; i < ARRAY_LEN(sizes[way]); i++) {
            uint64_t size = sizes[way][i];
            receive_range(&p, way, size, 0);
            receive_range(&p, way, size, size / 3);
            receive_range(&p, way, size, size);
        }
    }
    place_close(&p);
}

static void every_path_stores_the_same_bytes(void **state)
{
    (void)state;
    run_deterministic(1, receive_all, tmp);
    run_deterministic(1, receive_all, shm);
    run_threaded(1, receive_all, tmp);
    run_threaded(1, receive_all, shm);
}

/* -- by way of the thread's pipe -- */

struct fault_try {
    uint64_t nth;
    uint64_t calls; /* answered */
};

/* A system call fails somewhere in an upload; the next one is of other bytes. */
static void receive_after_a_fault(void *arg)
{
    struct fault_try *try = arg;
    struct place p;
    place_open(&p, shm, 0);
    place_connect(&p, WAY_TCP);
    struct receiving broken = {.writer = {.from = 0, .size = 300017}};
    fault_arm(FAULT_SYSCALL, try->nth);
    int r = receive_file(&p, &broken);
    try->calls = fault_count(FAULT_SYSCALL);
    fault_arm(FAULT_SYSCALL, 0);
    TASK_ASSERT(r < 0 || place_holds(&p, 300017));
    place_disconnect(&p);
    (void)unlink(place_path(&p));
    receive_range(&p, WAY_TCP, 150000, 0);
    place_close(&p);
}

static void what_a_broken_upload_left_in_the_pipe_goes_into_no_other(void **state)
{
    (void)state;
    struct fault_try try = {.nth = 40, .calls = UINT64_MAX}; /* below: before the transfer */
    for (; try.nth <= try.calls; try.nth += 5)
        run_deterministic(1, receive_after_a_fault, &try);
    assert_true(try.nth > 100);
}

/* A file that is open to append is one that splice(2) refuses. */
static void receive_without_splice(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, tmp, 0);
    place_connect(&p, WAY_TCP);
    struct scope scope;
    scope_init(&scope);
    struct xfer_request request = {.length = UINT64_MAX, .stall_us = STALL_US};
    struct xfer_result result;
    struct writer writer = {.stream = p.peers, .size = LARGE};
    struct vupload *upload = place_upload(&p, 0);
    TASK_ASSERT(fcntl(vfile_fd(vupload_file(upload)), F_SETFL, O_APPEND) == 0);
    TASK_ASSERT(scope_start(&scope, "writer", TASK_NORMAL, write_pattern, &writer, NULL) == 0);
    TASK_ASSERT(xfer_receive(p.ours, upload, &request, &result) == 0);
    TASK_ASSERT(vupload_commit(upload, LARGE) == 0);
    scope_leave(&scope);
    TASK_ASSERT(place_holds(&p, LARGE));
    place_disconnect(&p);
    place_close(&p);
}

static void a_file_that_knows_no_splice_is_copied(void **state)
{
    (void)state;
    run_deterministic(1, receive_without_splice, NULL);
    run_threaded(1, receive_without_splice, NULL);
}

/* -- quota -- */

static void receive_into_quota(void *arg)
{
    struct place p;
    (void)arg;
    for (enum way way = 0; way < WAY_COUNT; way++) {
        place_open(&p, tmp, 100001);
        struct receiving over = {.writer = {.size = 150000}, .stores = true};
        place_connect(&p, way);
        TASK_ASSERT(receive_file(&p, &over) == -FERRY_EQUOTA);
        TASK_ASSERT(over.result.file_bytes == 100001 && place_holds(&p, 100001));
        place_disconnect(&p);
        place_close(&p);

        place_open(&p, tmp, 100001);
        struct receiving exact = {.writer = {.size = 100001}};
        place_connect(&p, way);
        TASK_ASSERT(receive_file(&p, &exact) == 0);
        TASK_ASSERT(place_holds(&p, 100001));
        uint64_t used, files;
        quota_used(p.quota, &used, &files);
        TASK_ASSERT(used == 100001 && files == 1);
        place_disconnect(&p);
        place_close(&p);
    }
}

static void what_the_quota_allows_is_stored_to_the_last_byte(void **state)
{
    (void)state;
    run_deterministic(1, receive_into_quota, NULL);
    run_threaded(1, receive_into_quota, NULL);
}

static void receive_less_than_reserved(void *arg)
{
    struct place p;
    uint64_t used, files;
    (void)arg;
    place_open(&p, tmp, 10 * 1024 * 1024);
    struct receiving r = {.writer = {.size = 5}};
    place_connect(&p, WAY_TCP);
    TASK_ASSERT(receive_file(&p, &r) == 0);
    quota_used(p.quota, &used, &files);
    TASK_ASSERT(used == 5);
    place_disconnect(&p);
    place_close(&p);
}

static void quota_that_was_reserved_and_not_used_is_given_back(void **state)
{
    (void)state;
    run_deterministic(1, receive_less_than_reserved, NULL);
}

/* -- the file's failures -- */

/* A limit on the size of files makes a short write, then EFBIG: the shape of a full disk. */
static void receive_into_limit(void *arg)
{
    (void)arg;
    struct rlimit old, limit;
    TASK_ASSERT(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = old;
    limit.rlim_cur = 100001;
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct place p;
        place_open(&p, tmp, 0);
        struct receiving r = {.writer = {.size = 150000}, .stores = true};
        place_connect(&p, way);
        TASK_ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        int result = receive_file(&p, &r);
        TASK_ASSERT(setrlimit(RLIMIT_FSIZE, &old) == 0);
        TASK_ASSERT(result == -EFBIG);
        TASK_ASSERT(r.result.file_bytes == 100001 && place_holds(&p, 100001));
        place_disconnect(&p);
        place_close(&p);
    }
}

static void a_short_write_goes_on_and_the_failure_is_the_files(void **state)
{
    (void)state;
    run_deterministic(1, receive_into_limit, NULL);
}

/* -- the stream's failures -- */

static void lose_writer(void *arg)
{
    (void)arg;
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct place p;
        place_open(&p, tmp, 0);
        struct receiving r = {.writer = {.size = 50000, .stays = true}, .stores = true};
        place_connect(&p, way);
        TASK_ASSERT(receive_file(&p, &r) == -FERRY_ESTALLED);
        TASK_ASSERT(r.result.file_bytes == 50000 && place_holds(&p, 50000));
        place_disconnect(&p);
        place_close(&p);
    }
}

static void a_peer_that_stops_is_the_streams_fault(void **state)
{
    (void)state;
    run_deterministic(1, lose_writer, NULL);
}

static void reset_by_peer(void *arg)
{
    struct place p;
    struct xfer_request request = {.length = UINT64_MAX, .stall_us = STALL_US};
    struct xfer_result result;
    (void)arg;
    place_open(&p, tmp, 0);
    place_connect(&p, WAY_TCP);
    TASK_ASSERT(stream_write_bytes(p.ours, BYTES_LIT("unread")) == 0);
    TASK_ASSERT(stream_wait(p.peers, NULL, USEC_NEVER) == 0);
    struct vupload *upload = place_upload(&p, 0);
    p.peers = stream_free(p.peers);
    TASK_ASSERT(xfer_receive(p.ours, upload, &request, &result) == -FERRY_ECLOSED);
    vupload_break(upload, result.file_bytes);
    place_disconnect(&p);
    place_close(&p);
}

static void a_reset_is_no_end(void **state)
{
    (void)state;
    run_deterministic(1, reset_by_peer, NULL);
}

/* -- pace, edges, cancel -- */

static void receive_paced(void *arg)
{
    (void)arg;
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct place p;
        place_open(&p, tmp, 0);
        struct receiving r = {.writer = {.size = 1000000}};
        TASK_ASSERT(xfer_bucket_new(1000000, &r.request.buckets[0]) == 0);
        place_connect(&p, way);
        TASK_ASSERT(receive_file(&p, &r) == 0);
        TASK_ASSERT(place_holds(&p, 1000000));
        /* the clock of this runtime is not the real one: these are no measurements */
        TASK_ASSERT(r.result.seconds_us > 700000 && r.result.seconds_us < 1000000);
        (void)xfer_bucket_free(r.request.buckets[0]);
        place_disconnect(&p);
        place_close(&p);
    }
}

static void a_bucket_sets_the_pace(void **state)
{
    (void)state;
    run_deterministic(1, receive_paced, NULL);
}

#define DIALOGUE_STEPS 300

struct dialogue {
    struct stream *stream;
    size_t step; /* bytes */
    struct xfer_progress progress;
};

/* The next bytes go when the last ones are in the file: an edge that were lost while a job ran
 * would leave both sides waiting for good. */
static void write_step_by_step(void *arg)
{
    struct dialogue *d = arg;
    uint8_t *block = mem_new(d->step);
    TASK_ASSERT(block != NULL);
    for (uint64_t sent = 0; sent < DIALOGUE_STEPS * d->step; sent += d->step) {
        while (atomic_load(&d->progress.file_bytes) < sent)
            task_yield();
        for (size_t i = 0; i < d->step; i++)
            block[i] = pattern(sent + i);
        TASK_ASSERT(stream_write_bytes(d->stream, bytes_of(block, d->step)) == 0);
    }
    mem_free(block);
    TASK_ASSERT(stream_end(d->stream, 0) == 0);
}

static void receive_step_by_step(void *arg)
{
    struct dialogue *d = arg;
    struct place p;
    struct scope scope;
    struct xfer_result result;
    struct xfer_request request = {
        .length = UINT64_MAX, .stall_us = STALL_US, .progress = &d->progress};
    scope_init(&scope);
    place_open(&p, tmp, 0);
    place_connect(&p, WAY_TCP);
    d->stream = p.peers;
    struct vupload *upload = place_upload(&p, 0);
    TASK_ASSERT(scope_start(&scope, "writer", TASK_NORMAL, write_step_by_step, d, NULL) == 0);
    TASK_ASSERT(xfer_receive(p.ours, upload, &request, &result) == 0);
    TASK_ASSERT(vupload_commit(upload, result.file_bytes) == 0);
    TASK_ASSERT(place_holds(&p, DIALOGUE_STEPS * d->step));
    scope_leave(&scope);
    place_disconnect(&p);
    place_close(&p);
}

/* Byte by byte, and in pieces that go through the pipe, past a descriptor that is mute. */
static void no_edge_is_lost_between_jobs(void **state)
{
    (void)state;
    static const size_t steps[] = {1, 20000, 100001};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct dialogue d = {.step = steps[i]};
        run_threaded(1, receive_step_by_step, &d);
    }
}

struct receiver {
    struct place place;
    struct vupload *upload;
    int result;
};

static void receive_until_cancelled(void *arg)
{
    struct receiver *r = arg;
    struct xfer_request request = {.length = UINT64_MAX};
    struct xfer_result moved;
    r->result = xfer_receive(r->place.ours, r->upload, &request, &moved);
    task_shield_begin(USEC_NEVER);
    vupload_break(r->upload, moved.file_bytes);
    task_shield_end();
}

static void cancel_receive(void *arg)
{
    for (unsigned i = 0; i < 3 * WAY_COUNT; i++) {
        struct receiver *r = arg;
        struct scope scope, writers;
        scope_init(&scope);
        scope_init(&writers);
        place_open(&r->place, shm, 0);
        place_connect(&r->place, i % WAY_COUNT);
        r->upload = place_upload(&r->place, 0);
        struct writer w = {.stream = r->place.peers, .size = UINT64_MAX};
        TASK_ASSERT(scope_start(&scope, "receiver", TASK_NORMAL, receive_until_cancelled, r,
                                NULL) == 0);
        TASK_ASSERT(scope_start(&writers, "writer", TASK_NORMAL, write_pattern, &w, NULL) == 0);
        for (unsigned turns = 0; turns < 4 * (i + 1); turns++)
            task_yield();
        scope_leave(&scope);
        TASK_ASSERT(r->result == -ECANCELED);
        scope_leave(&writers);
        place_disconnect(&r->place);
        place_close(&r->place);
    }
}

static void a_transfer_can_be_cancelled_at_any_time(void **state)
{
    (void)state;
    struct receiver r;
    run_threaded(1, cancel_receive, &r);
    run_deterministic(1, cancel_receive, &r);
}

#ifdef FERRY_FAULTS
static void fail_in_turn(void *arg)
{
    enum way way = *(enum way *)arg;
    struct place p;
    place_open(&p, tmp, 0);
    for (enum fault_kind kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        int r = -EIO;
        for (unsigned n = 1; r != 0 && n < 400; n++) {
            struct xfer_request request = {.length = UINT64_MAX, .stall_us = STALL_US};
            struct xfer_result result;
            place_connect(&p, way);
            struct writer w = {.stream = p.peers, .size = 20000};
            write_pattern(&w);
            struct vupload *upload = place_upload(&p, 0);
            fault_arm(kind, n);
            r = xfer_receive(p.ours, upload, &request, &result);
            fault_arm(kind, 0);
            TASK_ASSERT(r == 0 || r == -EIO || r == -ENOMEM);
            TASK_ASSERT(r < 0 || result.file_bytes == 20000);
            vupload_break(upload, result.file_bytes);
            place_disconnect(&p);
        }
        TASK_ASSERT(r == 0); /* the last n was behind the last call */
    }
    place_close(&p);
}

static void each_failed_call_ends_the_transfer_and_leaks_nothing(void **state)
{
    (void)state;

    static const enum way ways[] = {WAY_TCP, WAY_MEMORY};

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        enum way way = ways[i];
        run_deterministic(1, fail_in_turn, &way);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_stores_the_same_bytes),
        cmocka_unit_test(what_a_broken_upload_left_in_the_pipe_goes_into_no_other),
        cmocka_unit_test(a_file_that_knows_no_splice_is_copied),
        cmocka_unit_test(what_the_quota_allows_is_stored_to_the_last_byte),
        cmocka_unit_test(quota_that_was_reserved_and_not_used_is_given_back),
        cmocka_unit_test(a_short_write_goes_on_and_the_failure_is_the_files),
        cmocka_unit_test(a_peer_that_stops_is_the_streams_fault),
        cmocka_unit_test(a_reset_is_no_end),
        cmocka_unit_test(a_bucket_sets_the_pace),
        cmocka_unit_test(no_edge_is_lost_between_jobs),
        cmocka_unit_test(a_transfer_can_be_cancelled_at_any_time),
#ifdef FERRY_FAULTS
        cmocka_unit_test(each_failed_call_ends_the_transfer_and_leaks_nothing),
#endif
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as runtime_signals_setup() does */
    (void)signal(SIGXFSZ, SIG_IGN); /* so that the limit on files is a failed write */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
