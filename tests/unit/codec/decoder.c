#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"
#include "check_bytes.h"
#include "codec/codec.h"
#include "codec_data.h"

#define CAP (1024 * 1024)

static const struct decoder_limits no_limits;

static const enum codec codecs[] = {CODEC_ZLIB, CODEC_ZSTD};

static const uint8_t zeros[CODEC_STEP_BYTES];

/* One whole stream, appended. */
static void pack(enum codec codec, int level, struct bytes in, struct buf *out)
{
    struct coder *c;
    assert_int_equal(coder_new(codec, level, &c), 0);
    assert_int_equal(coder_step(c, in, CODER_END, out), 0);
    coder_free(c);
}

static struct decoder *decoder_of(enum codec codec, const struct decoder_limits *limits)
{
    struct decoder *d;
    assert_int_equal(decoder_new(codec, limits, &d), 0);
    return d;
}

/* To the end of the input or the first result that is not 0. */
static int unpack(struct decoder *d, struct bytes *in, size_t *ret_total)
{
    static uint8_t room[16 * 1024];
    size_t len;
    int r;
    *ret_total = 0;
    do {
        r = decoder_step(d, in, room, sizeof(room), &len);
        if (r >= 0)
            *ret_total += len;
    } while (r == 0 && (in->len > 0 || len == sizeof(room)));
    return r;
}

static void what_follows_a_zlib_stream_is_left(void **state)
{
    (void)state;
    struct buf packed;
    uint8_t room[64];
    size_t len;
    buf_init(&packed, CAP);
    pack(CODEC_ZLIB, 6, BYTES_LIT("payload"), &packed);
    assert_int_equal(buf_append_str(&packed, "tail"), 0);
    struct decoder *d = decoder_of(CODEC_ZLIB, &no_limits);
    struct bytes in = buf_bytes(&packed);
    assert_int_equal(decoder_step(d, &in, room, sizeof(room), &len), 1);
    assert_bytes_equal(bytes_of(room, len), "payload");
    assert_bytes_equal(in, "tail");
    assert_true(decoder_is_at_boundary(d));
    assert_int_equal(decoder_step(d, &in, room, sizeof(room), &len), 1);
    assert_int_equal(len, 0);
    assert_bytes_equal(in, "tail");
    decoder_free(d);
    buf_done(&packed);
}

static void frames_of_zstd_follow_each_other(void **state)
{
    (void)state;
    struct buf packed;
    uint8_t room[64];
    size_t len;
    buf_init(&packed, CAP);
    pack(CODEC_ZSTD, 1, BYTES_LIT("one "), &packed);
    pack(CODEC_ZSTD, 19, BYTES_LIT(""), &packed);
    pack(CODEC_ZSTD, -7, BYTES_LIT("two"), &packed);
    struct decoder *d = decoder_of(CODEC_ZSTD, &no_limits);
    struct bytes in = buf_bytes(&packed);
    assert_true(decoder_is_at_boundary(d));
    assert_int_equal(decoder_step(d, &in, room, sizeof(room), &len), 0);
    assert_bytes_equal(bytes_of(room, len), "one two");
    assert_int_equal(in.len, 0);
    assert_true(decoder_is_at_boundary(d));
    decoder_free(d);
    buf_done(&packed);
}

/* 64 KB of zeros are some dozen bytes, all of which go in with the first call. */
static void what_is_inside_comes_without_more_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf packed;
        uint8_t room[1000];
        size_t len, total = 0, calls = 0;
        int r;
        buf_init(&packed, CAP);
        pack(codecs[i], 6, bytes_of(zeros, sizeof(zeros)), &packed);
        struct decoder *d = decoder_of(codecs[i], &no_limits);
        struct bytes in = buf_bytes(&packed);
        do {
            r = decoder_step(d, &in, room, sizeof(room), &len);
            assert_true(r >= 0);
            total += len;
            calls++;
        } while (r == 0 && len == sizeof(room));
        assert_int_equal(total, sizeof(zeros));
        assert_int_equal(calls, sizeof(zeros) / sizeof(room) + 1);
        assert_true(decoder_is_at_boundary(d));
        decoder_free(d);
        buf_done(&packed);
    }
}

static void asking_for_nothing_is_no_failure(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct decoder *d = decoder_of(codecs[i], &no_limits);
        uint8_t room[16];
        size_t len;
        for (unsigned n = 0; n < 100; n++) {
            struct bytes in = BYTES_NONE;
            assert_int_equal(decoder_step(d, &in, room, n % 2 ? sizeof(room) : 0, &len), 0);
            assert_int_equal(len, 0);
        }
        decoder_free(d);
        assert_null(decoder_free(NULL));
    }
}

/* Cut at each byte: no failure, nothing invented, and it is known that something is missing. */
static void a_torn_stream_is_not_at_a_boundary(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf packed;
        size_t total;
        buf_init(&packed, CAP);
        pack(codecs[i], 6, BYTES_LIT("some text, some text, and more text"), &packed);
        for (size_t n = 0; n < packed.len; n++) {
            struct decoder *d = decoder_of(codecs[i], &no_limits);
            struct bytes in = bytes_of(packed.data, n);
            assert_int_equal(unpack(d, &in, &total), 0);
            assert_int_equal(in.len, 0);
            assert_int_equal(decoder_is_at_boundary(d), codecs[i] == CODEC_ZSTD && n == 0);
            decoder_free(d);
        }
        buf_done(&packed);
    }
}

/* Each bit of the head, the data and the checksum. Some bits of a head say only how hard the
 * sender tried or what window it had; with those changed it is the same text, with any other no
 * whole stream. */
static void no_changed_bit_gives_another_text(void **state)
{
    (void)state;
    static const char text[] = "some text, some text, and more text";
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf packed;
        size_t found = 0;
        buf_init(&packed, CAP);
        pack(codecs[i], 6, bytes_str(text), &packed);
        for (size_t bit = 0; bit < packed.len * 8; bit++) {
            struct decoder *d = decoder_of(codecs[i], &no_limits);
            struct bytes in = buf_bytes(&packed);
            uint8_t room[1000];
            size_t len;
            packed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            int r = decoder_step(d, &in, room, sizeof(room), &len);
            packed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (r >= 0 && decoder_is_at_boundary(d))
                assert_true(bytes_equal(bytes_of(room, len), bytes_str(text)));
            else
                found++;
            decoder_free(d);
        }
        assert_true(found > packed.len * 8 - 8);
        buf_done(&packed);
    }
}

static void after_a_failure_nothing_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct decoder *d = decoder_of(codecs[i], &no_limits);
        struct bytes in = BYTES_LIT("these are no compressed bytes");
        uint8_t room[100];
        size_t len = 77;
        assert_int_equal(decoder_step(d, &in, room, sizeof(room), &len), -EBADMSG);
        struct buf packed;
        buf_init(&packed, CAP);
        pack(codecs[i], 6, BYTES_LIT("good"), &packed);
        in = buf_bytes(&packed);
        assert_int_equal(decoder_step(d, &in, room, sizeof(room), &len), -EBADMSG);
        assert_int_equal(in.len, packed.len);
        assert_int_equal(len, 77);
        buf_done(&packed);
        decoder_free(d);
    }
}

static void pack_zeros(enum codec codec, size_t steps, struct buf *out)
{
    struct coder *c;
    assert_int_equal(coder_new(codec, 6, &c), 0);
    for (size_t i = 0; i < steps; i++)
        assert_int_equal(coder_step(c, bytes_of(zeros, sizeof(zeros)),
                                    i + 1 < steps ? CODER_MORE : CODER_END, out),
                         0);
    coder_free(c);
}

static void a_bomb_is_stopped_soon_after_the_bytes_it_is_granted(void **state)
{
    (void)state;
    const struct decoder_limits limits = {.ratio = 100, .ratio_after_bytes = 1024 * 1024};
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf packed;
        static uint8_t room[16 * 1024];
        size_t len, total = 0;
        int r;
        buf_init(&packed, CAP);
        pack_zeros(codecs[i], 64, &packed);
        struct decoder *d = decoder_of(codecs[i], &limits);
        struct bytes in = buf_bytes(&packed);
        while ((r = decoder_step(d, &in, room, sizeof(room), &len)) == 0)
            total += len;
        assert_int_equal(r, -FERRY_ELIMIT);
        assert_in_range(total, 1024 * 1024 - sizeof(room), 1024 * 1024);
        decoder_free(d);
        buf_done(&packed);
    }
}

/* A text that is as good as zeros at first is no bomb. */
static void a_high_ratio_is_fine_below_the_limit(void **state)
{
    (void)state;
    const struct decoder_limits limits = {.ratio = 1032, .ratio_after_bytes = 1000};
    struct buf packed;
    size_t total;
    buf_init(&packed, CAP);
    pack_zeros(CODEC_ZLIB, 64, &packed);
    struct decoder *d = decoder_of(CODEC_ZLIB, &limits);
    struct bytes in = buf_bytes(&packed);
    assert_int_equal(unpack(d, &in, &total), 1);
    assert_int_equal(total, 64 * sizeof(zeros));
    decoder_free(d);
    buf_done(&packed);
}

/* Head of a frame (RFC 8878 3.1.1.1): magic, a descriptor of nothing, the window's exponent. */
static void a_window_over_the_limit_is_refused_at_its_head(void **state)
{
    (void)state;

    static const struct {
        size_t window_bytes;
        uint8_t log;
        int result;
    } rows[] = {
        {0, 23, 0},          {0, 24, -FERRY_ELIMIT},
        {64 * 1024, 16, 0},  {64 * 1024, 17, -FERRY_ELIMIT},
        {100 * 1024, 16, 0}, {100 * 1024, 17, -FERRY_ELIMIT},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct decoder_limits limits = {.window_bytes = rows[i].window_bytes};
        const uint8_t head[] = {0x28, 0xB5, 0x2F, 0xFD, 0, (uint8_t)((rows[i].log - 10) << 3)};
        struct decoder *d = decoder_of(CODEC_ZSTD, &limits);
        struct bytes in = bytes_of(head, sizeof(head));
        size_t total;
        assert_int_equal(unpack(d, &in, &total), rows[i].result);
        decoder_free(d);
    }
}

/* A stream that wants a dictionary, as RFC 1950 2.2 lets it: nobody agreed on one. */
static void a_preset_dictionary_is_refused(void **state)
{
    (void)state;
    static const uint8_t head[] = {0x78, 0xBB, 0, 0, 0, 1, 3, 0};
    struct decoder *d = decoder_of(CODEC_ZLIB, &no_limits);
    struct bytes in = bytes_of(head, sizeof(head));
    size_t total;
    assert_int_equal(unpack(d, &in, &total), -EBADMSG);
    decoder_free(d);
}

static int run_once(struct bytes in)
{
    struct decoder *d;
    size_t total;
    int r = decoder_new(CODEC_ZLIB, &no_limits, &d);
    if (r < 0)
        return r;
    r = unpack(d, &in, &total);
    decoder_free(d);
    return r;
}

static void no_memory_is_said(void **state)
{
    (void)state;
    struct buf packed;
    uint64_t n = 0;
    int r;
    buf_init(&packed, CAP);
    pack_zeros(CODEC_ZLIB, 2, &packed);
    do {
        fault_arm(FAULT_ALLOC, ++n);
        r = run_once(buf_bytes(&packed));
        assert_true(r == 1 || r == -ENOMEM);
    } while (r != 1);
    fault_arm(FAULT_ALLOC, 0);
    assert_true(n > 3);
    buf_done(&packed);
    struct decoder *d;
    assert_int_equal(decoder_new(CODEC_NONE, &no_limits, &d), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_a_zlib_stream_is_left),
        cmocka_unit_test(frames_of_zstd_follow_each_other),
        cmocka_unit_test(what_is_inside_comes_without_more_input),
        cmocka_unit_test(asking_for_nothing_is_no_failure),
        cmocka_unit_test(a_torn_stream_is_not_at_a_boundary),
        cmocka_unit_test(no_changed_bit_gives_another_text),
        cmocka_unit_test(after_a_failure_nothing_comes),
        cmocka_unit_test(a_bomb_is_stopped_soon_after_the_bytes_it_is_granted),
        cmocka_unit_test(a_high_ratio_is_fine_below_the_limit),
        cmocka_unit_test(a_window_over_the_limit_is_refused_at_its_head),
        cmocka_unit_test(a_preset_dictionary_is_refused),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
