/* The automatic choice beside each fixed level, over links, processors and data, in a model.
 *
 * The aim is 0.95 of the best fixed level in each cell, and 0.97 of what is stored. The bars
 * below are what is reached: cells that miss the aim are mostly those whose two seconds are
 * hardly longer than the first steps (32 KB/s, or a tenth of today's processor), and those in
 * which two levels are near each other; the worst is zstd's, of zeros at 126 KB/s on the slow
 * processor. They may become fewer, not more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "transfer_model.h"

static const double links[] = {32e3, 126e3, 494e3, 955e3, 8.5e6, 12.5e6, 125e6, 1250e6};
static const double slownesses[] = {1, 2, 10};
static const double rtts_us[] = {200, 40e3};
static const struct data_kind *const kinds[] = {&kind_zeros,  &kind_text, &kind_source,
                                                &kind_binary, &kind_jpeg, &kind_random};

#define SECONDS   2.0
#define OF_BEST   0.95
#define OF_STORED 0.97

struct bar {
    double worst_of_best, worst_of_stored;
    unsigned misses;
};

static struct transfer *transfer;

struct result {
    double automatic, best, stored;
    int best_level;
};

static int level_at(enum codec codec, unsigned i)
{
    return codec == CODEC_ZLIB ? kind_text.zlib[i].level : kind_text.zstd[i].level;
}

static struct result compare(const struct path *p, const struct phase *phases, unsigned count)
{
    struct result r = {.best = 0};
    unsigned levels =
        p->codec == CODEC_ZLIB ? ARRAY_LEN(kind_text.zlib) : ARRAY_LEN(kind_text.zstd);
    for (unsigned i = 0; i < levels; i++) {
        double rate = model_run(transfer, p, phases, count, level_at(p->codec, i));
        if (rate > r.best) {
            r.best = rate;
            r.best_level = level_at(p->codec, i);
        }
        if (level_at(p->codec, i) == 0)
            r.stored = rate;
    }
    r.automatic = model_run(transfer, p, phases, count, MODEL_AUTO);
    return r;
}

static void show(const struct path *p, const char *name, const struct result *r)
{
    char why[160];
    controller_explain(&transfer->controller.last, sizeof(why), why);
    print_message("%s %s, link %.0f KB/s, rtt %.1f ms, CPU/%g, kernel %d: %.3f of level %d, "
                  "%.3f of stored, %u "
                  "switches; %s\n",
                  p->codec == CODEC_ZLIB ? "zlib" : "zstd", name, p->link_bytes_per_s / 1e3,
                  p->rtt_us / 1e3, p->slowness, p->has_kernel_rate, r->automatic / r->best,
                  r->best_level, r->stored > 0 ? r->automatic / r->stored : 0,
                  transfer->switches, why);
}

static void run_grid(enum codec codec, const struct bar *bar)
{
    unsigned misses = 0, cells = 0;
    double worst = 9, worst_stored = 9;
    for (unsigned i = 0; i < ARRAY_LEN(links) * ARRAY_LEN(slownesses) * ARRAY_LEN(rtts_us) * 2;
         i++) {
        struct path p = {.codec = codec, .is_noisy = true};
        p.link_bytes_per_s = links[i % 8];
        p.slowness = slownesses[i / 8 % 3];
        p.rtt_us = rtts_us[i / 24 % 2];
        p.has_kernel_rate = i / 48;
        if (p.rtt_us > 1000 && (p.link_bytes_per_s > 200e6 || !p.has_kernel_rate))
            continue;
        for (unsigned k = 0; k < ARRAY_LEN(kinds); k++) {
            const struct phase phase = {kinds[k], SECONDS};
            struct result r = compare(&p, &phase, 1);
            double of_stored = r.stored > 0 ? r.automatic / r.stored : 9;
            cells++;
            worst = fmin(worst, r.automatic / r.best);
            worst_stored = fmin(worst_stored, of_stored);
            if (r.automatic < OF_BEST * r.best || of_stored < OF_STORED) {
                misses++;
                show(&p, kinds[k]->name, &r);
            }
        }
    }
    print_message("%u cells, %u miss the aim; worst %.3f of the best, %.3f of stored\n", cells,
                  misses, worst, worst_stored);
    assert_true(misses <= bar->misses);
    assert_true(worst >= bar->worst_of_best);
    assert_true(worst_stored >= bar->worst_of_stored);
}

static void zlib_grid(void **state)
{
    (void)state;
    const struct bar bar = {0.90, 0.93, 11};
    run_grid(CODEC_ZLIB, &bar);
}

static void zstd_grid(void **state)
{
    (void)state;
    const struct bar bar = {0.60, 0.96, 24};
    run_grid(CODEC_ZSTD, &bar);
}

/* Text, then pictures, then text: what was right a second ago is not now. */
static void follows_data_that_changes(void **state)
{
    (void)state;
    static const double rates[] = {494e3, 8.5e6, 12.5e6, 125e6};
    const struct phase phases[] = {{&kind_text, 2}, {&kind_jpeg, 4}, {&kind_text, 6}};
    for (unsigned i = 0; i < ARRAY_LEN(rates); i++) {
        struct path p = {.codec = CODEC_ZLIB, .is_noisy = true, .has_kernel_rate = true};
        p.link_bytes_per_s = rates[i];
        p.slowness = 1;
        p.rtt_us = 200;
        struct result r = compare(&p, phases, ARRAY_LEN(phases));
        if (r.automatic < OF_BEST * r.best)
            show(&p, "phases", &r);
        assert_true(r.automatic >= OF_BEST * r.best);
        assert_true(r.automatic >= OF_STORED * r.stored);
    }
}

static void a_source_that_is_slow_needs_no_high_level(void **state)
{
    (void)state;
    struct path p = {.codec = CODEC_ZLIB, .has_kernel_rate = true};
    const struct phase phase = {&kind_text, 3};
    p.link_bytes_per_s = 125e6;
    p.slowness = 1;
    p.rtt_us = 200;
    p.source_bytes_per_s = 1e6;
    double rate = model_run(transfer, &p, &phase, 1, MODEL_AUTO);
    assert_true(rate >= 0.95e6);
    assert_true(transfer->controller.last.level <= 1);
}

static void tells_why_in_words(void **state)
{
    (void)state;
    char text[160];
    const struct controller_decision d = {.level = 6,
                                          .limit = CONTROLLER_SINK,
                                          .sink_bytes_per_s = 494000,
                                          .cpu_bytes_per_s = 41000000,
                                          .ratio_per_mille = 290,
                                          .expect_bytes_per_s = 1700000,
                                          .runner_up = 1,
                                          .runner_up_bytes_per_s = 1500000};
    controller_explain(&d, sizeof(text), text);
    assert_string_equal(text, "level 6, limited by the link: 494 KB/s drain, ratio 0.290, CPU "
                              "41 MB/s; next best 1 at 1.5 MB/s");
    const struct controller_decision none = {
        .level = 1, .cpu_bytes_per_s = 150000000, .ratio_per_mille = 1000};
    controller_explain(&none, sizeof(text), text);
    assert_string_equal(text, "level 1, nothing known yet: ratio 1.000, CPU 150 MB/s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zlib_grid),
        cmocka_unit_test(zstd_grid),
        cmocka_unit_test(follows_data_that_changes),
        cmocka_unit_test(a_source_that_is_slow_needs_no_high_level),
        cmocka_unit_test(tells_why_in_words),
    };
    transfer = calloc(1, sizeof(*transfer));
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    free(transfer);
    return r;
}
