#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/limits.h"
#include "check.h"
#include "codec/codec.h"
#include "codec_data.h"

#define DATA_BYTES (640 * 1024)
#define OUT_CAP    (4 * 1024 * 1024)

static const struct decoder_limits no_limits;

static const enum codec codecs[] = {CODEC_ZLIB, CODEC_ZSTD};

struct run {
    enum codec codec;
    uint64_t seed;
    uint8_t *data, *back;
    size_t back_len;
    struct coder *coder;
    struct decoder *decoder;
};

static int any_level(struct run *r)
{
    static const int zstd_levels[] = {-7, -1, 0, 0, 1, 3, 6, 9, 12, 15, 19};
    if (r->codec == CODEC_ZLIB)
        return (int)dice_below(&r->seed, CODEC_ZLIB_LEVEL_MAX + 1);
    return zstd_levels[dice_below(&r->seed, ARRAY_LEN(zstd_levels))];
}

static void run_start(struct run *r, enum codec codec, uint64_t seed)
{
    *r = (struct run){.codec = codec, .seed = seed};
    r->data = malloc(DATA_BYTES);
    r->back = malloc(DATA_BYTES + 1);
    assert_true(r->data != NULL && r->back != NULL);
    fill_mixed(&r->seed, r->data, DATA_BYTES);
    assert_int_equal(coder_new(codec, any_level(r), &r->coder), 0);
    assert_int_equal(decoder_new(codec, &no_limits, &r->decoder), 0);
}

static void run_end(struct run *r)
{
    coder_free(r->coder);
    decoder_free(r->decoder);
    free(r->data);
    free(r->back);
}

/* The decoder gets it in random pieces, and has random room. */
static int decode(struct run *r, struct bytes in)
{
    int result = 0;
    while (in.len > 0 && result == 0) {
        struct bytes piece = bytes_first(in, 1 + dice_below(&r->seed, 5000));
        in = bytes_skip(in, piece.len);
        size_t max, len;
        do {
            max = 1 + dice_below(&r->seed, 20000);
            if (max > DATA_BYTES + 1 - r->back_len)
                max = DATA_BYTES + 1 - r->back_len;
            result = decoder_step(r->decoder, &piece, r->back + r->back_len, max, &len);
            assert_true(result >= 0 && len <= max);
            r->back_len += len;
        } while (result == 0 && (len == max || piece.len > 0));
    }
    return result;
}

static int step(struct run *r, struct bytes in, enum coder_flush flush)
{
    struct buf out;
    buf_init(&out, coder_bound(r->coder, in.len));
    assert_int_equal(coder_step(r->coder, in, flush, &out), 0);
    int result = decode(r, buf_bytes(&out));
    buf_done(&out);
    return result;
}

/* Levels and flushes by dice; a bound that does not hold is -FERRY_ELIMIT in step(). */
static void compare_random_run(enum codec codec, uint64_t seed)
{
    struct run r;
    size_t at = 0;
    int result = 0;
    run_start(&r, codec, seed);
    size_t step_max = dice_below(&r.seed, 4) == 0 ? 300 : CODEC_STEP_BYTES;
    size_t total = step_max == 300 ? DATA_BYTES / 8 : DATA_BYTES;
    while (at < total) {
        if (dice_below(&r.seed, 3) == 0)
            assert_int_equal(coder_set_level(r.coder, any_level(&r)), 0);
        struct bytes in = bytes_of(r.data + at, dice_below(&r.seed, step_max + 1));
        in = bytes_first(in, total - at);
        bool is_sync = dice_below(&r.seed, 3) == 0;
        result = step(&r, in, is_sync ? CODER_SYNC : CODER_MORE);
        at += in.len;
        assert_int_equal(result, 0);
        assert_true(!is_sync || r.back_len == at);
    }
    result = step(&r, BYTES_NONE, CODER_END);
    assert_int_equal(result, codec == CODEC_ZLIB ? 1 : 0);
    assert_true(decoder_is_at_boundary(r.decoder));
    assert_int_equal(r.back_len, total);
    assert_memory_equal(r.back, r.data, total);
    run_end(&r);
}

static void any_levels_and_flushes_come_back_byte_for_byte(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (size_t i = 0; i < ARRAY_LEN(codecs); i++)
            compare_random_run(codecs[i], seed * 7919);
}

static size_t packed_size(struct coder *c, const uint8_t *data, enum coder_flush flush)
{
    struct buf out;
    buf_init(&out, OUT_CAP);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(coder_step(c, bytes_of(data + i * CODEC_STEP_BYTES, CODEC_STEP_BYTES),
                                    i < 3 ? CODER_MORE : flush, &out),
                         0);
    size_t len = out.len;
    buf_done(&out);
    return len;
}

/* zstd alone would say yes and go on as before. */
static void a_new_level_is_in_force_from_the_next_step(void **state)
{
    (void)state;
    static const int low[] = {[CODEC_ZLIB] = 1, [CODEC_ZSTD] = 1};
    static const int high[] = {[CODEC_ZLIB] = 9, [CODEC_ZSTD] = 12};
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct run r;
        struct coder *fixed;
        run_start(&r, codecs[i], 5);
        assert_int_equal(coder_new(codecs[i], low[codecs[i]], &fixed), 0);
        assert_int_equal(coder_set_level(r.coder, low[codecs[i]]), 0);
        size_t at_low = packed_size(r.coder, r.data, CODER_SYNC);
        assert_true(at_low + 64 > packed_size(fixed, r.data, CODER_SYNC));
        assert_int_equal(coder_set_level(r.coder, high[codecs[i]]), 0);
        assert_int_equal(coder_level(r.coder), high[codecs[i]]);
        assert_true(packed_size(r.coder, r.data, CODER_SYNC) < at_low * 98 / 100);
        coder_free(fixed);
        run_end(&r);
    }
}

static void level_0_stores(void **state)
{
    (void)state;
    static const uint8_t zeros[4 * CODEC_STEP_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct coder *c;
        assert_int_equal(coder_new(codecs[i], 6, &c), 0);
        assert_true(packed_size(c, zeros, CODER_SYNC) < 2000);
        assert_int_equal(coder_set_level(c, 0), 0);
        size_t len = packed_size(c, zeros, CODER_SYNC);
        assert_true(len >= sizeof(zeros) && len < sizeof(zeros) + 200);
        coder_free(c);
    }
}

/* RFC 1952: two bytes of magic, deflate; at the end the length, little-endian. What is between
 * is zlib's, whatever the level. */
/* An image of a disk that holds nothing yet, to a receiver that looks out for bombs. */
static void zeros_are_no_bomb(void **state)
{
    (void)state;
    const struct decoder_limits limits = {.ratio = EXPAND_RATIO_MAX,
                                          .ratio_after_bytes = EXPAND_FREE_BYTES};
    static uint8_t zeros[CODEC_STEP_BYTES], back[4 * CODEC_STEP_BYTES];
    for (unsigned i = 0; i < ARRAY_LEN(codecs); i++) {
        struct coder *c;
        struct decoder *d;
        struct buf out;
        uint64_t moved = 0, packed = 0;
        size_t len;
        assert_int_equal(coder_new(codecs[i], 1, &c), 0);
        assert_int_equal(decoder_new(codecs[i], &limits, &d), 0);
        buf_init(&out, coder_bound(c, CODEC_STEP_BYTES));
        while (moved < 2 * EXPAND_FREE_BYTES) {
            buf_clear(&out);
            assert_int_equal(coder_step(c, bytes_of(zeros, sizeof(zeros)), CODER_SYNC, &out),
                             0);
            assert_int_equal(coder_level(c), 1);
            struct bytes in = buf_bytes(&out);
            packed += in.len;
            do {
                assert_int_equal(decoder_step(d, &in, back, sizeof(back), &len), 0);
                assert_true(len == 0 || (back[0] == 0 && memcmp(back, back + 1, len - 1) == 0));
                moved += len;
            } while (len == sizeof(back) || in.len > 0);
        }
        assert_true(packed < moved / 100); /* most of it is compressed all the same */
        buf_done(&out);
        coder_free(c);
        decoder_free(d);
    }
}

static void gzip_is_framed_as_one_member(void **state)
{
    (void)state;
    uint8_t data[3000];
    struct coder *c;
    struct decoder *d;
    struct buf out;
    memset(data, 'x', sizeof(data));
    buf_init(&out, OUT_CAP);
    assert_int_equal(coder_new(CODEC_GZIP, 6, &c), 0);
    assert_int_equal(coder_step(c, bytes_of(data, sizeof(data)), CODER_SYNC, &out), 0);
    assert_int_equal(coder_set_level(c, 0), 0);
    assert_int_equal(coder_step(c, bytes_of(data, sizeof(data)), CODER_END, &out), 0);
    assert_true(out.len > sizeof(data) && out.len < sizeof(data) + 200);
    assert_true(out.data[0] == 0x1f && out.data[1] == 0x8b && out.data[2] == 8);
    const uint8_t *end = out.data + out.len;
    assert_int_equal(end[-4] | end[-3] << 8 | end[-2] << 16, 2 * sizeof(data));
    assert_int_equal(decoder_new(CODEC_GZIP, &no_limits, &d), -EINVAL);
    coder_free(c);
    buf_done(&out);
}

static void a_flush_of_nothing_puts_out_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct coder *c;
        struct buf out;
        buf_init(&out, OUT_CAP);
        assert_int_equal(coder_new(codecs[i], 6, &c), 0);
        assert_int_equal(coder_step(c, BYTES_NONE, CODER_SYNC, &out), 0);
        assert_int_equal(coder_step(c, BYTES_NONE, CODER_MORE, &out), 0);
        assert_int_equal(coder_step(c, BYTES_LIT("packet"), CODER_SYNC, &out), 0);
        size_t len = out.len;
        assert_true(len > 0);
        assert_int_equal(coder_step(c, BYTES_NONE, CODER_SYNC, &out), 0);
        assert_int_equal(coder_set_level(c, 1), 0);
        assert_int_equal(coder_step(c, BYTES_NONE, CODER_SYNC, &out), 0);
        assert_int_equal(out.len, len);
        buf_done(&out);
        coder_free(c);
    }
}

/* What was held back comes with the flush, though it has no input itself. */
static void a_flush_without_input_brings_what_was_held_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct run r;
        run_start(&r, codecs[i], 11);
        assert_int_equal(step(&r, bytes_of(r.data, 1000), CODER_MORE), 0);
        assert_true(r.back_len < 1000);
        assert_int_equal(step(&r, BYTES_NONE, CODER_SYNC), 0);
        assert_int_equal(r.back_len, 1000);
        run_end(&r);
    }
}

/* So that the output of a step is known as its level's. */
static void of_a_whole_step_nothing_is_held_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct run r;
        run_start(&r, codecs[i], 17);
        assert_int_equal(step(&r, bytes_of(r.data, CODEC_STEP_BYTES / 2 - 1), CODER_MORE), 0);
        assert_true(r.back_len < CODEC_STEP_BYTES / 2 - 1);
        struct bytes next = bytes_of(r.data + CODEC_STEP_BYTES / 2 - 1, 1);
        assert_int_equal(step(&r, next, CODER_MORE), 0);
        assert_int_equal(r.back_len, CODEC_STEP_BYTES / 2);
        run_end(&r);
    }
}

static void a_stream_of_nothing_is_a_stream(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct run r;
        run_start(&r, codecs[i], 3);
        assert_int_equal(step(&r, BYTES_NONE, CODER_END), codecs[i] == CODEC_ZLIB);
        assert_true(decoder_is_at_boundary(r.decoder));
        assert_int_equal(r.back_len, 0);
        run_end(&r);
    }
}

static void an_output_beyond_the_cap_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct run r;
        struct buf out;
        run_start(&r, codecs[i], 4);
        buf_init(&out, 100);
        assert_int_equal(
            coder_step(r.coder, bytes_of(r.data, CODEC_STEP_BYTES), CODER_SYNC, &out),
            -FERRY_ELIMIT);
        buf_done(&out);
        run_end(&r);
    }
}

static void only_levels_that_there_are_are_taken(void **state)
{
    (void)state;
    struct coder *c;
    assert_int_equal(coder_new(CODEC_NONE, 1, &c), -EINVAL);
    assert_int_equal(coder_new(CODEC_ZLIB, -1, &c), -EINVAL);
    assert_int_equal(coder_new(CODEC_ZLIB, 10, &c), -EINVAL);
    assert_int_equal(coder_new(CODEC_ZSTD, -8, &c), -EINVAL);
    assert_int_equal(coder_new(CODEC_ZSTD, 20, &c), -EINVAL);
    assert_int_equal(coder_new(CODEC_ZSTD, 19, &c), 0);
    assert_int_equal(coder_set_level(c, 20), -EINVAL);
    assert_int_equal(coder_level(c), 19);
    coder_free(c);
    assert_null(coder_free(NULL));
}

/* All that is allocated, in a stream with a change of level: zlib's and our own. */
static int run_once(enum codec codec)
{
    struct coder *c;
    struct buf out;
    int r = coder_new(codec, 1, &c);
    if (r < 0)
        return r;
    buf_init(&out, OUT_CAP);
    r = coder_step(c, BYTES_LIT("abc"), CODER_MORE, &out);
    if (r == 0)
        r = coder_set_level(c, 9);
    if (r == 0)
        r = coder_step(c, BYTES_LIT("abc"), CODER_END, &out);
    buf_done(&out);
    coder_free(c);
    return r;
}

static void no_memory_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        uint64_t n = 0;
        int r;
        do {
            fault_arm(FAULT_ALLOC, ++n);
            r = run_once(codecs[i]);
            assert_true(r == 0 || r == -ENOMEM);
        } while (r != 0);
        fault_arm(FAULT_ALLOC, 0);
        assert_true(n > (codecs[i] == CODEC_ZLIB ? 5 : 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_levels_and_flushes_come_back_byte_for_byte),
        cmocka_unit_test(a_new_level_is_in_force_from_the_next_step),
        cmocka_unit_test(level_0_stores),
        cmocka_unit_test(zeros_are_no_bomb),
        cmocka_unit_test(gzip_is_framed_as_one_member),
        cmocka_unit_test(a_flush_of_nothing_puts_out_nothing),
        cmocka_unit_test(a_flush_without_input_brings_what_was_held_back),
        cmocka_unit_test(of_a_whole_step_nothing_is_held_back),
        cmocka_unit_test(a_stream_of_nothing_is_a_stream),
        cmocka_unit_test(an_output_beyond_the_cap_is_refused),
        cmocka_unit_test(only_levels_that_there_are_are_taken),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
