#include "bench/report/goals.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "bench/ftp/suite.h"
#include "check.h"

#define MIB UINT64_C(1048576)

static struct bench_row rows[8];
static struct bench_results results = {.rows = rows, .servers = {{.name = "ferryd"}}};
static struct goal_result goals[GOALS_MAX];
static unsigned goal_count;

static int setup(void **state)
{
    (void)state;
    memset(rows, 0, sizeof(rows));
    results.count = 0;
    return 0;
}

static struct bench_row *add_row(const char *name, enum bench_unit unit, unsigned clients)
{
    struct bench_row *row = &rows[results.count++];
    row->name = name;
    row->unit = unit;
    row->clients = clients;
    return row;
}

/* Five samples of this value, none of which is off. */
static struct bench_cell *add_cell(struct bench_row *row, const char *target, double value)
{
    struct bench_cell *cell = &row->cells[row->count++];
    snprintf(cell->target, sizeof(cell->target), "%s", target);
    cell->is_floor = strcmp(target, "floor") == 0;
    for (unsigned i = 0; i < 5; i++)
        cell->samples[i] = value;
    cell->sample_count = 5;
    bench_cell_finish(cell, row->unit, &row->cells[0]);
    return cell;
}

static struct bench_cell *with_cpu(struct bench_row *row, struct bench_cell *cell, double cpu)
{
    cell->has_server_cpu = true;
    for (unsigned i = 0; i < cell->sample_count; i++)
        cell->cpu_samples[i] = cpu;
    bench_cell_finish(cell, row->unit, &row->cells[0]);
    return cell;
}

static const struct goal_result *decided(const char *row, const char *what)
{
    goal_count = goals_decide(&ftp_goals, &results, goals);
    for (unsigned i = 0; i < goal_count; i++)
        if (strcmp(goals[i].row, row) == 0 && strcmp(goals[i].what, what) == 0)
            return &goals[i];
    return NULL;
}

static void the_best_peer_and_the_floor_are_told_apart(void **state)
{
    (void)state;
    struct bench_row *row = add_row("retr", BENCH_MB_PER_S, 1);
    add_cell(row, "ferryd", 1000);
    add_cell(row, "vsftpd", 1040);
    add_cell(row, "proftpd", 900);
    add_cell(row, "floor", 1200);
    const struct goal_result *g = decided("retr", "at least 0.95 of every peer");
    assert_int_equal(g->verdict, BENCH_MET);
    assert_string_equal(g->peer, "vsftpd");
    assert_float_equal(g->value, (1000.0 / 1040), 1e-6);
    assert_float_equal(goal_margin(g), (1000.0 / 1040 / 0.95 - 1), 1e-6);
    g = decided("retr", "at least 0.90 of the floor");
    assert_int_equal(g->verdict, BENCH_MISSED);
    assert_float_equal(g->value, (1000.0 / 1200), 1e-6);
    assert_true(goal_margin(g) < 0);
    assert_null(decided("retr", "less CPU than every peer")); /* nobody's was measured */
    assert_int_equal(goal_count, 2);
}

static void a_peer_that_undecides_counts_before_a_lower_one_that_is_met(void **state)
{
    (void)state;
    struct bench_row *row = add_row("stor", BENCH_MB_PER_S, 1);
    add_cell(row, "ferryd", 1000);
    add_cell(row, "vsftpd", 1050);
    struct bench_cell *other = add_cell(row, "proftpd", 1000);
    other->ratio.interval = (struct statistics_interval){0.8, 1.3};
    const struct goal_result *g = decided("stor", "at least 0.95 of every peer");
    assert_int_equal(g->verdict, BENCH_UNDECIDED);
    assert_string_equal(g->peer, "proftpd");
}

static void what_is_not_there_is_left_out_and_never_met(void **state)
{
    (void)state;
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
    struct bench_row *row = add_row("retr", BENCH_MB_PER_S, 1);
    add_cell(row, "ferryd", 1000);
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
    struct bench_cell *peer = add_cell(row, "vsftpd", 10);
    assert_non_null(decided("retr", "at least 0.95 of every peer"));
    snprintf(peer->error, sizeof(peer->error), "gone");
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
    add_row("login_hashed", BENCH_PER_S, 300); /* with nobody in it */
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
}

static void a_peer_that_stands_first_meets_nothing_for_ferryd(void **state)
{
    (void)state;
    struct bench_row *row = add_row("retr", BENCH_MB_PER_S, 1);
    add_cell(row, "vsftpd", 1000);
    add_cell(row, "proftpd", 10);
    add_cell(row, "floor", 1000);
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
}

static void a_row_in_which_ferryd_failed_is_missed(void **state)
{
    (void)state;
    struct bench_row *row = add_row("memory", BENCH_MB, 300);
    struct bench_cell *ours = add_cell(row, "ferryd", 1);
    add_cell(row, "pyftpdlib", 10)->has_memory = true;
    snprintf(ours->error, sizeof(ours->error), "gone");
    static const char *const what[] = {
        "at most 4M of memory", "a quarter of pyftpdlib's memory", "at most 1.5K a session"};
    for (size_t i = 0; i < ARRAY_LEN(what); i++) {
        const struct goal_result *g = decided("memory", what[i]);
        assert_int_equal(g->verdict, BENCH_MISSED);
        assert_false(g->is_known);
    }
}

static void named_peers_alone_count_where_a_goal_names_one(void **state)
{
    (void)state;
    struct bench_row *row = add_row("login", BENCH_SECS, 300);
    with_cpu(row, add_cell(row, "ferryd", 0.03), 0.6);
    with_cpu(row, add_cell(row, "vsftpd", 0.5), 0.1);
    const char *what = "at most 0.6 of pyftpdlib's CPU";
    assert_null(decided("login", what));
    with_cpu(row, add_cell(row, "pyftpdlib", 0.06), 1.01);
    const struct goal_result *g = decided("login", what);
    assert_int_equal(g->verdict, BENCH_MET);
    assert_string_equal(g->peer, "pyftpdlib");
    with_cpu(row, &row->cells[2], 0.99);
    assert_int_equal(decided("login", what)->verdict, BENCH_MISSED);
}

static void a_client_that_is_the_limit_leaves_it_to_the_cpu(void **state)
{
    (void)state;
    struct bench_row *row = add_row("retr", BENCH_MB_PER_S, 1);
    struct bench_cell *ours = with_cpu(row, add_cell(row, "ferryd", 1000), 0.2);
    struct bench_cell *peer = with_cpu(row, add_cell(row, "vsftpd", 1000), 0.1);
    const char *what = "at least 0.95 of every peer";
    assert_int_equal(decided("retr", what)->verdict, BENCH_MET);
    ours->wall_us = peer->wall_us = ours->client_cpu_us = peer->client_cpu_us = 1000;
    const struct goal_result *g = decided("retr", what);
    assert_int_equal(g->verdict, BENCH_MISSED);
    assert_true(g->is_by_cpu);
    assert_float_equal(g->value, 0.5, 1e-6);
}

/* A hash of 22 ms, beyond which ferryd's login takes 0.1 ms and vsftpd's 5 ms. */
static void add_hashes(struct bench_cell **ret_ours, struct bench_cell **ret_floor)
{
    struct bench_row *row = add_row("login_hashed", BENCH_PER_S, 40);
    *ret_ours = with_cpu(row, add_cell(row, "ferryd", 40), 0.0221);
    with_cpu(row, add_cell(row, "vsftpd", 40), 0.0270);
    struct bench_row *first = add_row("login_first", BENCH_MS, 1);
    add_cell(first, "ferryd", 23);
    *ret_floor = add_cell(first, "floor", 30); /* as the clock on the wall has it */
}

static void cpu_beyond_the_hash_leaves_the_hash_out(void **state)
{
    (void)state;
    const char *what = "5 times less CPU beyond the hash";
    struct bench_cell *ours, *floor;
    add_hashes(&ours, &floor);
    assert_null(decided("login_hashed", what)); /* the hash's CPU was not measured */
    with_cpu(&rows[1], floor, 0.0220);
    const struct goal_result *g = decided("login_hashed", what);
    assert_int_equal(g->verdict, BENCH_MET);
    assert_float_equal(g->value, 50, 1e-6);
    with_cpu(&rows[0], ours, 0.0231);
    g = decided("login_hashed", what);
    assert_int_equal(g->verdict, BENCH_MISSED);
    assert_float_equal(g->value, (5 / 1.1), 1e-6);
    assert_true(goal_margin(g) < 0);
}

static void a_rest_beyond_the_hash_that_may_be_nothing_decides_nothing(void **state)
{
    (void)state;
    const char *what = "5 times less CPU beyond the hash";
    struct bench_cell *ours, *floor;
    add_hashes(&ours, &floor);
    with_cpu(&rows[1], floor, 0.0220);
    with_cpu(&rows[0], ours, 0.0220);
    const struct goal_result *g = decided("login_hashed", what);
    assert_int_equal(g->verdict, BENCH_UNDECIDED);
    assert_false(g->is_known);
    with_cpu(&rows[0], ours, 0.0221);
    ours->cpu_samples[0] = ours->cpu_samples[1] = 0.0219; /* its median may be less */
    g = decided("login_hashed", what);
    assert_int_equal(g->verdict, BENCH_UNDECIDED);
    assert_false(g->is_known);
}

/* Verdict and value are of the same ratio, so what is met has a margin. */
static void the_ratio_beyond_the_hash_is_judged_with_all_that_it_may_be(void **state)
{
    (void)state;
    const char *what = "5 times less CPU beyond the hash";
    struct bench_cell *ours, *floor;
    add_hashes(&ours, &floor);
    with_cpu(&rows[1], floor, 0.0220);
    ours->cpu_samples[0] = ours->cpu_samples[1] = 0.0240;
    const struct goal_result *g = decided("login_hashed", what);
    assert_int_equal(g->verdict, BENCH_UNDECIDED);
    assert_float_equal(g->value, 50, 1e-6);
    assert_true(g->interval.low < 5 && g->interval.high >= 49);
}

static void memory_of_a_smaller_crowd_meets_nothing(void **state)
{
    (void)state;
    struct bench_row *row = add_row("memory", BENCH_MB, 299);
    struct bench_cell *ours = add_cell(row, "ferryd", 3);
    ours->has_memory = ours->has_slope = true;
    ours->memory_bytes = 3 * MIB;
    ours->slope_bytes = 1600;
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
    row->clients = 300;
    const struct goal_result *g = decided("memory", "at most 4M of memory");
    assert_int_equal(g->verdict, BENCH_MET);
    assert_float_equal(goal_margin(g), 0.25, 1e-6);
    assert_int_equal(decided("memory", "at most 1.5K a session")->verdict, BENCH_MISSED);
    struct bench_cell *peer = add_cell(row, "pyftpdlib", 12);
    peer->has_memory = true;
    peer->memory_bytes = 12 * MIB;
    assert_int_equal(decided("memory", "a quarter of pyftpdlib's memory")->verdict, BENCH_MET);
    peer->memory_bytes--;
    assert_int_equal(decided("memory", "a quarter of pyftpdlib's memory")->verdict,
                     BENCH_MISSED);
}

static void sessions_that_could_not_be_held_meet_nothing(void **state)
{
    (void)state;
    struct bench_row *row = add_row("idle_100k", BENCH_TIMES, 100000);
    struct bench_cell *ours = add_cell(row, "ferryd", 1);
    ours->has_memory = true;
    ours->memory_bytes = MIB;
    ours->slope_to = ours->held = 3500;
    static const char *const what[] = {"at most 200M of memory",
                                       "a login: at most 1.5 times alone"};
    for (size_t i = 0; i < ARRAY_LEN(what); i++) {
        const struct goal_result *g = decided("idle_100k", what[i]);
        assert_int_equal(g->verdict, BENCH_UNDECIDED);
        assert_int_equal(g->held, 3500);
        assert_false(g->is_known);
    }
    ours->held = 0; /* all of them */
    for (size_t i = 0; i < ARRAY_LEN(what); i++)
        assert_int_equal(decided("idle_100k", what[i])->verdict, BENCH_MET);
}

static void a_row_that_does_less_than_its_name_says_decides_no_goal(void **state)
{
    (void)state;
    struct bench_row *row = add_row("list_100k", BENCH_SECS, 1);
    add_cell(row, "ferryd", 1);
    add_cell(row, "vsftpd", 2);
    assert_non_null(decided("list_100k", "faster than every peer"));
    row->is_reduced = true;
    assert_int_equal(goals_decide(&ftp_goals, &results, goals), 0);
}

static void noop_is_bounded_at_its_p99(void **state)
{
    (void)state;
    struct bench_row *row = add_row("retr_many", BENCH_SECS, 300);
    struct bench_cell *ours = add_cell(row, "ferryd", 3);
    assert_null(decided("retr_many", "NOOP p99 at most 50 ms"));
    ours->noop = (struct bench_latency){100, 1000, 40000, 50000};
    assert_int_equal(decided("retr_many", "NOOP p99 at most 50 ms")->verdict, BENCH_MET);
    ours->noop.p99_us = 50001;
    assert_int_equal(decided("retr_many", "NOOP p99 at most 50 ms")->verdict, BENCH_MISSED);
}

static void a_value_is_bounded_by_its_whole_interval(void **state)
{
    (void)state;
    struct bench_row *row = add_row("noop_stopped", BENCH_MS, 5);
    struct bench_cell *ours = add_cell(row, "ferryd", 4);
    assert_int_equal(decided("noop_stopped", "at most 5 ms")->verdict, BENCH_MET);
    ours->interval.high = 5.5;
    assert_int_equal(decided("noop_stopped", "at most 5 ms")->verdict, BENCH_UNDECIDED);
    ours->interval.low = 5.1;
    assert_int_equal(decided("noop_stopped", "at most 5 ms")->verdict, BENCH_MISSED);
}

static void cpu_beside_sessions_is_compared_with_cpu_alone(void **state)
{
    (void)state;
    const char *what = "CPU within 5 % of RETR alone";
    struct bench_row *row = add_row("retr_10k", BENCH_MB_PER_S, 1);
    struct bench_cell *beside = with_cpu(row, add_cell(row, "ferryd", 100), 1.04);
    assert_null(decided("retr_10k", what));
    struct bench_row *other = add_row("retr", BENCH_MB_PER_S, 1);
    with_cpu(other, add_cell(other, "ferryd", 100), 1);
    const struct goal_result *g = decided("retr_10k", what);
    assert_int_equal(g->verdict, BENCH_MET);
    assert_float_equal(g->value, (1 / 1.04), 1e-6);
    with_cpu(row, beside, 1.06);
    assert_int_equal(decided("retr_10k", what)->verdict, BENCH_MISSED);
}

/* Whatever they are made of: four samples say nothing, five of the same do. */
static void fewer_than_five_samples_leave_every_interval_undecided(void **state)
{
    (void)state;
    struct bench_row *retr = add_row("retr", BENCH_MB_PER_S, 1);
    with_cpu(retr, add_cell(retr, "ferryd", 1000), 1);
    with_cpu(retr, add_cell(retr, "vsftpd", 500), 2);
    struct bench_row *beside = add_row("retr_10k", BENCH_MB_PER_S, 10000);
    with_cpu(beside, add_cell(beside, "ferryd", 1000), 1);
    struct bench_row *first = add_row("login_first", BENCH_MS, 1);
    add_cell(first, "ferryd", 9);
    with_cpu(first, add_cell(first, "floor", 8), 0.008);
    struct bench_row *hashed = add_row("login_hashed", BENCH_PER_S, 40);
    with_cpu(hashed, add_cell(hashed, "ferryd", 100), 0.009);
    with_cpu(hashed, add_cell(hashed, "vsftpd", 50), 0.090);
    struct bench_row *stopped = add_row("noop_stopped", BENCH_MS, 5);
    add_cell(stopped, "ferryd", 1);
    static const char *const decided_by_intervals[][2] = {
        {"retr", "at least 0.95 of every peer"},
        {"retr", "less CPU than every peer"},
        {"retr_10k", "CPU within 5 % of RETR alone"},
        {"login_hashed", "5 times less CPU beyond the hash"},
        {"noop_stopped", "at most 5 ms"},
    };
    for (unsigned count = 5; count >= 4; count--) {
        for (unsigned i = 0; i < results.count; i++)
            for (unsigned k = 0; k < rows[i].count; k++) {
                rows[i].cells[k].sample_count = count;
                bench_cell_finish(&rows[i].cells[k], rows[i].unit, &rows[i].cells[0]);
            }
        for (size_t i = 0; i < ARRAY_LEN(decided_by_intervals); i++) {
            const struct goal_result *g =
                decided(decided_by_intervals[i][0], decided_by_intervals[i][1]);
            assert_non_null(g);
            assert_int_equal(g->verdict, count == 5 ? BENCH_MET : BENCH_UNDECIDED);
        }
    }
}

static double target_of(const char *row, const struct bench_cell *cell)
{
    double target = 0;
    assert_true(goals_target(&ftp_goals, row, cell, &target));
    return target;
}

static void a_row_s_verdicts_use_the_goal_s_target(void **state)
{
    (void)state;
    const struct bench_cell peer = {.target = "vsftpd"}, other = {.target = "twisted"};
    const struct bench_cell floor = {.target = "floor", .is_floor = true};
    assert_float_equal(target_of("retr", &peer), 0.95, 1e-6);
    assert_float_equal(target_of("retr", &floor), 0.90, 1e-6);
    assert_float_equal(target_of("login", &peer), 1, 1e-6);
    assert_float_equal(target_of("login", &floor), 0.8, 1e-6);
    assert_float_equal(target_of("login_hashed", &peer), 1, 1e-6);
    assert_float_equal(target_of("login_hashed", &other), 0.95, 1e-6);
    assert_float_equal(target_of("quit", &peer), 0.95, 1e-6);
}

static void a_floor_that_no_goal_names_has_no_verdict(void **state)
{
    (void)state;
    double target;
    const struct bench_cell floor = {.target = "floor", .is_floor = true};
    assert_false(goals_target(&ftp_goals, "quit", &floor, &target));
    assert_false(goals_target(&ftp_goals, "memory", &floor, &target));
    struct bench_row *row = add_row("quit", BENCH_SECS, 300);
    add_cell(row, "ferryd", 2);
    add_cell(row, "vsftpd", 1);
    add_cell(row, "floor", 1);
    assert_int_equal(goals_verdict(&ftp_goals, row, &row->cells[1]), BENCH_MISSED);
    assert_int_equal(goals_verdict(&ftp_goals, row, &row->cells[2]), BENCH_NO_VERDICT);
    row->name = "login";
    assert_int_equal(goals_verdict(&ftp_goals, row, &row->cells[2]), BENCH_MISSED);
}

static void every_text_fits_its_column(void **state)
{
    (void)state;
    static const char *const names[] = {"retr",      "login_first", "login", "login_hashed",
                                        "retr_many", "idle_100k",   "memory"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct bench_row *row = add_row(names[i], BENCH_MB_PER_S, 100000);
        snprintf(add_cell(row, "ferryd", 1)->error, BENCH_ERROR_MAX, "gone");
        add_cell(row, "pyftpdlib", 1);
        add_cell(row, "vsftpd", 1);
        add_cell(row, "floor", 1);
    }
    goal_count = goals_decide(&ftp_goals, &results, goals);
    assert_int_equal(goal_count, 18);
    for (unsigned i = 0; i < goal_count; i++)
        assert_true(strlen(goals[i].what) <= 32 && strlen(goals[i].row) <= 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_best_peer_and_the_floor_are_told_apart, setup),
        cmocka_unit_test_setup(a_peer_that_undecides_counts_before_a_lower_one_that_is_met,
                               setup),
        cmocka_unit_test_setup(what_is_not_there_is_left_out_and_never_met, setup),
        cmocka_unit_test_setup(a_peer_that_stands_first_meets_nothing_for_ferryd, setup),
        cmocka_unit_test_setup(a_row_in_which_ferryd_failed_is_missed, setup),
        cmocka_unit_test_setup(named_peers_alone_count_where_a_goal_names_one, setup),
        cmocka_unit_test_setup(a_client_that_is_the_limit_leaves_it_to_the_cpu, setup),
        cmocka_unit_test_setup(cpu_beyond_the_hash_leaves_the_hash_out, setup),
        cmocka_unit_test_setup(a_rest_beyond_the_hash_that_may_be_nothing_decides_nothing,
                               setup),
        cmocka_unit_test_setup(the_ratio_beyond_the_hash_is_judged_with_all_that_it_may_be,
                               setup),
        cmocka_unit_test_setup(sessions_that_could_not_be_held_meet_nothing, setup),
        cmocka_unit_test_setup(a_row_that_does_less_than_its_name_says_decides_no_goal, setup),
        cmocka_unit_test_setup(memory_of_a_smaller_crowd_meets_nothing, setup),
        cmocka_unit_test_setup(noop_is_bounded_at_its_p99, setup),
        cmocka_unit_test_setup(a_value_is_bounded_by_its_whole_interval, setup),
        cmocka_unit_test_setup(cpu_beside_sessions_is_compared_with_cpu_alone, setup),
        cmocka_unit_test_setup(fewer_than_five_samples_leave_every_interval_undecided, setup),
        cmocka_unit_test_setup(a_row_s_verdicts_use_the_goal_s_target, setup),
        cmocka_unit_test_setup(a_floor_that_no_goal_names_has_no_verdict, setup),
        cmocka_unit_test_setup(every_text_fits_its_column, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
