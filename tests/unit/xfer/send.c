#include <signal.h>

#include "base/fault.h"
#include "check.h"
#include "unit/xfer/place.h"

#define LARGE (3 * 1024 * 1024 + 17)

/* -- the peer's side -- */

struct reader {
    struct stream *stream;
    uint64_t from;    /* expected first byte of the pattern */
    uint64_t got;     /* bytes, all as expected */
    uint64_t max;     /* stops reading after so many; 0: at the end */
    uint64_t shrinks; /* then cuts the file to this size; 0: does not */
    const char *path;
    bool wrong;
};

static void read_pattern(void *arg)
{
    struct reader *r = arg;
    uint8_t block[700];
    ssize_t n;
    while ((r->max == 0 || r->got < r->max) &&
           (n = stream_read(r->stream, block, sizeof(block))) > 0) {
        for (ssize_t i = 0; i < n; i++)
            r->wrong = r->wrong || block[i] != pattern(r->from + r->got + (uint64_t)i);
        r->got += (uint64_t)n;
        if (r->shrinks != 0)
            TASK_ASSERT(truncate(r->path, (off_t)r->shrinks) == 0);
        r->shrinks = 0;
    }
}

struct sending {
    struct xfer_request request;
    struct xfer_result result;
    struct reader reader;
    uint64_t through_stream; /* not past it */
};

/* xfer_send() of "/file" with a reader at the other end. */
static int send_file(struct place *p, struct sending *s)
{
    struct scope scope;
    scope_init(&scope);
    s->request.stall_us = STALL_US;
    s->reader.stream = p->peers;
    s->reader.from = s->request.offset;
    s->reader.path = place_path(p);
    TASK_ASSERT(scope_start(&scope, "reader", TASK_NORMAL, read_pattern, &s->reader, NULL) ==
                0);
    struct vfile *file = place_file(p);
    int r = xfer_send(file, p->ours, &s->request, &s->result);
    (void)vfile_close(file);
    struct stream_info info;
    stream_info(p->ours, &info);
    s->through_stream = info.sent_bytes;
    p->ours = stream_free(p->ours);
    if (r == 0)
        TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    return r;
}

/* -- every path, every size -- */

static const uint64_t sizes[] = {0, 1, 65536, 65537, LARGE};

static void send_range(struct place *p, enum way way, uint64_t size, uint64_t offset)
{
    struct xfer_progress progress = {0};
    struct sending s = {
        .request = {.offset = offset, .length = UINT64_MAX, .progress = &progress}};
    place_connect(p, way);
    TASK_ASSERT(send_file(p, &s) == 0);
    TASK_ASSERT(!s.reader.wrong && s.reader.got == size - offset);
    TASK_ASSERT(s.result.file_bytes == size - offset && s.result.wire_bytes == size - offset);
    TASK_ASSERT(progress.file_bytes == size - offset && progress.wire_bytes == size - offset);
    place_disconnect(p);
}

static void send_all(void *parent)
{
    struct place p;
    place_open(&p, parent, 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        place_write(&p, sizes[i]);
        for (enum way way = 0; way < WAY_COUNT; way++) {
            send_range(&p, way, sizes[i], 0);
            send_range(&p, way, sizes[i], sizes[i] / 3);
            send_range(&p, way, sizes[i], sizes[i]);
        }
    }
    place_close(&p);
}

static char tmp[] = "/tmp", shm[] = "/dev/shm";

static void every_path_sends_the_same_bytes(void **state)
{
    (void)state;
    run_deterministic(1, send_all, tmp);
    run_deterministic(1, send_all, shm);
    run_threaded(1, send_all, tmp);
    run_threaded(1, send_all, shm);
}

static void send_with_and_without_sendfile(void *parent)
{
    struct place p;
    place_open(&p, parent, 0);
    place_write(&p, LARGE);
    for (unsigned allowed = 0; allowed < 2; allowed++) {
        struct sending s = {.request = {.length = UINT64_MAX}};
        p.policy.sendfile = allowed;
        place_connect(&p, WAY_TCP);
        TASK_ASSERT(send_file(&p, &s) == 0);
        TASK_ASSERT(!s.reader.wrong && s.reader.got == LARGE);
        TASK_ASSERT(s.through_stream == (allowed ? 0 : LARGE));
        place_disconnect(&p);
    }
    place_close(&p);
}

static void sendfile_can_be_forbidden(void **state)
{
    (void)state;
    run_threaded(1, send_with_and_without_sendfile, tmp);
    run_threaded(1, send_with_and_without_sendfile, shm);
}

/* -- what bounds it -- */

static void send_bounded(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, tmp, 0);
    place_write(&p, LARGE);
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct sending part = {.request = {.offset = 1000, .length = 70000}};
        place_connect(&p, way);
        TASK_ASSERT(send_file(&p, &part) == 0);
        TASK_ASSERT(!part.reader.wrong && part.reader.got == 70000);
        place_disconnect(&p);
        struct sending behind = {.request = {.offset = LARGE + 1, .length = UINT64_MAX}};
        place_connect(&p, way);
        TASK_ASSERT(send_file(&p, &behind) == -EINVAL);
        place_disconnect(&p);
    }
    place_close(&p);
}

static void a_length_and_the_end_of_the_file_bound_it(void **state)
{
    (void)state;
    run_deterministic(1, send_bounded, NULL);
}

static void shrink(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, tmp, 0);
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct sending s = {
            .request = {.length = UINT64_MAX},
            .reader = {.shrinks = 20 * 1024 * 1024},
        };
        place_write(&p, 0);
        /* far more than the stream takes before its reader has read */
        TASK_ASSERT(truncate(place_path(&p), 40 * 1024 * 1024) == 0);
        place_connect(&p, way);
        TASK_ASSERT(send_file(&p, &s) == -FERRY_ETRUNCATED);
        TASK_ASSERT(s.result.file_bytes == 20 * 1024 * 1024);
        place_disconnect(&p);
    }
    place_close(&p);
}

static void a_file_that_shrinks_is_reported(void **state)
{
    (void)state;
    run_deterministic(1, shrink, NULL);
}

static void send_paced(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, tmp, 0);
    place_write(&p, 1000000);
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct sending s = {.request = {.length = UINT64_MAX}};
        TASK_ASSERT(xfer_bucket_new(1000000, &s.request.buckets[1]) == 0);
        place_connect(&p, way);
        TASK_ASSERT(send_file(&p, &s) == 0);
        TASK_ASSERT(!s.reader.wrong && s.reader.got == 1000000);
        /* the clock of this runtime is not the real one: these are no measurements */
        TASK_ASSERT(s.result.seconds_us > 700000 && s.result.seconds_us < 1000000);
        (void)xfer_bucket_free(s.request.buckets[1]);
        place_disconnect(&p);
    }
    place_close(&p);
}

static void a_bucket_sets_the_pace(void **state)
{
    (void)state;
    run_deterministic(1, send_paced, NULL);
}

/* -- what ends it -- */

static void lose_reader(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, tmp, 0);
    place_write(&p, 0);
    TASK_ASSERT(truncate(place_path(&p), 40 * 1024 * 1024) == 0);
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct vfile *file = place_file(&p);
        struct xfer_request request = {.length = UINT64_MAX, .stall_us = STALL_US};
        struct xfer_result result;
        place_connect(&p, way);
        TASK_ASSERT(xfer_send(file, p.ours, &request, &result) == -FERRY_ESTALLED);
        TASK_ASSERT(result.file_bytes < 40 * 1024 * 1024 && result.seconds_us >= STALL_US);
        TASK_ASSERT(way != WAY_TCP || result.file_bytes > 0);
        p.peers = stream_free(p.peers);
        TASK_ASSERT(xfer_send(file, p.ours, &request, &result) == -FERRY_ECLOSED);
        (void)vfile_close(file);
        place_disconnect(&p);
    }
    place_close(&p);
}

static void a_peer_that_stops_or_goes_is_the_streams_fault(void **state)
{
    (void)state;
    run_deterministic(1, lose_reader, NULL);
    run_deterministic(2, lose_reader, NULL);
}

struct sender {
    struct place place;
    int result;
    struct xfer_result moved;
};

static void send_until_cancelled(void *arg)
{
    struct sender *s = arg;
    struct xfer_request request = {.length = UINT64_MAX};
    struct vfile *file = place_file(&s->place);
    s->result = xfer_send(file, s->place.ours, &request, &s->moved);
    (void)vfile_close(file);
}

static void cancel_send(void *arg)
{
    for (enum way way = 0; way < WAY_COUNT; way++) {
        struct sender *s = arg;
        struct scope scope;
        scope_init(&scope);
        place_open(&s->place, tmp, 0);
        place_write(&s->place, LARGE);
        TASK_ASSERT(truncate(place_path(&s->place), 40 * 1024 * 1024) == 0);
        place_connect(&s->place, way);
        TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_until_cancelled, s, NULL) ==
                    0);
        char c;
        TASK_ASSERT(stream_read(s->place.peers, &c, 1) == 1);
        scope_leave(&scope);
        TASK_ASSERT(s->result == -ECANCELED);
        place_disconnect(&s->place);
        place_close(&s->place);
    }
}

static void a_transfer_can_be_cancelled(void **state)
{
    (void)state;
    struct sender s;
    run_threaded(1, cancel_send, &s);
    run_deterministic(1, cancel_send, &s);
}

/* -- file systems without sendfile -- */

static void send_without_sendfile(void *arg)
{
    struct place p;
    struct sending s = {.request = {.length = UINT64_MAX}};
    (void)arg;
    place_open(&p, tmp, 0);
    place_write(&p, LARGE);
    place_connect(&p, WAY_TCP);
    /* sendfile(2): EINVAL for a descriptor with O_APPEND; send(2) does not look at it */
    int fd = io_fd_number(stream_fd(p.ours));
    TASK_ASSERT(fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND) == 0);
    TASK_ASSERT(send_file(&p, &s) == 0);
    TASK_ASSERT(!s.reader.wrong && s.reader.got == LARGE && s.result.wire_bytes == LARGE);
    place_disconnect(&p);
    place_close(&p);
}

static void without_sendfile_the_bytes_go_through_rooms(void **state)
{
    (void)state;
    run_deterministic(1, send_without_sendfile, NULL);
    run_threaded(1, send_without_sendfile, NULL);
}

/* -- a file that is not in memory -- */

static const struct {
    uint64_t size, cold_from;
} cold[] = {{50000, 0}, {LARGE, 0}, {LARGE, 1536 * 1024}};

static void send_cold_file(struct place *p, enum way way, uint64_t size, uint64_t cold_from)
{
    struct sending s = {.request = {.length = UINT64_MAX}};
    place_write(p, size);
    int fd = open(place_path(p), O_RDONLY | O_CLOEXEC);
    TASK_ASSERT(fd >= 0 && fsync(fd) == 0);
    TASK_ASSERT(posix_fadvise(fd, (off_t)cold_from, 0, POSIX_FADV_DONTNEED) == 0);
    TASK_ASSERT(close(fd) == 0);
    place_connect(p, way);
    TASK_ASSERT(send_file(p, &s) == 0);
    TASK_ASSERT(!s.reader.wrong && s.reader.got == size);
    place_disconnect(p);
}

static void send_cold(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, tmp, 0);
    for (enum way way = 0; way < WAY_COUNT; way++) {
        for (size_t i = 0; i < ARRAY_LEN(cold); i++)
            send_cold_file(&p, way, cold[i].size, cold[i].cold_from);
    }
    place_close(&p);
}

static void a_file_that_is_not_in_memory_is_sent_too(void **state)
{
    (void)state;
    run_deterministic(1, send_cold, NULL);
    run_threaded(1, send_cold, NULL);
}

/* -- ascii -- */

static void send_lines(void *arg)
{
    struct place p;
    struct xfer_request request = {.length = UINT64_MAX};
    struct xfer_result result;
    char got[32];
    (void)arg;
    place_open(&p, tmp, 0);
    place_connect(&p, WAY_TCP);
    int fd = open(place_path(&p), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    TASK_ASSERT(fd >= 0 && write(fd, "a\nb\r\nc", 6) == 6 && close(fd) == 0);
    TASK_ASSERT(ascii_stream_new(p.ours, &p.ours) == 0);
    struct vfile *file = place_file(&p);
    TASK_ASSERT(xfer_send(file, p.ours, &request, &result) == 0);
    TASK_ASSERT(result.file_bytes == 6 && result.wire_bytes == 7);
    (void)vfile_close(file);
    TASK_ASSERT(stream_read(p.peers, got, sizeof(got)) == 7);
    TASK_ASSERT(memcmp(got, "a\r\nb\r\nc", 7) == 0);
    place_disconnect(&p);
    place_close(&p);
}

static void a_filter_counts_wire_bytes_apart(void **state)
{
    (void)state;
    run_deterministic(1, send_lines, NULL);
}

#ifdef FERRY_FAULTS
static void fail_in_turn(void *arg)
{
    enum way way = *(enum way *)arg;
    struct place p;
    place_open(&p, tmp, 0);
    place_write(&p, 70000);
    for (enum fault_kind kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        int r = -EIO;
        for (unsigned n = 1; r != 0 && n < 60; n++) {
            struct xfer_request request = {.length = UINT64_MAX, .stall_us = STALL_US};
            struct xfer_result result;
            struct reader reader = {0};
            struct scope scope;
            scope_init(&scope);
            place_connect(&p, way);
            reader.stream = p.peers;
            struct vfile *file = place_file(&p);
            TASK_ASSERT(
                scope_start(&scope, "reader", TASK_NORMAL, read_pattern, &reader, NULL) == 0);
            fault_arm(kind, n);
            r = xfer_send(file, p.ours, &request, &result);
            fault_arm(kind, 0);
            TASK_ASSERT(r == 0 || r == -EIO || r == -ENOMEM || r == -FERRY_ECLOSED);
            TASK_ASSERT(r < 0 || result.file_bytes == 70000);
            (void)vfile_close(file);
            scope_leave(&scope);
            place_disconnect(&p);
        }
        TASK_ASSERT(r == 0); /* the last n was behind the last call */
    }
    place_close(&p);
}

static void each_failed_call_ends_the_transfer_and_leaks_nothing(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAY_COUNT; way++)
        run_deterministic(1, fail_in_turn, &way);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_sends_the_same_bytes),
        cmocka_unit_test(sendfile_can_be_forbidden),
        cmocka_unit_test(a_length_and_the_end_of_the_file_bound_it),
        cmocka_unit_test(a_file_that_shrinks_is_reported),
        cmocka_unit_test(a_bucket_sets_the_pace),
        cmocka_unit_test(a_peer_that_stops_or_goes_is_the_streams_fault),
        cmocka_unit_test(a_transfer_can_be_cancelled),
        cmocka_unit_test(without_sendfile_the_bytes_go_through_rooms),
        cmocka_unit_test(a_file_that_is_not_in_memory_is_sent_too),
        cmocka_unit_test(a_filter_counts_wire_bytes_apart),
#ifdef FERRY_FAULTS
        cmocka_unit_test(each_failed_call_ends_the_transfer_and_leaks_nothing),
#endif
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as runtime_signals_setup() does: sendfile(2) raises it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
