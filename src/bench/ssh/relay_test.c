/* The relay measures itself: an echo behind it says how long its round trip is, and how much it
 * lets through. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/ssh/relay.h"
#include "io/tcp.h"

#define TRIPS       5
#define BULK_BYTES  (UINT64_C(32) * 1024 * 1024)
#define BLOCK_BYTES (256 * 1024)
#define BULK_S      2 /* of a rate */
#define STALL_US    (10 * USEC_PER_S)
#define MB          (1024.0 * 1024.0)

/* The far end: sends a few bytes back, then takes many and says when all have come. */
struct far_end {
    struct listener *listener;
    struct addr addr;
    uint8_t *block;
    uint64_t bulk_bytes;
    usec_t all_came_at;
    int result;
};

static int serve(struct far_end *f, struct stream *stream)
{
    ssize_t n;
    uint64_t came = 0;
    uint8_t byte;
    for (unsigned i = 0; i < TRIPS; i++) {
        n = stream_read(stream, &byte, 1);
        int r = n == 1 ? stream_write_bytes(stream, bytes_of(&byte, 1)) : -FERRY_ECLOSED;
        if (r < 0)
            return r;
    }
    while (came < f->bulk_bytes) {
        n = stream_read(stream, f->block, BLOCK_BYTES);
        if (n <= 0)
            return n < 0 ? (int)n : -FERRY_ECLOSED;
        came += (uint64_t)n;
    }
    f->all_came_at = clock_now();
    return 0;
}

static void far_main(void *arg)
{
    struct far_end *f = arg;
    struct addr peer;
    struct io_fd *io;
    struct stream *stream;
    int fd, r = listener_accept(f->listener, BYTES_NONE, clock_after(STALL_US), &fd, &peer);
    if (r == 0)
        r = io_fd_new(fd, &io);
    if (r == 0)
        r = tcp_stream_new(io, STALL_US, &stream);
    if (r == 0) {
        r = serve(f, stream);
        stream_free(stream);
    }
    f->result = r;
}

static int compare(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return x < y ? -1 : x > y;
}

static int time_trips(struct stream *stream, usec_t *ret_us)
{
    usec_t trips[TRIPS];
    uint8_t byte = 0;
    for (unsigned i = 0; i < TRIPS; i++) {
        usec_t began = clock_now();
        int r = stream_write_bytes(stream, bytes_of(&byte, 1));
        ssize_t n = r == 0 ? stream_read(stream, &byte, 1) : r;
        if (n != 1)
            return n < 0 ? (int)n : -FERRY_ECLOSED;
        trips[i] = clock_now() - began;
    }
    qsort(trips, TRIPS, sizeof(trips[0]), compare);
    *ret_us = trips[TRIPS / 2];
    return 0;
}

static int send_bulk(struct stream *stream, const uint8_t *block, uint64_t bytes)
{
    int r = 0;
    for (uint64_t left = bytes; r == 0 && left > 0;) {
        size_t n = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        r = stream_write_bytes(stream, bytes_of(block, n));
        left -= n;
    }
    return r;
}

static int measure(struct far_end *far, struct scope *scope, const struct relay *relay,
                   struct relay_quality *ret)
{
    struct io_fd *io;
    struct stream *stream;
    int r = tcp_connect(relay_addr(relay), NULL, clock_after(STALL_US), &io);
    if (r == 0)
        r = tcp_stream_new(io, STALL_US, &stream);
    if (r < 0)
        return r;
    r = time_trips(stream, &ret->round_trip_us);
    usec_t began = clock_now();
    if (r == 0)
        r = send_bulk(stream, far->block, far->bulk_bytes);
    if (r == 0)
        r = scope_wait(scope, clock_after(STALL_US)); /* the far end has all, or failed */
    stream_free(stream);
    if (r == 0)
        r = far->result;
    if (r < 0)
        return r;
    usec_t one_way_us = ret->round_trip_us / 2;
    usec_t took = far->all_came_at - began;
    usec_t moving = took > one_way_us ? took - one_way_us : 1;
    ret->mb_per_s = (double)far->bulk_bytes / MB * (double)USEC_PER_S / (double)moving;
    return 0;
}

static int listen_for(struct far_end *far)
{
    int fd, r = addr_parse(BYTES_LIT("127.0.0.1:0"), &far->addr);
    if (r == 0)
        r = tcp_listen(&far->addr, 1, &fd);
    return r == 0 ? listener_new(fd, &far->listener) : r;
}

int relay_test(usec_t round_trip_us, struct relay_quality *ret)
{
    const struct relay_path path = {.round_trip_us = round_trip_us};
    return relay_test_shaped(&path, ret);
}

int relay_test_shaped(const struct relay_path *path, struct relay_quality *ret)
{
    struct far_end far = {
        .block = mem_new(BLOCK_BYTES),
        .bulk_bytes = path->bytes_per_s > 0 ? path->bytes_per_s * BULK_S : BULK_BYTES,
    };
    struct relay *relay = NULL;
    struct scope scope;
    scope_init(&scope);
    int r = far.block != NULL ? listen_for(&far) : -ENOMEM;
    if (r == 0)
        r = relay_new_shaped(&far.addr, path, &relay);
    if (r == 0)
        r = scope_start(&scope, "relay's test", TASK_NORMAL, far_main, &far, NULL);
    if (r == 0)
        r = measure(&far, &scope, relay, ret);
    scope_leave(&scope);
    relay_free(relay);
    listener_free(far.listener);
    mem_free(far.block);
    return r;
}
