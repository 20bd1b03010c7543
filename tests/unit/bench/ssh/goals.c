#include "bench/report/goals.h"

#include <stdio.h>
#include <string.h>

#include "bench/ssh/suite.h"
#include "check.h"

static struct bench_row row;
static struct bench_results results = {
    .rows = &row, .count = 1, .servers = {{.name = "ferryd"}}};
static struct goal_result goals[GOALS_MAX];

static struct bench_cell *add_cell(const char *target, double cpu_s_per_byte)
{
    struct bench_cell *cell = &row.cells[row.count++];
    snprintf(cell->target, sizeof(cell->target), "%s", target);
    for (unsigned i = 0; i < 5; i++) {
        cell->samples[i] = 1;
        cell->cpu_samples[i] = cpu_s_per_byte;
    }
    cell->sample_count = 5;
    cell->bytes = 1000;
    cell->has_server_cpu = true;
    bench_cell_finish(cell, row.unit, &row.cells[0]);
    return cell;
}

static void begin(const char *name, enum bench_unit unit)
{
    memset(&row, 0, sizeof(row));
    row.name = name;
    row.unit = unit;
    row.clients = 300;
}

static const struct goal_result *decided(const char *what)
{
    unsigned count = goals_decide(&ssh_goals, &results, goals);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(goals[i].what, what) == 0)
            return &goals[i];
    return NULL;
}

static const char a_core[] = "1.8 GB/s of a core of the server";

static void a_server_s_cpu_is_bounded_for_each_gb(void **state)
{
    (void)state;
    begin("cat", BENCH_MB_PER_S);
    struct bench_cell *ours = add_cell("ferryd", 0.5e-9);
    const struct goal_result *g = decided(a_core);
    assert_non_null(g);
    assert_int_equal(g->verdict, BENCH_MET);
    assert_float_equal(g->value, 0.5, 1e-9);
    for (unsigned i = 0; i < 5; i++)
        ours->cpu_samples[i] = 0.6e-9;
    assert_int_equal(decided(a_core)->verdict, BENCH_MISSED);
    ours->cpu_samples[0] = ours->cpu_samples[1] = 0.5e-9; /* the median may be either */
    assert_int_equal(decided(a_core)->verdict, BENCH_UNDECIDED);
    ours->has_server_cpu = false;
    assert_null(decided(a_core));
}

static const char a_hundredth[] = "a hundredth of sshd's a session";

static void one_session_more_is_compared_with_one_of_the_peer_s(void **state)
{
    (void)state;
    begin("memory", BENCH_MB);
    struct bench_cell *ours = add_cell("ferryd", 0), *peer = add_cell("sshd", 0);
    ours->has_slope = peer->has_slope = true;
    ours->slope_bytes = 7000;
    peer->slope_bytes = 700000;
    const struct goal_result *g = decided(a_hundredth);
    assert_non_null(g);
    assert_int_equal(g->verdict, BENCH_MET);
    assert_float_equal(g->value, 100, 1e-9);
    assert_string_equal(g->peer, "sshd");
    peer->slope_bytes = 699000;
    assert_int_equal(decided(a_hundredth)->verdict, BENCH_MISSED);
    ours->slope_bytes = 0; /* nothing is no ratio */
    assert_null(decided(a_hundredth));
    peer->has_slope = false;
    assert_null(decided(a_hundredth));
    row.clients = 299;
    assert_null(decided(a_hundredth));
}

/* Two processes that share the work are each below what one core can do. */
static void the_busiest_process_of_a_client_says_whether_it_is_the_limit(void **state)
{
    (void)state;
    struct bench_cell cell = {.wall_us = 100, .client_cpu_us = 120};
    assert_true(bench_cell_is_client_limited(&cell));
    cell.client_busiest_us = 90;
    assert_false(bench_cell_is_client_limited(&cell));
    cell.client_busiest_us = 96;
    assert_true(bench_cell_is_client_limited(&cell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_s_cpu_is_bounded_for_each_gb),
        cmocka_unit_test(one_session_more_is_compared_with_one_of_the_peer_s),
        cmocka_unit_test(the_busiest_process_of_a_client_says_whether_it_is_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
