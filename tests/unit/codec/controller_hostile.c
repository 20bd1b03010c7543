/* The controller among measurements that are none: of zero, beyond all bounds, late, or absent.
 *
 * Whatever it is told, the level is one of the codec's, the figures of a decision are finite,
 * and a level changes by a decision only, but for single steps that are tries. Of a transfer
 * that is even, with noise as real ones have it, the level comes to rest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "transfer_model.h"

#define RATE_SANE        UINT64_C(10000000000000) /* 10 TB/s */
#define DECISIONS_US_MIN (10 * USEC_PER_MS)

static const enum codec codecs[] = {CODEC_ZLIB, CODEC_ZSTD, CODEC_GZIP};

static void assert_level(enum codec codec, int level)
{
    static const int zlib[] = {0, 1, 2, 3, 4, 5, 6, 9}, zstd[] = {0, -7, 1, 3, 6, 9, 19};
    const int *levels = codec == CODEC_ZSTD ? zstd : zlib;
    unsigned count = codec == CODEC_ZSTD ? ARRAY_LEN(zstd) : ARRAY_LEN(zlib), i = 0;
    while (i < count && levels[i] != level)
        i++;
    assert_true(i < count);
}

static void assert_sane(const struct controller *c)
{
    const struct controller_decision *d = &c->last;
    char text[160];
    assert_level(c->codec, d->level);
    assert_level(c->codec, d->runner_up);
    assert_true(d->limit <= CONTROLLER_SOURCE);
    assert_true(d->sink_bytes_per_s <= RATE_SANE);
    assert_true(d->source_bytes_per_s <= RATE_SANE);
    assert_true(d->cpu_bytes_per_s <= RATE_SANE);
    assert_true(d->expect_bytes_per_s <= d->cpu_bytes_per_s);
    assert_true(d->ratio_per_mille <= 1001);
    assert_true(isfinite(c->inner.sink_bytes_per_s) && c->inner.sink_bytes_per_s >= 0);
    assert_true(c->inner.data > 0 && c->inner.data <= 1);
    size_t unsent = controller_unsent_max(c);
    assert_true(unsent >= 16 * 1024 && unsent <= 512 * 1024);
    controller_explain(d, sizeof(text), text);
    assert_true(strlen(text) < sizeof(text) - 1); /* nothing was cut off */
}

/* Mostly a figure as links have it; else nothing, a little, or more than can be. */
static uint64_t figure(uint64_t *seed, uint64_t usual)
{
    static const uint64_t odd[] = {0, 1, UINT32_MAX, UINT64_C(1) << 53, UINT64_MAX};
    size_t kind = dice_below(seed, 20);
    return kind < ARRAY_LEN(odd) ? odd[kind] : dice(seed) % (usual + 1);
}

static void tell_anything(struct controller *c, uint64_t *seed, usec_t now, int level)
{
    /* in_bytes has a coder's bound, all else is from clocks and the kernel */
    static const int unknown[] = {-100, 7, 1000};
    if (dice_below(seed, 10) == 0)
        level = unknown[dice_below(seed, ARRAY_LEN(unknown))];
    switch (dice_below(seed, 4)) {
    case 0:
        controller_step(c, now, level, dice_below(seed, CODEC_STEP_BYTES + 1),
                        (size_t)figure(seed, CODEC_STEP_BYTES), figure(seed, 20000));
        return;
    case 1:
        controller_sink(c, now, figure(seed, 1000000), figure(seed, 100000000),
                        figure(seed, 100000));
        return;
    case 2:
        controller_source(c, now, (size_t)figure(seed, 100000), figure(seed, 10000));
        return;
    default:
        controller_round_trip(c, figure(seed, 100000));
    }
}

static void stays_sane_whatever_it_is_told(void **state)
{
    (void)state;
    for (uint64_t run = 1; run <= 300; run++) {
        struct controller c;
        uint64_t seed = run * 7919;
        usec_t now = run % 3 == 0 ? 0 : dice(&seed) >> 20;
        controller_init(&c, codecs[run % ARRAY_LEN(codecs)], now);
        int level = c.last.level, stands = level;
        usec_t decided_at = 0;
        for (unsigned i = 0; i < 1000; i++) {
            usec_t moves = dice_below(&seed, 20000);
            now +=
                dice_below(&seed, 8) > 0 ? moves : (usec_t)0 - moves; /* back, now and then */
            tell_anything(&c, &seed, now, level);
            bool is_decision = controller_decide(&c, now, &level);
            assert_level(c.codec, level);
            assert_true(is_decision || c.last.level == stands);
            stands = c.last.level;
            if (is_decision) {
                assert_int_equal(level, stands);
                assert_true(decided_at == 0 || c.last.at >= decided_at + DECISIONS_US_MIN);
                decided_at = c.last.at;
            }
            assert_sane(&c);
        }
    }
}

/* One word of a clock that is behind must not make a window of ages, nor a decision each step.
 */
static void time_does_not_go_back(void **state)
{
    (void)state;
    struct controller c;
    usec_t now = 1000000;
    int level;
    controller_init(&c, CODEC_ZLIB, now);
    controller_sink(&c, now, 0, 0, 0);
    for (unsigned i = 1; i <= 100; i++) {
        now += 10000;
        controller_step(&c, now, 6, CODEC_STEP_BYTES, CODEC_STEP_BYTES / 2, 1000);
        controller_sink(&c, now, i * 30000, 0, 100000);
        (void)controller_decide(&c, now, &level);
    }
    double rate = c.inner.sink_bytes_per_s;
    assert_true(rate > 2.5e6 && rate < 3.5e6);
    usec_t decided_at = c.last.at;
    controller_sink(&c, now - 900000, 3000000, 0, 100000);
    controller_step(&c, now - 900000, 6, CODEC_STEP_BYTES, CODEC_STEP_BYTES / 2, 1000);
    for (unsigned i = 0; i < 20; i++)
        if (controller_decide(&c, now - 900000, &level))
            assert_true(i == 0);
    controller_sink(&c, now + 10000, 3030000, 0, 100000);
    assert_true(c.inner.sink_bytes_per_s > rate / 2);
    assert_true(c.last.at >= decided_at);
}

/* A sink that reports nothing is not a reason to stop deciding, nor to take a level that slows:
 * what is idle is taken for fast. */
static void a_sink_that_says_nothing_is_taken_for_fast(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_LEN(codecs); k++) {
        struct controller c;
        int level = 6;
        controller_init(&c, codecs[k], 0);
        for (usec_t now = 0; now < 3 * USEC_PER_S; now += 10000) {
            controller_sink(&c, now, 0, 0, 0);
            (void)controller_decide(&c, now, &level);
            controller_step(&c, now, level, CODEC_STEP_BYTES, CODEC_STEP_BYTES / 4, 1000);
        }
        assert_true(c.last.at > 2 * USEC_PER_S);
        assert_true(c.last.level <= 1);
        assert_sane(&c);
    }
}

/* A sink that takes nothing for long is as slow as can be: what it gets must be small. */
static void a_sink_that_stalls_gets_the_smallest(void **state)
{
    (void)state;
    struct controller c;
    int level = 6;
    controller_init(&c, CODEC_ZLIB, 0);
    for (usec_t now = 0; now < 10 * USEC_PER_S; now += 100000) {
        uint64_t acked = now < 2 * USEC_PER_S ? now / 10 : USEC_PER_S / 5;
        controller_sink(&c, now, acked, 0, 60000);
        (void)controller_decide(&c, now, &level);
        if (now % 500000 == 0)
            controller_step(&c, now, level, CODEC_STEP_BYTES, CODEC_STEP_BYTES / 4, 1500);
    }
    assert_true(level >= 6);
    assert_int_equal(controller_unsent_max(&c), 16 * 1024);
    assert_sane(&c);
}

/* Even data over an even link: the level comes to rest. What still moves are hopes about the
 * sink, which come more and more seldom; each goes and comes back. */
#define AT_REST_AFTER_US 2e6
#define AT_REST_UNTIL_US 6e6
#define MOVES_MAX        2

static void a_level_comes_to_rest(void **state)
{
    (void)state;
    static const double rates[] = {126e3, 955e3, 8.5e6, 125e6, 1250e6};
    static const struct data_kind *const kinds[] = {&kind_zeros, &kind_text, &kind_jpeg};
    struct transfer *t = calloc(1, sizeof(*t));
    for (unsigned i = 0; i < ARRAY_LEN(rates) * ARRAY_LEN(kinds) * 2; i++) {
        struct path p = {.codec = codecs[i % 2], .is_noisy = true, .has_kernel_rate = true};
        p.link_bytes_per_s = rates[i / 2 % ARRAY_LEN(rates)];
        p.slowness = 1;
        p.rtt_us = 200;
        *t = (struct transfer){
            .path = &p, .seed = 88172645463325252u + i, .fixed_level = MODEL_AUTO};
        controller_init(&t->controller, p.codec, 0);
        controller_round_trip(&t->controller, (usec_t)p.rtt_us);
        while (t->now_us < AT_REST_AFTER_US)
            model_step(t, kinds[i / 2 / ARRAY_LEN(rates)]);
        unsigned before = t->switches;
        while (t->now_us < AT_REST_UNTIL_US)
            model_step(t, kinds[i / 2 / ARRAY_LEN(rates)]);
        if (t->switches - before > MOVES_MAX)
            print_message("%s at %.0f KB/s: %u moves, %u before\n",
                          kinds[i / 2 / ARRAY_LEN(rates)]->name, p.link_bytes_per_s / 1e3,
                          t->switches - before, before);
        assert_true(t->switches - before <= MOVES_MAX);
    }
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_sane_whatever_it_is_told),
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(a_sink_that_says_nothing_is_taken_for_fast),
        cmocka_unit_test(a_sink_that_stalls_gets_the_smallest),
        cmocka_unit_test(a_level_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
