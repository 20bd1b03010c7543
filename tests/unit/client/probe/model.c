#include "client/probe/model.h"

#include <math.h>

#include "base/attr.h"
#include "check.h"

#define KB   1e3
#define MB   1e6
#define NEAR 0.03 /* of a rate */

/* Text on a CPU of today; noise; the same text on a CPU that is 40 times as slow. */
static const struct probe_data text = {
    .levels = {{0},
               {0.31, 150 * MB},
               {0.30, 140 * MB},
               {0.29, 110 * MB},
               {0.27, 100 * MB},
               {0.26, 75 * MB},
               {0.25, 45 * MB},
               {0.249, 35 * MB},
               {0.248, 24 * MB},
               {0.248, 22 * MB}},
    .expand_bytes_per_s = 350 * MB,
};

static const struct probe_data noise = {
    .levels = {{0},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB},
               {1.0003, 50 * MB}},
    .expand_bytes_per_s = 2000 * MB,
};

static struct probe_data slowed(double times)
{
    struct probe_data d = text;
    for (int i = 1; i < PROBE_LEVELS; i++)
        d.levels[i].bytes_per_s /= times;
    d.expand_bytes_per_s /= times;
    return d;
}

static struct probe_facts link_of(double rate)
{
    return (struct probe_facts){.rates = {rate, rate, PROBE_LINK, PROBE_UNKNOWN},
                                .cipher_bytes_per_s = 4000 * MB,
                                .rtt_us = 1000,
                                .is_ssh = true,
                                .can_compress = true,
                                .has_tar = true};
}

static void assert_near(double is, double should)
{
    if (fabs(is / should - 1) > NEAR)
        fail_msg("%f is not near %f", is, should);
}

static const struct probe_forecast *best_of(const struct probe_advice *a)
{
    return &a->up[a->best];
}

static void the_link_and_the_cpu_decide_which_way_is_best(void **state)
{
    (void)state;

    const struct {
        const char *name;
        double rate, slower; /* the CPU, so many times; 0: noise is sent */
        enum probe_way way;
        int level; /* that it is expected to take */
        double least, most;
        enum probe_part limit;
    } rows[] = {
        {"a modem's: the best ratio", 32 * KB, 1, PROBE_WAY_AUTO, 9, 120 * KB, 130 * KB,
         PROBE_LINK},
        {"1 MB/s: still", 1 * MB, 1, PROBE_WAY_AUTO, 6, 3.6 * MB, 4.1 * MB, PROBE_LINK},
        {"100 Mbit/s: less than the highest", 11.9 * MB, 1, PROBE_WAY_AUTO, 5, 38 * MB, 47 * MB,
         PROBE_LINK},
        {"1 Gbit/s: the lowest", 119 * MB, 1, PROBE_WAY_AUTO, 1, 125 * MB, 150 * MB,
         PROBE_CPU_HERE},
        {"10 Gbit/s: none", 1190 * MB, 1, PROBE_WAY_NONE, 0, 1189 * MB, 1191 * MB, PROBE_LINK},
        {"a slow CPU at 100 Mbit/s: none", 11.9 * MB, 40, PROBE_WAY_NONE, 0, 11.8 * MB, 12 * MB,
         PROBE_LINK},
        {"a slow CPU at 126 KB/s", 126 * KB, 40, PROBE_WAY_AUTO, 9, 440 * KB, 510 * KB,
         PROBE_LINK},
        {"noise at 32 KB/s: none", 32 * KB, 0, PROBE_WAY_NONE, 0, 31.9 * KB, 32.1 * KB,
         PROBE_LINK},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct probe_facts f = link_of(rows[i].rate);
        const struct probe_data slow = slowed(rows[i].slower > 0 ? rows[i].slower : 1);
        struct probe_advice a;
        probe_advise(&f, rows[i].slower > 0 ? &slow : &noise, &a);
        const struct probe_forecast *best = best_of(&a);
        bool is_right = best->way == rows[i].way && best->limit == rows[i].limit &&
                        best->bytes_per_s > rows[i].least && best->bytes_per_s < rows[i].most;
        bool is_level =
            best->level == rows[i].level || (rows[i].level == 9 && best->level >= 6);
        if (!is_right || !is_level)
            fail_msg("%s: way %d, level %d, %f B/s, limit %d", rows[i].name, (int)best->way,
                     best->level, best->bytes_per_s, (int)best->limit);
    }
}

static void every_alternative_is_told(void **state)
{
    (void)state;
    struct probe_facts f = link_of(MB);
    struct probe_advice a;
    probe_advise(&f, &text, &a);
    assert_int_equal(a.up_count, PROBE_FORECASTS);
    assert_int_equal(a.up[0].way, PROBE_WAY_NONE);
    for (unsigned i = 1; i < PROBE_LEVELS; i++)
        assert_int_equal(a.up[i].level, i);
    assert_int_equal(a.up[10].way, PROBE_WAY_AUTO);
    assert_int_equal(a.up[11].way, PROBE_WAY_OPENSSH);
    f.is_ssh = false; /* nobody has OpenSSH's compression over FTP */
    probe_advise(&f, &text, &a);
    assert_int_equal(a.up_count, PROBE_FORECASTS - 1);
    f.can_compress = false;
    probe_advise(&f, &text, &a);
    assert_int_equal(a.up_count, 1);
    assert_int_equal(a.best, 0);
    f.rates.up = 0; /* read-only: nothing is promised */
    probe_advise(&f, &text, &a);
    assert_int_equal(a.up_count, 0);
    assert_near(a.down_plain, MB);
}

static void openssh_has_one_level_and_one_thread(void **state)
{
    (void)state;
    struct probe_facts f = link_of(MB);
    struct probe_advice a;
    probe_advise(&f, &text, &a);
    assert_near(a.up[11].bytes_per_s, 4 * MB);
    assert_true(a.openssh_compresses);
    f = link_of(119 * MB); /* level 6 does 45 MB/s, so it makes it slower */
    probe_advise(&f, &text, &a);
    assert_true(a.up[11].bytes_per_s < 45 * MB && a.up[11].bytes_per_s > 40 * MB);
    assert_false(a.openssh_compresses);
    f.cipher_bytes_per_s = 30 * MB; /* and a slow cipher takes its time from the same thread */
    probe_advise(&f, &text, &a);
    assert_near(a.up[11].bytes_per_s, 1 / (1 / (45 * MB) + 0.25 / (30 * MB) + 1 / (3000 * MB)));
}

static void what_expands_there_can_be_what_holds_it_back(void **state)
{
    (void)state;
    struct probe_facts f = link_of(50 * MB);
    struct probe_data d = text;
    struct probe_advice a;
    d.expand_bytes_per_s = 60 * MB;
    probe_advise(&f, &d, &a);
    assert_int_equal(a.up[1].limit, PROBE_PEER);
    assert_true(a.up[1].bytes_per_s < 60 * MB && a.up[1].bytes_per_s > 50 * MB);
}

static void fetching_is_as_the_server_compresses(void **state)
{
    (void)state;
    struct probe_facts f = link_of(119 * MB);
    struct probe_advice a;
    probe_advise(&f, &text, &a); /* sshd: level 6, whatever the link */
    assert_true(a.down_packed < 45 * MB);
    assert_false(a.down_compresses);
    f.is_ferry = true; /* ferryd: level 1 here */
    probe_advise(&f, &text, &a);
    assert_true(a.down_packed > 119 * MB);
    f.rates.down = 0;
    probe_advise(&f, &text, &a);
    assert_true(a.down_plain <= 0 && a.down_packed <= 0 && !a.down_compresses);
}

static void nothing_measured_gives_no_number_that_is_none(void **state)
{
    (void)state;
    const struct probe_facts f = {.is_ssh = true, .can_compress = true};
    const struct probe_data d = {.expand_bytes_per_s = 0};
    struct probe_facts only_up = link_of(MB);
    struct probe_advice a;
    probe_advise(&f, &d, &a);
    assert_int_equal(a.up_count, 0);
    only_up.cipher_bytes_per_s = 0;
    probe_advise(&only_up, &d, &a);
    for (unsigned i = 0; i < a.up_count; i++)
        assert_true(isfinite(a.up[i].bytes_per_s) && a.up[i].bytes_per_s >= 0);
    assert_int_equal(a.best, 0);
}

static void the_part_that_holds_back_follows_from_the_shares(void **state)
{
    (void)state;
    assert_int_equal(probe_limit_of(0.9, 1, 0), PROBE_CPU_HERE);
    assert_int_equal(probe_limit_of(0.3, 0.95, 0.1), PROBE_LINK);
    assert_int_equal(probe_limit_of(0.3, 0.95, 0.6), PROBE_PEER);
    assert_int_equal(probe_limit_of(0.3, 0.5, 0.5), PROBE_UNKNOWN);
}

static void small_files_wait_for_round_trips_or_go_as_tar(void **state)
{
    (void)state;
    struct probe_facts f = link_of(10 * MB);
    const struct probe_files files = {.mean_bytes = 4096, .at_once = 16};
    struct probe_small s;
    f.rtt_us = 100000;
    probe_small_files(&f, &files, &s);
    assert_near(s.single_per_s, 16 / (5 * 0.1));
    assert_int_equal(s.single_limit, PROBE_ROUND_TRIPS);
    assert_near(s.tar_per_s, 10 * MB / (4096 + 768));
    assert_true(s.prefers_tar);
    f.has_tar = false;
    probe_small_files(&f, &files, &s);
    assert_true(s.tar_per_s <= 0 && !s.prefers_tar);
    f.is_ssh = false; /* FTP: one at a time */
    probe_small_files(&f, &(struct probe_files){.mean_bytes = 4096, .at_once = 1}, &s);
    assert_near(s.single_per_s, 1 / (7 * 0.1));
    f = link_of(100 * KB);
    f.rtt_us = 100; /* the link is what is slow */
    probe_small_files(&f, &files, &s);
    assert_near(s.single_per_s, 100 * KB / 4096);
    assert_int_equal(s.single_limit, PROBE_LINK);
    f = link_of(500 * MB); /* neither: then it is making them */
    f.rtt_us = 100;
    probe_small_files(&f, &files, &s);
    assert_true(s.single_per_s < 4000 && s.single_limit == PROBE_PEER && !s.prefers_tar);
    f.rates.up = 0;
    probe_small_files(&f, &files, &s);
    assert_true(s.single_per_s <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_link_and_the_cpu_decide_which_way_is_best),
        cmocka_unit_test(every_alternative_is_told),
        cmocka_unit_test(openssh_has_one_level_and_one_thread),
        cmocka_unit_test(what_expands_there_can_be_what_holds_it_back),
        cmocka_unit_test(fetching_is_as_the_server_compresses),
        cmocka_unit_test(nothing_measured_gives_no_number_that_is_none),
        cmocka_unit_test(the_part_that_holds_back_follows_from_the_shares),
        cmocka_unit_test(small_files_wait_for_round_trips_or_go_as_tar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
