#include "bench/study/goals.h"

#include <math.h>

#include "bench/study/results.h"
#include "check.h"

static const struct study_suite suite = {.name = "x", .title = "X", .origin = "o"};
static const struct study_options options = {.runs = 3};

static struct study *make(bool is_rate)
{
    struct study *s;
    assert_int_equal(study_new(&suite, &options, &s), 0);
    assert_int_equal(study_add_link(s, "link", 1000), 0);
    assert_int_equal(study_add_table(s, &(struct study_heading){.title = "T",
                                                                .corner = "what",
                                                                .is_rate = is_rate,
                                                                .groups = {"first", "second"}}),
                     0);
    return s;
}

/* Runs of so many seconds each; 0 ends them. */
static void add(struct study *s, const char *row, const char *column, const double *real_s)
{
    assert_int_equal(
        study_add(s, &(struct study_what){.row = row, .column = column, .command = "true"}), 0);
    struct study_cell *cell = &s->cells[s->cell_count - 1];
    for (; real_s != NULL && real_s[cell->count] > 0; cell->state = STUDY_MEASURED) {
        cell->runs[cell->count] = (struct study_run){
            .real_s = real_s[cell->count], .user_s = real_s[cell->count] / 2, .bytes = 10000};
        cell->count++;
    }
}

#define RUNS(...) ((const double[]){__VA_ARGS__, 0})

static enum study_verdict judge(const double *mine, const double *other, double least)
{
    struct study *s = make(false);
    add(s, "mine", "time", mine);
    add(s, "other", "time", other);
    study_judge_pair(
        s, "as fast",
        &(struct study_pair){
            .table = "T", .column = "time", .what = "mine", .than = "other", .least = least});
    assert_int_equal(s->goal_count, 1);
    enum study_verdict verdict = s->goals[0].verdict;
    assert_true((verdict == STUDY_UNDECIDED) == (s->goals[0].why[0] != '\0'));
    (void)study_free(s);
    return verdict;
}

static void all_runs_on_one_side_decide(void **state)
{
    (void)state;
    assert_int_equal(judge(RUNS(1, 1, 1), RUNS(2, 3, 2.5), 2), STUDY_MET);
    assert_int_equal(judge(RUNS(1, 1, 1), RUNS(1.9, 1.5, 1.8), 2), STUDY_MISSED);
    assert_int_equal(judge(RUNS(1, 1, 1), RUNS(1.9, 2.5, 2.5), 2), STUDY_UNDECIDED);
}

static void runs_are_paired_by_their_rounds(void **state)
{
    (void)state;
    /* medians are 2 and 6; round by round it is 1.5 */
    assert_int_equal(judge(RUNS(1, 2, 8), RUNS(1.5, 3, 12), 1.6), STUDY_MISSED);
    assert_int_equal(judge(RUNS(1, 2, 8), RUNS(1.5, 3, 12), 1.5), STUDY_MET);
}

static void few_runs_and_none_decide_nothing(void **state)
{
    (void)state;
    assert_int_equal(judge(RUNS(1, 1), RUNS(9, 9), 2), STUDY_UNDECIDED);
    assert_int_equal(judge(NULL, RUNS(9, 9, 9), 2), STUDY_UNDECIDED);
    assert_int_equal(judge(RUNS(9, 9, 9), NULL, 2), STUDY_UNDECIDED);
}

static void processor_time_can_be_what_counts(void **state)
{
    (void)state;
    struct study *s = make(false);
    add(s, "mine", "time", RUNS(2, 2, 2));
    add(s, "other", "time", RUNS(1, 1, 1));
    for (unsigned i = 0; i < 3; i++)
        s->cells[1].runs[i].system_s = 3;
    study_judge_pair(s, "cheap",
                     &(struct study_pair){.table = "T",
                                          .column = "time",
                                          .what = "mine",
                                          .than = "other",
                                          .field = STUDY_CLIENT,
                                          .least = 3.5});
    assert_int_equal(s->goals[0].verdict, STUDY_MET); /* 3.5 s beside 1 */
    (void)study_free(s);
}

static void a_share_of_the_link_is_judged_in_each_column(void **state)
{
    (void)state;
    struct study *s = make(true);
    add(s, "mine", "near", RUNS(10.1, 10.5, 11)); /* of 10 s */
    add(s, "mine", "far", RUNS(12, 13, 14));
    study_judge_link(s, "of the link", "T", "mine", 0.9);
    assert_int_equal(s->goal_count, 2);
    assert_int_equal(s->goals[0].verdict, STUDY_MET);
    assert_int_equal(s->goals[1].verdict, STUDY_MISSED);
    assert_non_null(strstr(s->goals[1].text, "far"));
    (void)study_free(s);
}

static bool is_far(const struct study *s, const struct study_cell *cell)
{
    return strcmp(s->tables[0].rows[cell->row], "far") == 0;
}

static void a_grid_is_missed_when_one_cell_is(void **state)
{
    (void)state;
    struct study *s = make(true);
    add(s, "near", "1 none", RUNS(4, 4, 4));
    add(s, "near", "1 one", RUNS(2, 2, 2));
    add(s, "near", "1 auto", RUNS(2.1, 2.1, 2.1));
    add(s, "near", "2 none", RUNS(1, 1, 1));
    add(s, "near", "2 auto", RUNS(1.5, 1.5, 1.5)); /* too short to be asked */
    struct study_grid grid = {.automatic = "auto", .least = 0.95, .least_s = 2};
    study_judge_grid(s, "best", &grid);
    assert_int_equal(s->goals[0].verdict, STUDY_MET);
    assert_int_equal(s->goals[0].count, 1);
    add(s, "far", "2 none", RUNS(8, 8, 8));
    add(s, "far", "2 auto", RUNS(9, 9, 9));
    study_judge_grid(s, "best", &grid);
    assert_int_equal(s->goals[1].verdict, STUDY_MISSED);
    assert_int_equal(s->goals[1].count, 2);
    assert_int_equal(s->goals[1].reached, 1);
    assert_true(fabs(s->goals[1].low - 8.0 / 9) < 1e-9);
    assert_non_null(strstr(s->goals[1].why, "far / 2 auto"));
    s->cells[6].runs[1].real_s = 8; /* one run reaches it */
    study_judge_grid(s, "best", &grid);
    assert_int_equal(s->goals[2].verdict, STUDY_UNDECIDED);
    grid.leaves_out = is_far;
    study_judge_grid(s, "best", &grid);
    assert_int_equal(s->goals[3].verdict, STUDY_MET);
    (void)study_free(s);
}

static void a_grid_can_be_held_against_one_column(void **state)
{
    (void)state;
    struct study *s = make(true);
    add(s, "near", "1 none", RUNS(4, 4, 4));
    add(s, "near", "1 one", RUNS(2, 2, 2));
    add(s, "near", "1 auto", RUNS(3.9, 3.9, 3.9));
    study_judge_grid(s, "none",
                     &(struct study_grid){.automatic = "auto", .rival = "none", .least = 0.97});
    assert_int_equal(s->goals[0].verdict, STUDY_MET);
    study_judge_grid(s, "slow", &(struct study_grid){.automatic = "auto", .least_s = 60});
    assert_int_equal(s->goals[1].verdict, STUDY_UNDECIDED);
    assert_non_null(strstr(s->goals[1].why, "no cell that takes long enough"));
    (void)study_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_runs_on_one_side_decide),
        cmocka_unit_test(runs_are_paired_by_their_rounds),
        cmocka_unit_test(few_runs_and_none_decide_nothing),
        cmocka_unit_test(processor_time_can_be_what_counts),
        cmocka_unit_test(a_share_of_the_link_is_judged_in_each_column),
        cmocka_unit_test(a_grid_is_missed_when_one_cell_is),
        cmocka_unit_test(a_grid_can_be_held_against_one_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
