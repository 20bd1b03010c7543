#include "bench/engine/turns.h"

#include <string.h>

#include "check.h"

#define TURNS_MAX 1000

/* A row of servers a, b, ...: what each sample of theirs takes, and at which of its samples a
 * server fails (0: never). */
struct play {
    usec_t takes_us[4];
    unsigned fails_at[4];
    char order[TURNS_MAX + 1]; /* who had the turns */
};

static void play(struct turns *t, struct play *p)
{
    unsigned len = 0;
    int next;
    while ((next = turns_next(t)) >= 0) {
        unsigned server = (unsigned)next;
        assert_in_range(server, 0, t->count - 1);
        assert_true(len < TURNS_MAX);
        p->order[len++] = (char)('a' + next);
        turns_took(t, server, p->takes_us[server]);
        if (t->servers[server].samples == p->fails_at[server])
            turns_out(t, server);
    }
    p->order[len] = '\0';
}

static void each_round_begins_with_another_server(void **state)
{
    (void)state;
    struct turns t = {
        .count = 3, .wanted = 4, .least = 1, .share_us = 1000, .most_us = UINT64_MAX};
    struct play p = {.takes_us = {1, 1, 1}};
    play(&t, &p);
    assert_string_equal(p.order, "abcbcacababc");
}

static void a_fast_server_gets_what_is_wanted_and_no_more(void **state)
{
    (void)state;
    struct turns t = {
        .count = 2, .wanted = 21, .least = 5, .share_us = 1000, .most_us = UINT64_MAX};
    struct play p = {.takes_us = {1, 2}};
    play(&t, &p);
    assert_int_equal(t.servers[0].samples, 21);
    assert_int_equal(t.servers[1].samples, 21);
}

static void a_slow_server_gets_the_least_and_nothing_beyond_its_share(void **state)
{
    (void)state;
    struct turns t = {
        .count = 3, .wanted = 21, .least = 5, .share_us = 1000, .most_us = UINT64_MAX};
    struct play p = {.takes_us = {1, 1000000, 150}};
    play(&t, &p);
    assert_int_equal(t.servers[0].samples, 21);
    assert_int_equal(t.servers[1].samples, 5);
    assert_int_equal(t.servers[2].samples, 7); /* the seventh began before 1000 */
}

static void a_server_that_takes_for_ever_does_not_even_get_the_least(void **state)
{
    (void)state;
    struct turns t = {.count = 2, .wanted = 21, .least = 5, .share_us = 1000, .most_us = 3000};
    struct play p = {.takes_us = {1, 1600}};
    play(&t, &p);
    assert_int_equal(t.servers[1].samples, 2);
    t = (struct turns){.count = 2, .wanted = 21, .least = 5, .share_us = 1000, .most_us = 3000};
    p = (struct play){.takes_us = {1, 1000000}};
    play(&t, &p);
    assert_int_equal(t.servers[1].samples, 1);
}

static void the_first_server_goes_on_for_as_long_as_another_does(void **state)
{
    (void)state;
    struct turns t = {
        .count = 3, .wanted = 9, .least = 2, .share_us = 100, .most_us = UINT64_MAX};
    struct play p = {.takes_us = {1000000, 30, 1}};
    play(&t, &p);
    assert_int_equal(t.servers[1].samples, 4);
    assert_int_equal(t.servers[2].samples, 9);
    assert_int_equal(t.servers[0].samples, 9);
    /* Alone it is bounded by its share as others are. */
    t = (struct turns){
        .count = 1, .wanted = 9, .least = 2, .share_us = 100, .most_us = UINT64_MAX};
    play(&t, &p);
    assert_int_equal(t.servers[0].samples, 2);
}

static void each_sample_of_the_others_has_its_pair(void **state)
{
    (void)state;
    for (unsigned slow = 0; slow < 4; slow++) {
        for (usec_t share = 1; share < 40; share++) {
            struct turns t = {
                .count = 4, .wanted = 12, .least = 3, .share_us = share, .most_us = UINT64_MAX};
            struct play p = {.takes_us = {2, 3, 5, 7}};
            p.takes_us[slow] = 20;
            play(&t, &p);
            for (unsigned i = 1; i < t.count; i++)
                assert_true(t.servers[0].samples >= t.servers[i].samples);
        }
    }
}

static void a_server_that_fails_has_no_further_turn_and_the_others_go_on(void **state)
{
    (void)state;
    struct turns t = {
        .count = 3, .wanted = 6, .least = 2, .share_us = 1000, .most_us = UINT64_MAX};
    struct play p = {.takes_us = {1, 1, 1}, .fails_at = {0, 2, 0}};
    play(&t, &p);
    assert_int_equal(t.servers[1].samples, 2);
    assert_int_equal(t.servers[0].samples, 6);
    assert_int_equal(t.servers[2].samples, 6);
    /* Those that failed before the first round have none. */
    t = (struct turns){
        .count = 3, .wanted = 6, .least = 2, .share_us = 1000, .most_us = UINT64_MAX};
    turns_out(&t, 0);
    turns_out(&t, 1);
    play(&t, &p);
    assert_string_equal(p.order, "cccccc");
    t = (struct turns){
        .count = 1, .wanted = 6, .least = 2, .share_us = 1000, .most_us = UINT64_MAX};
    turns_out(&t, 0);
    assert_int_equal(turns_next(&t), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_round_begins_with_another_server),
        cmocka_unit_test(a_fast_server_gets_what_is_wanted_and_no_more),
        cmocka_unit_test(a_slow_server_gets_the_least_and_nothing_beyond_its_share),
        cmocka_unit_test(a_server_that_takes_for_ever_does_not_even_get_the_least),
        cmocka_unit_test(the_first_server_goes_on_for_as_long_as_another_does),
        cmocka_unit_test(each_sample_of_the_others_has_its_pair),
        cmocka_unit_test(a_server_that_fails_has_no_further_turn_and_the_others_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
