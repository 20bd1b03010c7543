/* labels: threads */
#include "io/compress.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"

#define DATA_BYTES 300000 /* several steps, and a part of one */

static uint8_t data[DATA_BYTES], got[DATA_BYTES + 1];

static const struct decoder_limits no_limits = {0};

/* Half of it repeats, half of it does not. */
static void make_data(void)
{
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof(data); i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        data[i] = i % 2000 < 1000 ? (uint8_t)x : (uint8_t)(i / 2000);
    }
}

static struct compress_settings settings_for(enum codec codec, int level)
{
    return (struct compress_settings){
        .codec = codec, .level = level, .pool = runtime_codec_pool(runtime_self())};
}

/* -- both filters, back to back -- */

struct pair {
    struct stream *writer, *reader;
    size_t len;
    size_t piece;    /* how much is sent at a time */
    bool by_room;    /* or by writes */
    bool is_flushed; /* after each piece */
    int sent;        /* what became of it */
};

static void open_pair(struct pair *p, enum codec codec, int level, uint64_t seed, size_t cap)
{
    struct stream *a, *b;
    struct compress_settings settings = settings_for(codec, level);
    TASK_ASSERT(memory_pair_new(cap, seed, &a, &b) == 0);
    TASK_ASSERT(compress_stream_new(a, &settings, &p->writer) == 0);
    TASK_ASSERT(decompress_stream_new(b, codec, &no_limits, settings.pool, NULL, &p->reader) ==
                0);
}

static void close_pair(struct pair *p)
{
    p->writer = stream_free(p->writer);
    p->reader = stream_free(p->reader);
}

static int send_one(struct pair *p, const uint8_t *at, size_t len)
{
    if (!p->by_room)
        return stream_write_bytes(p->writer, bytes_of(at, len));
    while (len > 0) {
        struct room room;
        int r = stream_room(p->writer, len, &room);
        if (r < 0)
            return r;
        size_t n = room.len;
        memcpy(room.pieces[0].iov_base, at, n);
        r = stream_send(p->writer, &room, n);
        if (r < 0)
            return r;
        at += n;
        len -= n;
    }
    return 0;
}

static void send_all(void *arg)
{
    struct pair *p = arg;
    int r = 0;
    for (size_t at = 0; at < p->len && r == 0; at += p->piece) {
        r = send_one(p, data + at, p->len - at < p->piece ? p->len - at : p->piece);
        if (r == 0 && p->is_flushed)
            r = stream_flush(p->writer);
    }
    p->sent = r == 0 ? stream_end(p->writer, 0) : r;
}

static ssize_t receive_one(struct pair *p, size_t max, bool by_take, uint8_t *to)
{
    if (!by_take)
        return stream_read(p->reader, to, max);
    struct slices slices;
    int r = stream_take(p->reader, max, &slices);
    if (r < 0 || slices.len == 0)
        return r;
    TASK_ASSERT(slices.count == 1 && slices.len <= max);
    memcpy(to, slices.pieces[0].iov_base, slices.len);
    ssize_t n = (ssize_t)slices.len;
    slices_drop(&slices);
    return n;
}

static void receive_all(struct pair *p, size_t max, bool by_take)
{
    size_t len = 0;
    for (ssize_t n = 1; n > 0; len += (size_t)n) {
        size_t room = sizeof(got) - len < max ? sizeof(got) - len : max;
        TASK_ASSERT(room > 0);
        n = receive_one(p, room, by_take, got + len);
        TASK_ASSERT(n >= 0);
    }
    TASK_ASSERT(len == p->len && memcmp(got, data, len) == 0);
    TASK_ASSERT(stream_read(p->reader, got, 1) == 0); /* the end stays the end */
}

static void exchange(struct pair *p, size_t max, bool by_take)
{
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_all, p, NULL) == 0);
    receive_all(p, max, by_take);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0 && p->sent == 0);
    struct stream_info out, in;
    stream_info(p->writer, &out);
    stream_info(p->reader, &in);
    TASK_ASSERT(out.sent_bytes == in.received_bytes && out.sent_bytes > 0);
    scope_leave(&scope);
}

static void exchange_all_ways(void *arg)
{
    (void)arg;
    static const size_t lengths[] = {0, 1, 1000, CODEC_STEP_BYTES, DATA_BYTES};
    static const size_t pieces[] = {DATA_BYTES, 40000, 777};
    unsigned seed = 0;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        for (size_t k = 0; k < ARRAY_LEN(pieces); k++)
            for (unsigned how = 0; how < 16; how++) {
                struct pair p = {.len = lengths[i],
                                 .piece = pieces[k],
                                 .by_room = how & 1,
                                 .is_flushed = how & 8};
                open_pair(&p, how & 2 ? CODEC_ZSTD : CODEC_ZLIB, 1, seed++ % 3, 50000);
                exchange(&p, how & 4 ? 100000 : 5000, how & 4);
                close_pair(&p);
            }
}

static void what_is_written_is_read_however_it_is_cut(void **state)
{
    (void)state;
    run_deterministic(1, exchange_all_ways, NULL);
}

static void exchange_at_each_level(void *arg)
{
    (void)arg;
    static const int levels[] = {0, 1, 6, 9, COMPRESS_AUTO};
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct pair p = {.len = DATA_BYTES, .piece = DATA_BYTES, .by_room = true};
        open_pair(&p, CODEC_ZLIB, levels[i], 0, 50000);
        exchange(&p, 100000, true);
        close_pair(&p);
    }
}

static void each_level_and_the_automatic_one_carry_the_same(void **state)
{
    (void)state;
    run_deterministic(1, exchange_at_each_level, NULL);
    run_threaded(1, exchange_at_each_level, NULL);
}

/* -- what is held back -- */

static void flush_and_look(void *arg)
{
    (void)arg;
    struct pair p = {.len = 0};
    open_pair(&p, CODEC_ZLIB, 6, 0, 50000);
    TASK_ASSERT(stream_write_bytes(p.writer, BYTES_LIT("a line")) == 0);
    TASK_ASSERT(stream_wait(p.reader, NULL, clock_now() + 1) == -ETIMEDOUT);
    TASK_ASSERT(stream_flush(p.writer) == 0);
    TASK_ASSERT(stream_read(p.reader, got, sizeof(got)) == 6);
    TASK_ASSERT(memcmp(got, "a line", 6) == 0);
    close_pair(&p);
}

static void a_flush_brings_all_that_was_written(void **state)
{
    (void)state;
    run_deterministic(1, flush_and_look, NULL);
}

/* More than a step makes at once, of input that is all there. */
static void flush_zeros(void *arg)
{
    (void)arg;
    static const uint8_t zeros[DATA_BYTES];
    for (int codec = CODEC_ZLIB; codec <= CODEC_ZSTD; codec++) {
        struct pair p = {.len = 0};
        open_pair(&p, (enum codec)codec, 1, 0, 50000);
        for (int i = 0; i < 4; i++)
            TASK_ASSERT(stream_write_bytes(p.writer, bytes_of(zeros, sizeof(zeros))) == 0);
        TASK_ASSERT(stream_flush(p.writer) == 0);
        for (size_t len = 0; len < 4 * sizeof(zeros);) {
            TASK_ASSERT(stream_wait(p.reader, NULL, clock_now() + 1) == 0);
            ssize_t n = stream_read(p.reader, got, sizeof(got));
            TASK_ASSERT(n > 0);
            len += (size_t)n;
        }
        close_pair(&p);
    }
}

static void what_was_flushed_comes_out_however_much_it_expands(void **state)
{
    (void)state;
    run_deterministic(1, flush_zeros, NULL);
}

static void trickle(void *arg)
{
    (void)arg;
    struct pair p = {.len = 0};
    open_pair(&p, CODEC_ZLIB, 6, 0, 50000);
    TASK_ASSERT(stream_write_bytes(p.writer, BYTES_LIT("now ")) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(2 * USEC_PER_S)) == 0);
    TASK_ASSERT(stream_write_bytes(p.writer, BYTES_LIT("and then")) == 0);
    TASK_ASSERT(stream_read(p.reader, got, sizeof(got)) == 12);
    TASK_ASSERT(memcmp(got, "now and then", 12) == 0);
    close_pair(&p);
}

static void a_source_that_trickles_is_not_held_back(void **state)
{
    (void)state;
    run_deterministic(1, trickle, NULL);
}

/* -- streams that are none, or not whole -- */

/* "aaaa...": 100 bytes, as zlib makes of them. */
static const uint8_t whole[] = {0x78, 0x9c, 0x4b, 0x4c, 0xa4, 0x3d,
                                0x00, 0x00, 0x7a, 0x47, 0x25, 0xe5};

struct hostile {
    const uint8_t *bytes;
    size_t len;
    struct decoder_limits limits;
    size_t read; /* before the result */
    int result;
};

/* What a reader gets of it, in pieces by this seed. */
static void read_hostile(struct hostile *h, uint64_t seed)
{
    struct stream *a, *b, *reader;
    TASK_ASSERT(memory_pair_new(100000, seed, &a, &b) == 0);
    TASK_ASSERT(decompress_stream_new(b, CODEC_ZLIB, &h->limits,
                                      runtime_codec_pool(runtime_self()), NULL, &reader) == 0);
    TASK_ASSERT(stream_write_bytes(a, bytes_of(h->bytes, h->len)) == 0);
    TASK_ASSERT(stream_end(a, 0) == 0);
    h->read = 0;
    ssize_t n;
    while ((n = stream_read(reader, got, sizeof(got))) > 0)
        h->read += (size_t)n;
    h->result = (int)n;
    TASK_ASSERT(stream_read(reader, got, 1) == n); /* it stays */
    (void)stream_free(reader);
    (void)stream_free(a);
}

static void tear_everywhere(void *arg)
{
    (void)arg;
    for (size_t len = 0; len <= sizeof(whole); len++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct hostile h = {.bytes = whole, .len = len};
            read_hostile(&h, seed);
            TASK_ASSERT(h.result == (len == sizeof(whole) ? 0 : -FERRY_ETRUNCATED));
            TASK_ASSERT(h.read <= 100 && (len != sizeof(whole) || h.read == 100));
        }
}

static void a_stream_that_ends_in_its_middle_is_truncated(void **state)
{
    (void)state;
    run_deterministic(1, tear_everywhere, NULL);
}

static void damage_everywhere(void *arg)
{
    (void)arg;
    uint8_t copy[sizeof(whole) + 1];
    for (size_t at = 0; at < sizeof(copy); at++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            memcpy(copy, whole, sizeof(whole));
            copy[sizeof(whole)] = 0x78; /* behind its end */
            bool is_behind = at == sizeof(whole);
            if (!is_behind)
                copy[at] ^= 0x55;
            struct hostile h = {.bytes = copy, .len = sizeof(whole) + is_behind};
            read_hostile(&h, seed);
            TASK_ASSERT(h.result == -EBADMSG || (!is_behind && h.result == -FERRY_ETRUNCATED));
            TASK_ASSERT(!is_behind || h.result == -EBADMSG);
        }
}

static void a_damaged_stream_and_one_with_more_behind_it_are_refused(void **state)
{
    (void)state;
    run_deterministic(1, damage_everywhere, NULL);
}

static void blow_up(void *arg)
{
    (void)arg;
    static uint8_t bomb[4096];
    struct coder *coder;
    struct buf out;
    buf_init(&out, sizeof(bomb));
    TASK_ASSERT(coder_new(CODEC_ZLIB, 9, &coder) == 0);
    memset(got, 0, sizeof(got));
    for (unsigned i = 0; i < 32; i++)
        TASK_ASSERT(coder_step(coder, bytes_of(got, CODEC_STEP_BYTES),
                               i < 31 ? CODER_MORE : CODER_END, &out) == 0);
    (void)coder_free(coder);
    struct hostile h = {.bytes = out.data, .len = out.len};
    read_hostile(&h, 0);
    TASK_ASSERT(h.result == 0 && h.read == 32 * CODEC_STEP_BYTES);
    h.limits = (struct decoder_limits){.ratio = 100, .ratio_after_bytes = 1024 * 1024};
    for (uint64_t seed = 0; seed < 3; seed++) {
        read_hostile(&h, seed);
        TASK_ASSERT(h.result == -FERRY_ELIMIT && h.read < 32 * CODEC_STEP_BYTES);
    }
    buf_done(&out);
}

static void a_bomb_is_stopped_at_its_ratio(void **state)
{
    (void)state;
    run_deterministic(1, blow_up, NULL);
}

/* -- leaving in the middle -- */

static void lose_the_reader(void *arg)
{
    (void)arg;
    struct pair p = {.len = DATA_BYTES, .piece = DATA_BYTES, .by_room = true};
    open_pair(&p, CODEC_ZLIB, 1, 0, 1000);
    p.reader = stream_free(p.reader);
    send_all(&p);
    TASK_ASSERT(p.sent == -FERRY_ECLOSED);
    TASK_ASSERT(stream_write_bytes(p.writer, BYTES_LIT("x")) == -FERRY_ECLOSED);
    TASK_ASSERT(stream_end(p.writer, 0) == -FERRY_ECLOSED);
    close_pair(&p);
}

static void a_reader_that_left_fails_every_write(void **state)
{
    (void)state;
    run_deterministic(1, lose_the_reader, NULL);
}

/* Whether it waits for a job or for the pipe, which takes little, is a matter of luck. */
static void cancel_a_sender(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 20; i++) {
        struct pair p = {.len = DATA_BYTES, .piece = DATA_BYTES, .by_room = true};
        struct scope scope;
        scope_init(&scope);
        open_pair(&p, CODEC_ZLIB, 9, 0, 1 + i * 20000);
        TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_all, &p, NULL) == 0);
        TASK_ASSERT(task_sleep_until(clock_now() + i * 300) == 0);
        scope_leave(&scope);
        TASK_ASSERT(p.sent == -ECANCELED || p.sent == 0);
        close_pair(&p);
    }
}

static void free_while_a_job_runs(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 20; i++) {
        struct pair p = {.len = DATA_BYTES, .piece = 150000, .by_room = true};
        open_pair(&p, CODEC_ZLIB, 9, 0, DATA_BYTES);
        TASK_ASSERT(send_one(&p, data, 100000) == 0);
        TASK_ASSERT(stream_flush(p.writer) == 0);
        TASK_ASSERT(send_one(&p, data, 70000) == 0); /* a step of it is in the pool */
        TASK_ASSERT(stream_read(p.reader, got, 1) == 1);
        close_pair(&p);
    }
}

static void whoever_leaves_while_a_job_runs_leaves_nothing_behind(void **state)
{
    (void)state;
    run_threaded(1, cancel_a_sender, NULL);
    run_threaded(1, free_while_a_job_runs, NULL);
}

#ifdef FERRY_FAULTS
static int one_dialogue(struct stream *a, struct stream *b)
{
    struct stream *writer = NULL, *reader = NULL;
    struct compress_settings settings = settings_for(CODEC_ZLIB, 6);
    int r = compress_stream_new(a, &settings, &writer);
    int made = decompress_stream_new(b, CODEC_ZLIB, &no_limits, settings.pool, NULL, &reader);
    if (r == 0)
        r = made;
    struct room room = {0};
    for (unsigned i = 0; i < 3 && r == 0; i++) {
        r = stream_room(writer, CODEC_STEP_BYTES, &room);
        if (r == 0)
            r = stream_send(writer, &room, room.len);
    }
    if (r == 0)
        r = stream_end(writer, 0);
    ssize_t n = r < 0 ? r : 1;
    while (n > 0)
        n = stream_read(reader, got, sizeof(got));
    (void)stream_free(writer);
    (void)stream_free(reader);
    return (int)n;
}

static void fail_each_allocation(void *arg)
{
    (void)arg;
    int r = -ENOMEM;
    for (unsigned n = 1; r < 0; n++) {
        struct stream *a, *b;
        TASK_ASSERT(n < 1000 && memory_pair_new(1000000, 0, &a, &b) == 0);
        fault_arm(FAULT_ALLOC, n);
        r = one_dialogue(a, b);
        fault_arm(FAULT_ALLOC, 0);
        TASK_ASSERT(r == 0 || r == -ENOMEM);
    }
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    run_deterministic(1, fail_each_allocation, NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_however_it_is_cut),
        cmocka_unit_test(each_level_and_the_automatic_one_carry_the_same),
        cmocka_unit_test(a_flush_brings_all_that_was_written),
        cmocka_unit_test(what_was_flushed_comes_out_however_much_it_expands),
        cmocka_unit_test(a_source_that_trickles_is_not_held_back),
        cmocka_unit_test(a_stream_that_ends_in_its_middle_is_truncated),
        cmocka_unit_test(a_damaged_stream_and_one_with_more_behind_it_are_refused),
        cmocka_unit_test(a_bomb_is_stopped_at_its_ratio),
        cmocka_unit_test(a_reader_that_left_fails_every_write),
        cmocka_unit_test(whoever_leaves_while_a_job_runs_leaves_nothing_behind),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_failed_allocation_leaks),
#endif
    };
    make_data();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
